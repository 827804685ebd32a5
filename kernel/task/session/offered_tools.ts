/**
 * Which tools a model is told of. A window that could hold little beside the table is offered the most
 * useful ones; where there is `tool_search`, imported tools are offered once they were found. What a model
 * is not told of it may still call, the gate knows them all.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import { type Digest, type Pid, ToolName } from "../../../contracts/authority/ids.ts";
import type { JsonObject } from "../../../contracts/base/json.ts";
import type {
  GrantedCall,
  PowerResult,
  Resolved,
  ToolBinding,
} from "../../../contracts/task/power.ts";
import type { ProcessRow } from "../../../contracts/task/process.ts";
import { ToolDescriptor, type ToolSnapshot } from "../../../contracts/tool/tool.ts";
import { estimateToolTokens } from "../../../contracts/model/tokens.ts";
import {
  DESCRIBE_TOOL,
  fitsLimits,
  TOOL_LIMITS,
  type ToolLimits,
  toolLimits,
} from "../../../contracts/tool/tool_limits.ts";
import { sha256Hex } from "../../../port/digest.ts";
import { isImported, TOOL_SEARCH } from "./tool_search.ts";

/** Share of the window that the table may take. */
const SHARE = 0.3;

/** What comes first where not all fit: look, read, change, then compute and fetch. */
const FIRST = [
  "file_list",
  "file_read",
  "file_search",
  "file_edit",
  "file_write",
  "text_search",
  "exec",
  "command",
  "file_delete",
  "web_read",
  "http_fetch",
  "json_select",
  "file_stat",
];

/** Where programs are proposed: what runs one, and what an agent program calls by itself. */
const PROPOSED: ReadonlySet<string> = new Set(["exec", "proposal_run", "settlements"]);

/** What a model is told of. */
export interface OfferedTools {
  /** In their order. */
  readonly tools: readonly ToolDescriptor[];
  /** How many of the snapshot it is not told of. */
  readonly left: number;
  /** Names exactly these tools: the snapshot's own id where nothing is left out. */
  readonly table: Digest;
}

/**
 * The tools of a snapshot that a window of so many tokens is offered; `found`: imported ones that were looked for;
 * `backend`: the kind of who takes them.
 */
type OfferTools = (
  snapshot: ToolSnapshot,
  window: number,
  found?: ReadonlySet<string>,
  backend?: string,
) => OfferedTools;

/** Makes the choice; what was chosen for a snapshot last is kept with it. */
export function makeOfferTools(): OfferTools {
  const made = new WeakMap<
    ToolSnapshot,
    { readonly key: string; readonly offered: OfferedTools }
  >();
  return (snapshot, window, found = NONE, backend = "") => {
    const limits = toolLimits(backend);
    const searched = snapshot.tools.some(({ name }) => name === TOOL_SEARCH.name);
    const proposes = snapshot.tools.some(({ interfaceId, name }) =>
      interfaceId === "Mail" && name === "evaluate"
    );
    const describes = snapshot.tools.some(({ name }) => name === TOOL_DESCRIBE.name);
    const told = (tool: ToolDescriptor): boolean =>
      !(searched && isImported(tool) && !found.has(tool.name)) &&
      !(proposes && PROPOSED.has(tool.name));
    const open = searched || proposes ? snapshot.tools.filter(told) : snapshot.tools;
    const shown = describes && !open.some((tool) => isCut(tool, limits))
      ? open.filter(({ name }) => name !== TOOL_DESCRIBE.name)
      : open;
    const key = `${window} ${backend} ${searched ? namesOf(shown) : ""}`;
    const before = made.get(snapshot);
    if (before?.key === key) return before.offered;
    const tools = fitting(shown, { most: window * SHARE, limits }, searched ? found : NONE);
    const left = snapshot.tools.length - tools.length;
    const table = left === 0 ? snapshot.id : sha256Hex(`${snapshot.id} ${namesOf(tools)}`);
    const offered = Object.freeze({ tools, left, table });
    made.set(snapshot, { key, offered });
    return offered;
  };
}

const NONE: ReadonlySet<string> = new Set();

function namesOf(tools: readonly ToolDescriptor[]): string {
  return tools.map(({ name }) => name).join();
}

