/** Starts the gateway's process, and transfers bytes over this process's pipe. @module */
import {
  type BuiltProgram,
  type ProgramBuild,
  type ProgramSource,
  provideWarmProgram,
} from "../../launch/program/program_cache_powers.ts";
import {
  type GatewayStart,
  SERVE_MOST,
  serveLine,
  type ServeLineParts,
  type ServePowers,
} from "./gateway_process.ts";
import { Fault } from "../../contracts/base/mod.ts";
import { SERVE_PORT_LIMITS } from "../../contracts/wire/mod.ts";
import { makePort } from "../../port/mod.ts";
import { displayBlock } from "../../text/mod.ts";
import type { GatewayLink } from "../../service/mod.ts";
import type { Screen } from "../powers.ts";
import { findPrograms } from "../../launch/program/programs_powers.ts";

/** The sources of the gateway's program. docs/decision/0016. */
export const SERVE_PROGRAM: ProgramSource = {
  ...{ entry: "service/gateway/main.ts", platform: "browser", folder: "gateway", name: "gateway" },
  folders: [
    "bridges/a2a/serve",
    "bridges/mcp/serve",
    "contracts",
    "port",
    "service/gateway",
    "text",
  ],
  pages: SERVE_MOST.pages,
};

/** Finds or builds the gateway's program. @throws Fault `unavailable` when it does not build. */
export async function provideServeProgram(parts: ProgramBuild): Promise<BuiltProgram> {
  return await provideWarmProgram(SERVE_PROGRAM, parts);
}

/** The inputs for starting the gateway's process. */
export interface ServePowersParts extends Pick<ServeLineParts, "namespace" | "inside"> {
  readonly screen: Pick<Screen, "say">;
  /** Finds the gateway's program, or builds it once for each version. */
  provideProgram(): Promise<BuiltProgram>;
}

const STDERR_BYTES = 16_384;
const encoder = new TextEncoder();

/** The powers of serving hosts, with this process's own rights. */
export function makeServePowers(parts: ServePowersParts): ServePowers {
  return Object.freeze<ServePowers>({
    start: (start) => begin(start, parts),
    async *input(): AsyncIterable<string> {
      yield* Deno.stdin.readable.pipeThrough(new TextDecoderStream());
    },
    output(text): void {
      const bytes = encoder.encode(text);
      try {
        for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
      } catch (cause) {
        // The end of its input is reported as well.
        if (!(cause instanceof Deno.errors.BrokenPipe)) throw cause;
        throw new Fault("gone", "Cannot answer the host: it has gone", { cause });
      }
    },
    pause: (ms, signal) =>
      new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          signal.removeEventListener("abort", done);
          resolve();
        };
        const timer = setTimeout(done, ms);
        signal.addEventListener("abort", done);
        if (signal.aborted) done();
      }),
    secret: () =>
      crypto.getRandomValues(new Uint8Array(32)).toBase64({
        alphabet: "base64url",
        omitPadding: true,
      }),
  });
}

async function begin(start: GatewayStart, parts: ServePowersParts): Promise<GatewayLink> {
  const [built, programs] = await Promise.all([parts.provideProgram(), findPrograms()]);
  const { namespace, inside } = parts;
  const { program, args, env } = serveLine({
    ...{ ...built, programs, namespace, inside },
    listen: start.listen,
  });
  const child = new Deno.Command(program, {
    args: [...args],
    clearEnv: true,
    env: { ...env },
    cwd: "/",
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
    // Keep Ctrl-C from the gateway, which finishes its requests.
    detached: true,
  }).spawn();
  let said = "";
  const hearing = (async (): Promise<void> => {
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) {
      said = (said + text).slice(-STDERR_BYTES);
    }
  })();
  const input = child.stdin.getWriter();
  const port = makePort({
    limits: SERVE_PORT_LIMITS,
    // The output reports the end of the process.
    write: (bytes) => void input.write(bytes.slice()).catch(() => undefined),
    handler: start.handler,
  });
  let stopping = false;
  void (async (): Promise<void> => {
    for await (const chunk of child.stdout) port.feed(chunk);
    await hearing;
    if (!stopping && said.trim() !== "") {
      displayBlock(said, { prefix: "  │ ", maxLines: 12 }).forEach(parts.screen.say);
    }
    port.close("the gateway has ended");
  })();
  const kill = async (): Promise<void> => {
    stopping = true;
    try {
      child.kill("SIGKILL");
    } catch (error) {
      // The process has already ended.
      if (!(error instanceof TypeError)) throw error;
    }
    await child.status;
  };
  // Do not wait for a gateway that broke the protocol.
  void port.closed.then(kill);
  return Object.freeze<GatewayLink>({
    ask: (op, body) => port.ask(op, body),
    tell: (op, body) => port.tell(op, body),
    closed: port.closed.then((why: Fault) => why),
    kill,
    pid: child.pid,
  });
}
