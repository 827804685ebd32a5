/** Our end of the port of a child process, over its pipes. @module */
import type { PortHandler, PortLimits } from "../../contracts/base/port.ts";
import { makePort, type Port } from "../mod.ts";

/** A running child, and our end of its port. */
export interface PipedChild extends AsyncDisposable {
  readonly port: Port;
  /** Resolves with the exit code once the child has ended by itself. */
  ended(): Promise<number>;
  /** Ends the child's input, as when a kernel has died; resolves with the exit code. */
  hangUp(): Promise<number>;
}

/** Opens the port of a child whose input and output are pipes. Disposing of it ends the input and waits for the child's end. */
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
      // A child that has ended takes no input: its exit reports that.
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