function fitting(
  tools: readonly ToolDescriptor[],
  { most, limits }: { readonly most: number; readonly limits: ToolLimits },
  found: ReadonlySet<string>,
): readonly ToolDescriptor[] {
  if (tools.length <= limits.tools && estimateToolTokens(tools) <= most) return tools;
  const ranked = [...tools].sort((a, b) => rankOf(a, found) - rankOf(b, found));
  const kept = new Set<ToolDescriptor>();
  let left = most;
  for (const tool of ranked) {
    const size = estimateToolTokens([tool]);
    if (size > left || kept.size === limits.tools) continue;
    left -= size;
    kept.add(tool);
  }
  return Object.freeze(tools.filter((tool) => kept.has(tool)));
}

function rankOf(tool: ToolDescriptor, found: ReadonlySet<string>): number {
  const { name, permission } = tool;
  // What was looked for is wanted now.
  if (name === TOOL_SEARCH.name || name === TOOL_DESCRIBE.name) return -1;
  if (isImported(tool) && found.has(name)) return -1;
  const place = FIRST.indexOf(name);
  const rank = place < 0 ? FIRST.length : place;
  // A tool that is only explained, and never run, gives way to any other.
  return permission === "forbidden" ? FIRST.length + 1 : rank;
}

// `tool_describe`: tells all of a tool whose description or schema is longer than a provider takes. A model is told of
// this tool where one that it is offered had to be cut (`contracts/tool/tool_limits.ts`).

/** Its descriptor. */
export const TOOL_DESCRIBE: ToolDescriptor = Object.freeze(ToolDescriptor.parse({
  name: ToolName.parse(DESCRIBE_TOOL),
  description:
    "Tells the whole description and the whole schema of one of your tools, where what you were told of " +
    'it ends in […]. Example: {"name":"exec"}',
  interfaceId: "ToolSearch",
  methodName: "describe",
  paramSchema: JSON.stringify({
    type: "object",
    properties: {
      name: { type: "string", minLength: 1, maxLength: 128, description: "The tool." },
    },
    required: ["name"],
    additionalProperties: false,
  }),
  permission: "auto",
  category: "read",
}));

/** What of a descriptor decides whether it has to be cut. */
type Told = Pick<ToolDescriptor, "description" | "paramSchema">;

const known = new WeakMap<Told, Map<ToolLimits, boolean>>();

/** Whether a provider with these limits takes a tool only cut. */
function isCut(tool: Told, limits: ToolLimits): boolean {
  const of = known.get(tool) ?? new Map<ToolLimits, boolean>();
  const found = of.get(limits) ??
    !fitsLimits({ description: tool.description, schema: schemaOf(tool) }, limits);
  known.set(tool, of.set(limits, found));
  return found;
}

/** Whether any provider would take one of these tools only cut. */
export function needsDescribing(tools: readonly Told[]): boolean {
  const all = Object.values(TOOL_LIMITS);
  return tools.some((tool) => all.some((limits) => isCut(tool, limits)));
}

/** The tool as the gate knows it: it tells only of what its caller was advertised. */
export function toolDescribeBinding({ redeem, processOf }: {
  /** Takes the call's token, once. Throws as the token does. */
  redeem(call: GrantedCall): void;
  processOf(pid: Pid): Pick<ProcessRow, "snapshot"> | undefined;
}): ToolBinding {
  return Object.freeze<ToolBinding>({
    descriptor: TOOL_DESCRIBE,
    effect: "read",
    deadlineMs: 5_000,
    resultBytes: 131_072,
    resolve: ({ name }): Resolved => ({
      scopes: [{ resource: "plugin", right: "use", path: DESCRIBE_TOOL }],
      effect: "read",
      digests: {},
      summary: `read what the tool ${JSON.stringify(name)} is`,
      idempotent: true,
    }),
    // deno-lint-ignore require-await -- a power answers later
    async invoke(call: GrantedCall): Promise<PowerResult> {
      redeem(call);
      const tools = processOf(call.pid)?.snapshot?.tools ?? [];
      const tool = tools.find(({ name }) => name === call.args["name"]);
      if (tool === undefined) {
        throw new Fault("notFound", "Cannot describe the tool: you have none of this name");
      }
      const { name, description } = tool;
      const content = JSON.stringify({ name, description, parameters: schemaOf(tool) }, null, 1);
      if (!isImported(tool)) return { content, colour: "BLUE", label: "public", sources: [] };
      // Reviewed, and strangers' words all the same.
      const source = `the imported tool ${name}`;
      return {
        content,
        colour: "RED",
        label: "public",
        sources: [{ source, colour: "RED", label: "public" }],
      };
    },
  });
}

function schemaOf({ paramSchema }: Pick<ToolDescriptor, "paramSchema">): JsonObject {
  // TRUST: a descriptor's schema was parsed when it was reviewed.
  return JSON.parse(paramSchema) as JsonObject;
}
