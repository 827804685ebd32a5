/** Our end of the port of a child process, over its pipes. @module */
import type { PortHandler, PortLimits } from "../../contracts/base/port.ts";
import { makePort, type Port } from "../mod.ts";

/** A child that runs, and our end of its port. */
export interface PipedChild extends AsyncDisposable {
  readonly port: Port;
  /** Resolves with its exit code once it has ended by itself. */
  ended(): Promise<number>;
  /** Ends its input, as a kernel that is gone does; resolves with its exit code. */
  hangUp(): Promise<number>;
}

/** Opens the port of a child whose input and output are pipes. Disposing of it ends its input and waits for its end. */
export function overPipes(
  child: Deno.ChildProcess,
  { handler, limits = {} }: {
    readonly handler: PortHandler;
    readonly limits?: Partial<PortLimits>;
  },
): PipedChild {
  const input = child.stdin.getWriter();
  const port = makePort({
    ...{ handler, limits },
    write: (bytes) => {
      // A child that has ended takes nothing: its exit says so.
      input.write(bytes.slice()).catch(() => port.close("the child takes no input"));
    },
  });
  const pumped = (async () => {
    for await (const bytes of child.stdout) port.feed(bytes);
    port.close("the child ended");
  })();
  const ended = async (): Promise<number> => {
    await pumped;
    return (await child.status).code;
  };
  return {
    port,
    ended,
    async hangUp(): Promise<number> {
      await input.close();
      return await ended();
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await input.close().catch(() => undefined);
      await ended();
    },
  };
}
