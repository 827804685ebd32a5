/**
 * The port of a foreign agent's run to its task: the tools that the agent is offered, each call
 * passing the gate as the process's own, and the agent's inferences, paid by the task. Used by
 * task_host.ts.
 * @module
 */
import { Fault } from "../../contracts/base/fault.ts";
import type { Gate } from "../../contracts/authority/gate.ts";
import { CallId } from "../../contracts/authority/ids.ts";
import type { Pid } from "../../contracts/authority/ids.ts";
import type { ProcessRow } from "../../contracts/task/process.ts";
import type { ForeignAgent } from "../../contracts/tool/foreign_agent.ts";
import type { ToolDescriptor } from "../../contracts/tool/tool.ts";
import { sha256Hex } from "../../port/digest.ts";
import type { ProcessTable } from "../core/process/table.ts";
import type { AgentPort, Shown } from "../power/command/run.ts";
import type { TaskModels } from "./models.ts";

/** One run of a foreign agent. */
export interface ForeignPortRun {
  readonly row: ProcessRow;
  readonly agent: ForeignAgent;
  /** Colour and label of everything that the agent has been shown. */
  shown(): Shown;
}

interface ForeignPortParts {
  readonly gate: Pick<Gate, "call">;
  readonly infer: TaskModels["foreign"];
  readonly taint: ProcessTable["taint"];
  /** Called when a process exhausts a limit. */
  exhausted(pid: Pid, limit: string): void;
}

/** Tools offered to an agent, at most: each costs its model tokens in every turn. */
const MAX_TOOLS = 128;
/** Interfaces of the tools over a wiki, and of `http_fetch`. */
const OFFERED_INTERFACES = new Set(["AgentMemory", "HttpEndpoint"]);
/** Length of a call id above which it is hashed. */
const MAX_ID = 100;

/**
 * Tells whether a foreign agent is offered a tool: one that it cannot have by itself inside its
 * walls. Files it has as a copy, and a second way to them would change what the copy is compared
 * with. Programs it has as well. Forbidden tools are not mentioned to it.
 */
function isServed({ name, permission, interfaceId }: ToolDescriptor): boolean {
  return permission !== "forbidden" &&
    (name.startsWith("mcp_") || OFFERED_INTERFACES.has(interfaceId));
}

/** Makes the port of one run. */
export function makeForeignPort(
  { gate, infer, taint, exhausted }: ForeignPortParts,
  run: ForeignPortRun,
): AgentPort {
  const { row, agent: { name, provider } } = run;
  const served = (row.snapshot?.tools ?? []).filter(isServed).slice(0, MAX_TOOLS);
  const names: ReadonlySet<string> = new Set(served.map((tool) => tool.name));
  // Reported when the run is over: a process that must conclude has seconds, and the agent's work would be lost.
  let limit: string | undefined;
  const inferring = provider === undefined
    ? undefined
    : infer({ row, agent: { name }, provider, label: () => run.shown().label }, (each) =>
      limit ??= each);
  return Object.freeze<AgentPort>({
    tools: served.map(({ name, description, paramSchema }) => ({
      ...{ name, description },
      schema: paramSchema,
    })),
    async call({ id, tool, args }, signal) {
      if (!names.has(tool)) {
        throw new Fault("refused", `Cannot call ${JSON.stringify(tool)}: it is not served`);
      }
      // INVARIANT: everything in the agent's copy counts as read (test: "a call of an agent of others is judged by what its copy holds").
      taint(row.pid, { ...run.shown(), sources: [] });
      const own = id.length > MAX_ID ? `${sha256Hex(id).slice(0, 32)}/${id.split("/").at(-1)}` : id;
      const { outcome, content, error } = await gate.call(
        row.pid,
        { id: CallId.parse(own), name: tool, arguments: args },
        row.snapshot?.id ?? "",
        signal,
      );
      return outcome === "ok"
        ? { content, isError: false }
        : { content: error ?? `${outcome}: ${content}`, isError: true };
    },
    async infer(asked, signal) {
      if (inferring !== undefined) return await inferring(asked, signal);
      throw new Fault("refused", `Cannot infer: ${name} asks no provider`);
    },
    close(): void {
      if (limit !== undefined) exhausted(row.pid, limit);
    },
    taint: () => ({ colour: row.colour, label: row.label }),
  });
}
