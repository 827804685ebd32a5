/** A kernel as an operating-system process: started with its own permissions, logged, killed. */
import type { KernelConfig } from "../../contracts/wire/mod.ts";
import { kernelFlags } from "../../launch/kernel/start_powers.ts";
import { within } from "./within.ts";

/** How a kernel ended. */
export interface Death {
  readonly code: number;
  readonly signal: string | null;
}

/** A kernel process, serving or not yet. */
export interface KernelProcess {
  readonly pid: number;
  readonly died: Promise<Death>;
  /** Waits for the end; rejects when the kernel still runs after a minute. */
  dies(): Promise<Death>;
  /** The text of its own log. */
  said(): string;
  /** SIGKILL; resolves when it is reaped. */
  kill(): Promise<Death>;
}

/** Options of a kernel's start, besides its configuration. */
export interface SpawnHow {
  /** Words before the start line. */
  readonly wrap: readonly string[];
  /** Additional unix sockets that the kernel may connect to: absolute, or names in its runtime folder. */
  readonly sockets: readonly string[];
  readonly bundle: string;
  readonly mounts: readonly string[];
}

/** Starts a kernel exactly as the command line does, but as a child of this test. */
export function spawnKernel(
  config: KernelConfig,
  how: SpawnHow,
): KernelProcess {
  const sockets = how.sockets.map((name) =>
    name.startsWith("/") ? name : `${config.runtime}/${name}`
  );
  const granted = { ...config, brokerSockets: [...config.brokerSockets, ...sockets] };
  const line = [...how.wrap, config.programs.deno, ...kernelFlags(granted, how)];
  const [program = "", ...args] = line;
  const child = new Deno.Command(program, {
    args,
    cwd: config.dir,
    clearEnv: true,
    env: { DENO_DIR: config.denoDir, DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" },
    stdin: "piped",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  let text = "";
  const heard = (async (): Promise<void> => {
    for await (const chunk of child.stderr.pipeThrough(new TextDecoderStream())) text += chunk;
  })();
  const told = (async (): Promise<void> => {
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(`${JSON.stringify(config)}\n`));
    await writer.close();
  })().catch(() => undefined); // it ended before it read: `died` reports that
  const died = child.status.then(async ({ code, signal }) => {
    await Promise.all([heard, told]);
    return { code, signal };
  });
  return {
    ...{ pid: child.pid, died, said: () => text },
    dies: () => within("the end of the kernel", died),
    kill(): Promise<Death> {
      try {
        child.kill("SIGKILL");
      } catch (error) {
        if (!(error instanceof TypeError)) throw error; // it has ended already
      }
      return died;
    },
  };
}
