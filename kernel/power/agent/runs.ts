/**
 * A foreign agent's run beyond a program's: its folder at its own path, the client that talks to
 * the agent, and a relay to its provider, which alone holds the key. Wired in kernel/main_tools.ts.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import type { Pid, TaskId } from "../../../contracts/authority/ids.ts";
import type { AgentHandover, ForeignAgent } from "../../../contracts/tool/foreign_agent.ts";
import { AGENT_PLACES, placeInside, SYSTEM } from "../../core/start/command_line.ts";
import type { AgentPort, AgentRun, AgentRuns, Shown } from "../command/run.ts";
import { type RelayParts, startRelay, TOOLS_PATH } from "./relay.ts";

/** The relay's parts, and the tasks' ports. */
export interface AgentRunsParts extends RelayParts {
  /** The port of a run to its task; undefined once the task has ended. */
  portOf(
    task: TaskId,
    run: { readonly pid: Pid; shown(): Shown; readonly agent: ForeignAgent },
  ): AgentPort | undefined;
}

/** Folders of the walls, where no copy can be bound. */
const OWN = ["/proc", "/dev", "/etc", "/run", "/m", "/tmp/home", ...SYSTEM];
/** Deno's flags for the client, which only the walls restrict. */
const CLIENT = [
  "run",
  "--quiet",
  "--no-prompt",
  "--no-config",
  "--no-lock",
  "--allow-all",
  "--v8-flags=--max-old-space-size=128",
];

/** Makes the runs of a kernel. */
export function makeAgentRuns(parts: AgentRunsParts): AgentRuns {
  return Object.freeze<AgentRuns>({
    async begin(agent, { folders, mounts, ...run }) {
      const at: Record<string, string> = {};
      for (const { name, dir } of folders) {
        if (mounts.includes(name)) at[name] = shown(agent, dir);
      }
      const { pid } = run;
      const port = parts.portOf(run.task, { pid, shown: run.shown, agent });
      if (port === undefined) {
        throw new Fault("gone", `Cannot run ${agent.name}: the task has ended`);
      }
      const served = port.tools.length > 0;
      const relay = agent.provider === undefined && !served
        ? undefined
        : await startRelay(parts, agent, { port, run });
      const walls = {
        ...{ client: parts.config.bundles.agentClient, at, tree: agent.tree },
        socket: relay?.socket,
      };
      const { words, env, files } = agent;
      const handover: AgentHandover = {
        ...{ words, env, files, request: run.stdin, cwd: placeInside({ agent: walls }, run.cwd) },
        ...(relay === undefined ? {} : { socket: AGENT_PLACES.socket }),
        ...(served ? { tools: TOOLS_PATH } : {}),
      };
      return Object.freeze<AgentRun>({
        line: { agent: walls, args: [...CLIENT, AGENT_PLACES.client] },
        stdin: JSON.stringify(handover),
        told: () => relay?.told() ?? "",
        close: () => relay?.close() ?? Promise.resolve(),
        taint: port.taint,
      });
    },
  });
}

function shown({ name }: ForeignAgent, dir: string): string {
  const own = OWN.find((folder) => dir === folder || dir.startsWith(`${folder}/`));
  if (own === undefined && dir !== "/" && dir !== "/tmp") return dir;
  throw new Fault(
    "refused",
    `Cannot run ${name} over "${dir}": its walls have a folder of their own there; copy the folder elsewhere`,
  );
}
