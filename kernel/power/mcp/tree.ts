/** The process that checks servers' trees: started for the first check, ended when unused. @module */
import { type Child, SERVES_NOTHING } from "../../core/child/child.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import type { Json, PortHandler } from "../../../contracts/base/mod.ts";
import type { McpLaunch } from "../../../contracts/exchange/mod.ts";
import type { Powers } from "../../../contracts/task/mod.ts";

/** Milliseconds for one check; the first one reads the whole tree. */
const CHECK_MS = 60_000;
/** Milliseconds before the unused process ends. */
const IDLE_MS = 60_000;

/** Compares a server's files with the review. */
export interface McpTrees {
  /** Rejects with `refused` where the files differ from the review, `unavailable`, `upstream`, `timedOut`. */
  check(launch: McpLaunch): Promise<void>;
}

/** The starter of the checking process. */
export interface McpTreesParts {
  /** `program`: the process reads that file and no tree. */
  readonly start: (handler: PortHandler, program?: string) => Promise<Child>;
  readonly powers: Pick<Powers, "after">;
}

/** Makes the checks; no process runs yet. */
export function makeMcpTrees({ start, powers }: McpTreesParts): McpTrees {
  let shared: Promise<Child> | undefined;
  let under = 0;
  let keep = (): void => undefined;

  const provide = (): Promise<Child> => {
    if (shared !== undefined) return shared;
    const begun = start(SERVES_NOTHING);
    shared = begun;
    const forget = (): void => {
      if (shared === begun) shared = undefined;
    };
    begun.then((child) => void child.exited.then(forget), forget);
    return begun;
  };

  const ask = async (child: Child, op: string, body: Json): Promise<string | undefined> => {
    let late = false;
    const disarm = powers.after(CHECK_MS, () => {
      late = true;
      void child.kill();
    });
    try {
      const answer = await child.port.ask(op, body);
      return answer === null ? undefined : String(answer);
    } catch (error) {
      if (late) throw new Fault("timedOut", "Cannot check a server's files: it takes too long");
      if (!(error instanceof Fault) || error.code !== "gone") throw error;
      throw new Fault("upstream", `Cannot check a server's files: it ${await child.end()}`);
    } finally {
      disarm();
    }
  };

  const tree = async (id: string, sha256: string): Promise<string | undefined> => {
    keep();
    under += 1;
    try {
      return await ask(await provide(), "check", { id, sha256 });
    } finally {
      under -= 1;
      if (under === 0) {
        keep = powers.after(IDLE_MS, () => void shared?.then((child) => child.kill()));
      }
    }
  };

  const program = async (path: string, sha256: string): Promise<string | undefined> => {
    const child = await start(SERVES_NOTHING, path);
    try {
      return await ask(child, "program", { path, sha256 });
    } finally {
      await child.kill();
    }
  };

  return Object.freeze<McpTrees>({
    async check(launch): Promise<void> {
      if (launch.kind === "http") return;
      const checks = [
        ...(launch.tree === undefined ? [] : [tree(launch.tree.id, launch.tree.sha256)]),
        ...(launch.kind === "npm" ? [] : [program(launch.program, launch.sha256)]),
      ];
      for (const why of await Promise.all(checks)) {
        if (why === undefined) continue;
        const what = launch.kind === "npm" ? `${launch.package}@${launch.version}` : launch.program;
        throw new Fault("refused", `Cannot start ${what}: it is not as it was reviewed: ${why}`);
      }
    },
  });
}
