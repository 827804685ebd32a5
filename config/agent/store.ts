/** Keeps the foreign agents that were added: one file each in STATE/agents. @module */
import type { AskedProvider } from "../../contracts/model/mod.ts";
import { join } from "node:path";
import { Fault } from "../../contracts/base/mod.ts";
import { isLoopback } from "../../contracts/base/loopback.ts";
import {
  AGENT_MS,
  COMMAND_MS,
  CommandName,
  ForeignAgent,
  type GrantedCommand,
} from "../../contracts/tool/mod.ts";
import type { AgentSpec } from "../../contracts/policy/mod.ts";
import type { AgentTask } from "../../contracts/task/mod.ts";
import type { Places } from "../../launch/disk/places.ts";
import type { DiskRead, DiskWrite } from "../../launch/disk/machine.ts";

/** The foreign agents of one state. */
export interface AgentStore {
  /** Sorted by name. Throws Fault `invalidInput` for a damaged file. */
  list(): readonly ForeignAgent[];
  find(name: string): ForeignAgent | undefined;
  keep(agent: ForeignAgent): void;
  /** Throws Fault `notFound`. */
  remove(name: string): void;
}

/** Opens the store of a state. */
export function openAgentStore(
  disk: DiskRead & DiskWrite,
  { state }: Pick<Places, "state">,
): AgentStore {
  const folder = join(state, "agents");
  const fileOf = (name: string): string => join(folder, `${name}.json`);
  const find = (name: string): ForeignAgent | undefined => {
    if (!CommandName.safeParse(name).success) return undefined;
    const bytes = disk.read(fileOf(name));
    if (bytes === undefined) return undefined;
    try {
      return ForeignAgent.parse(JSON.parse(new TextDecoder().decode(bytes)));
    } catch (error) {
      throw new Fault(
        "invalidInput",
        `Cannot read "${fileOf(name)}": it is damaged; remove it and add the agent again`,
        { cause: error },
      );
    }
  };
  return Object.freeze({
    find,
    list: () =>
      [...disk.list(folder)].sort().flatMap((file) => {
        const found = file.endsWith(".json") ? find(file.slice(0, -5)) : undefined;
        return found === undefined ? [] : [found];
      }),
    keep(agent: ForeignAgent): void {
      disk.makeFolder(folder, 0o700);
      disk.write(fileOf(agent.name), `${JSON.stringify(agent, undefined, 2)}\n`);
    },
    remove(name: string): void {
      if (find(name) === undefined) throw noAgent(name);
      disk.remove(fileOf(name));
      disk.remove(join(folder, `${name}.seen`));
    },
  });
}

/** The fault for an agent that was not added. */
export function noAgent(name: string): Fault {
  return new Fault(
    "notFound",
    `Cannot find agent ${
      JSON.stringify(name)
    }: none of this name was added; "remit agent list" names them`,
  );
}

/** The grant that lets a kernel run the agent. `deno`: the program that runs the agent's client. */
export function grantOf(
  agent: ForeignAgent,
  deno: Pick<GrantedCommand, "program" | "sha256">,
): GrantedCommand {
  // The command line checks the pin; a kernel does not read the package.
  const { pin: _pin, ...told } = agent;
  return {
    ...{ name: agent.name, env: [], mounts: "cwd", agent: told },
    timeoutMs: Math.max(AGENT_MS, COMMAND_MS),
    ...deno,
  };
}

/** The label that marks a task as the work of a foreign agent. */
const FOREIGN = "agent-of-others";

/** The spec for a task of the agent: names it in `ps`, `cost` and budgets, and lets {@link agentOfTask} find it again. */
export function specOf({ name }: Pick<ForeignAgent, "name">): AgentSpec {
  return {
    name: name.replaceAll(/[^a-z0-9-]/g, "-"),
    labels: { [FOREIGN]: name },
    ...{ persona: "", limits: {}, env: {} },
  };
}

/** The foreign agent of a task; undefined for any other task, and where the agent was removed since. */
export function agentOfTask(
  store: Pick<AgentStore, "find">,
  { labels = {} }: Pick<AgentTask, "labels">,
): ForeignAgent | undefined {
  const name = labels[FOREIGN];
  return name === undefined ? undefined : store.find(name);
}

/** The provider that the agent's relay sends text to, in the form of a run's models. */
export function providersOf(agent: ForeignAgent | undefined): readonly AskedProvider[] {
  if (agent?.provider === undefined) return [];
  const { origin, model = "of its own choice", price } = agent.provider;
  const { host, hostname, protocol } = new URL(origin);
  if (isLoopback(hostname)) return [];
  return [{ ref: agent.name, host, model, encrypted: protocol === "https:", price }];
}

/** What a scripted model plays to hand the request over: it asks for the program, and repeats what it said. */
/** A script for the scripted model that hands the request to the agent: calls its program, then repeats the output. */
export function playOf(agent: Pick<ForeignAgent, "name">, cwd: string): string {
  // The scripted model costs nothing; the agent spends.
  const usage = { inputTokens: 0, outputTokens: 0 };
  return JSON.stringify({
    scenario: `${agent.name}, an agent of others`,
    turns: [
      {
        ...{ when: { step: 1 }, usage },
        calls: [{
          tool: "command",
          args: { program: agent.name, cwd, stdin: "{{ user }}", timeoutMs: AGENT_MS },
        }],
      },
      { when: { step: { from: 2 } }, usage, say: "{{ tool.command }}" },
    ],
  });
}
