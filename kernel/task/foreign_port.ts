/**
 * A task as a run of an agent of others reaches it: the tools that it is served, each call through the gate as the
 * process's own, and its inferences, paid by the task.
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

/** One run. */
export interface ForeignPortRun {
  readonly row: ProcessRow;
  readonly agent: ForeignAgent;
  /** Of all that it was shown. */
  shown(): Shown;
}

interface ForeignPortParts {
  readonly gate: Pick<Gate, "call">;
  readonly infer: TaskModels["foreign"];
  readonly taint: ProcessTable["taint"];
  /** A process ran into this limit. */
  exhausted(pid: Pid, limit: string): void;
}

/** Most tools that an agent is told of: each costs its model tokens at every turn. */
const MAX_TOOLS = 128;
/** The interfaces of the tools over a wiki, and of `http_fetch`. */
const OWN = new Set(["AgentMemory", "HttpEndpoint"]);
/** Longest id of a call that one within it is named after. */
const LONG_ID = 100;

/**
 * Whether an agent of others is served a tool: what it cannot have of its own within its walls. Files it has as a copy;
 * a second way to them would change what its copy is held against. Programs it has, too. What is forbidden to its task is
 * not told to it.
 */
function isServed({ name, permission, interfaceId }: ToolDescriptor): boolean {
  return permission !== "forbidden" && (name.startsWith("mcp_") || OWN.has(interfaceId));
}

/** Makes it. */
export function makeForeignPort(
  { gate, infer, taint, exhausted }: ForeignPortParts,
  run: ForeignPortRun,
): AgentPort {
  const { row, agent: { name, provider } } = run;
  const served = (row.snapshot?.tools ?? []).filter(isServed).slice(0, MAX_TOOLS);
  const names: ReadonlySet<string> = new Set(served.map((tool) => tool.name));
  // Told when the run is over: a process that is to conclude has seconds, and the agent's work would be lost.
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
      // INVARIANT: what its copy of the folder holds is read by then (test: "a call of an agent of others is judged by what its copy holds").
      taint(row.pid, { ...run.shown(), sources: [] });
      const own = id.length > LONG_ID
        ? `${sha256Hex(id).slice(0, 32)}/${id.split("/").at(-1)}`
        : id;
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
