/**
 * The tools that a model is offered, and their wording. Every turn pays for the table, so the table
 * holds the tools that most tasks need and those that this task was given; others are offered once
 * `tool_search` found them or they were called. A small window is offered the most useful tools in
 * short form. The model may call tools that are not offered, too: the gate knows all of them. Used
 * by inference.ts and kernel/task/task_tools.ts.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import { type Digest, type Pid } from "../../../contracts/authority/ids.ts";
import { isObject, type Json, type JsonObject } from "../../../contracts/base/json.ts";
import type {
  GrantedCall,
  PowerResult,
  Resolved,
  ToolBinding,
} from "../../../contracts/task/power.ts";
import type { ProcessRow } from "../../../contracts/task/process.ts";
import {
  isImported,
  type ToolDescriptor,
  type ToolSnapshot,
} from "../../../contracts/tool/tool.ts";
import { ownTool } from "../../core/process/own_tool.ts";
import { estimateToolTokens } from "../../../contracts/model/tokens.ts";
import {
  DESCRIBE_TOOL,
  fitsLimits,
  TOOL_LIMITS,
  type ToolLimits,
  toolLimits,
} from "../../../contracts/tool/tool_limits.ts";
import { sha256Hex } from "../../../port/digest.ts";
import { hidesImported, TOOL_SEARCH } from "./tool_search.ts";
import { GRANTED_PROGRAMS } from "../../../contracts/tool/command.ts";

/** Share of the window that the table may take. */
const SHARE = 0.3;
/** A table of this many tokens is offered whole, because a search for a tool costs an inference. */
const SMALL_TABLE = 1_400;
/** Windows of at most this many tokens are offered few tools, each in short form. */
const SMALL_WINDOW = 8_192;
const BRIEF_TOOLS = 8;
const BRIEF_TABLE = 680;

/** Tools in order of usefulness, where not all fit: list, read, change, then compute and fetch. */
const FIRST = [
  "file_list",
  "file_read",
  "file_search",
  "file_edit",
  "file_write",
  "patch_apply",
  "text_search",
  "exec",
  "command",
  "file_delete",
  "web_read",
  "http_fetch",
  "json_select",
  "file_stat",
];

const HANDED = FIRST.indexOf("file_search") + 0.5;

/** Tools not offered where the model proposes programs: they run programs, or agent programs call them. */
const PROPOSED: ReadonlySet<string> = new Set(["exec", "proposal_run", "settlements"]);

/** Interfaces that every task has and few tasks need: built-in plugins, and some tools over files and the web. */
const COMMON =
  /^(?:browser|coreutils|exec|json|patch|text|web_read)@|^(?:BrowserScreenshot|AgentInbox|HttpEndpoint|SharedResources|Subagents)$/;
const SELDOM: ReadonlySet<string> = new Set(
  ["file_delete", "file_stat", "outbox_publish", "scratch_write"],
);

/** The tools offered to a model. */
export interface OfferedTools {
  /** In the snapshot's order. */
  readonly tools: readonly ToolDescriptor[];
  /** Number of tools in the snapshot that are not offered. */
  readonly left: number;
  /** Identifies exactly these tools: the snapshot's own id where all are offered. */
  readonly table: Digest;
}

/** A task's wishes for the tools offered to its models. */
export interface ToolOffer {
  /** Tools to offer from the start, beside the usual ones; `all`: all tools. */
  readonly names?: readonly string[] | "all";
  /** Number of imported tools above which these are found by search. */
  readonly searchAbove?: number | undefined;
  /** Models are offered only these tools; the task's program is offered all. */
  readonly only?: readonly string[];
}

/**
 * The tools of a snapshot that a window of `window` tokens is offered; `found`: tools that were
 * found or called; `backend`: the kind of provider.
 */
type OfferTools = (
  snapshot: ToolSnapshot,
  window: number,
  found?: ReadonlySet<string>,
  backend?: string,
) => OfferedTools;

/** Makes the choice of tools; the last choice for a snapshot is cached. */
export function makeOfferTools({ names = [], searchAbove, only }: ToolOffer = {}): OfferTools {
  const made = new WeakMap<
    ToolSnapshot,
    { readonly key: string; readonly offered: OfferedTools }
  >();
  const asked: ReadonlySet<string> = new Set(names === "all" ? [] : names);
  return (snapshot, window, found = NONE, backend = "") => {
    const limits = toolLimits(backend);
    const brief = window <= SMALL_WINDOW;
    const all = only === undefined
      ? snapshot.tools
      : snapshot.tools.filter(({ name }) => only.includes(name));
    const searched = all.some(({ name }) => name === TOOL_SEARCH.name);
    const proposes = all.some((tool) => tool.interfaceId === "Mail" && tool.name === "evaluate");
    const describes = all.some(({ name }) => name === TOOL_DESCRIBE.name);
    const whole = names === "all" || proposes || estimateToolTokens(all) <= SMALL_TABLE;
    const imports = hidesImported(all, searchAbove);
    const isNamed = (name: string): boolean => found.has(name) || asked.has(name);
    const waits = (tool: ToolDescriptor): boolean =>
      searched && !isNamed(tool.name) &&
      (isImported(tool) ? imports : !whole && isSeldom(tool));
    const open = all.filter((tool) => !waits(tool) && !(proposes && PROPOSED.has(tool.name)));
    const needless: ReadonlySet<string> = new Set([
      ...(describes && !open.some((tool) => isCut(tool, limits)) ? [TOOL_DESCRIBE.name] : []),
      // INVARIANT: also where all tools are found by now, so that the table's beginning stays the same.
      ...(searched && !all.some((tool) => isImported(tool) ? imports : !whole && isSeldom(tool))
        ? [TOOL_SEARCH.name]
        : []),
    ]);
    const shown = needless.size === 0 ? open : open.filter(({ name }) => !needless.has(name));
    const key = `${window} ${backend} ${namesOf(shown)}`;
    const before = made.get(snapshot);
    if (before?.key === key) return before.offered;
    const worded = shown.map((tool) => toldWords(tool, { brief, bounds: false }));
    const room = brief
      ? { max: Math.min(window * SHARE, BRIEF_TABLE), limits: { ...limits, tools: BRIEF_TOOLS } }
      : { max: window * SHARE, limits };
    const fit = fitting(worded, room, searched ? found : NONE);
    // A local model is shown types without bounds, which its grammar enforces.
    const kept = new Set(fit.map(({ name }) => name));
    const tools = Object.hasOwn(TOOL_LIMITS, backend)
      ? fit
      : shown.filter(({ name }) => kept.has(name))
        .map((tool) => toldWords(tool, { brief, bounds: true }));
    const left = all.length - tools.length;
    const table = left === 0 && !brief
      ? snapshot.id
      : sha256Hex(`${snapshot.id} ${brief} ${namesOf(tools)}`);
    const offered = Object.freeze({ tools, left, table });
    made.set(snapshot, { key, offered });
    return offered;
  };
}

function isSeldom({ name, interfaceId, description }: ToolDescriptor): boolean {
  // Programs of this machine were granted for the task's work.
  if (name === "command" && description.includes(GRANTED_PROGRAMS)) return false;
  return SELDOM.has(name) || COMMON.test(interfaceId);
}

/** Optional arguments of built-in tools that a small model is not shown. */
const SPARED: ReadonlySet<string> = new Set(["base", "fresh", "ignoreCase", "limit"]);
const LARGE_NUMBER = 100_000;

/** The wording of a tool: short form, and bounds in schemas. */
interface Extent {
  readonly brief: boolean;
  readonly bounds: boolean;
}

const wordedTools = new WeakMap<ToolDescriptor, Map<string, ToolDescriptor>>();

/**
 * A tool in the words for a model. `brief`: one sentence, and the important arguments. Without `bounds`, bounds in Remit's
 * own schemas are left to the gate. Strangers' words stay as they were reviewed.
 */
function toldWords(tool: ToolDescriptor, told: Extent): ToolDescriptor {
  if (isImported(tool) || (told.bounds && !told.brief)) return tool;
  const before = wordedTools.get(tool) ?? new Map<string, ToolDescriptor>();
  const key = `${told.brief} ${told.bounds}`;
  const known = before.get(key);
  if (known !== undefined) return known;
  const paramSchema = JSON.stringify(spared(schemaOf(tool), told, true));
  const description = told.brief ? firstSentence(tool.description) : tool.description;
  const words: ToolDescriptor = Object.freeze({ ...tool, description, paramSchema });
  wordedTools.set(tool, before.set(key, words));
  return words;
}

function firstSentence(text: string): string {
  const end = text.search(/[.:;](?:\s|$)/);
  return end < 0 ? text : `${text.slice(0, end)}.`;
}

function spared(schema: JsonObject, told: Extent, root: boolean): JsonObject {
  const out: Record<string, Json> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (!told.bounds && isBound(key, value)) continue;
    if (key === "properties" && isObject(value)) {
      out[key] = Object.fromEntries(
        Object.entries(value).flatMap(([name, each]) =>
          root && told.brief && SPARED.has(name)
            ? []
            : [[name, isObject(each) ? spared(each, told, false) : each]]
        ),
      );
    } else out[key] = key === "items" && isObject(value) ? spared(value, told, false) : value;
  }
  return out;
}

/** Bounds that models do not observe anyway. */
function isBound(key: string, value: Json): boolean {
  return key === "minLength" || key === "maxLength" || key === "maxItems" ||
    (key === "minimum" && (value === 0 || value === 1)) ||
    (key === "maximum" && typeof value === "number" && value >= LARGE_NUMBER);
}

const NONE: ReadonlySet<string> = new Set();

function namesOf(tools: readonly ToolDescriptor[]): string {
  return tools.map(({ name }) => name).join();
}

function fitting(
  tools: readonly ToolDescriptor[],
  { max, limits }: { readonly max: number; readonly limits: ToolLimits },
  found: ReadonlySet<string>,
): readonly ToolDescriptor[] {
  if (tools.length <= limits.tools && estimateToolTokens(tools) <= max) return tools;
  const ranked = [...tools].sort((a, b) => rankOf(a, found) - rankOf(b, found));
  const kept = new Set<ToolDescriptor>();
  let left = max;
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
  // Found tools are wanted now.
  if (name === TOOL_SEARCH.name || name === TOOL_DESCRIBE.name) return -1;
  if (isImported(tool) && found.has(name)) return -1;
  // Few imported tools were all given for this work: they come before tools that change files.
  const place = isImported(tool) ? HANDED : FIRST.indexOf(name);
  const rank = place < 0 ? FIRST.length : place;
  // A forbidden tool is only explained, so it comes last.
  return permission === "forbidden" ? FIRST.length + 1 : rank;
}

// `tool_describe` returns the whole description and schema of a tool where these are longer than a provider takes. It is
// offered where an offered tool had to be cut (`contracts/tool/tool_limits.ts`).

/** The descriptor of `tool_describe`. */
export const TOOL_DESCRIBE: ToolDescriptor = ownTool({
  name: DESCRIBE_TOOL,
  description:
    "Tells the whole description and the whole schema of one of your tools, where what you were told of " +
    'it ends in […]. Example: {"name":"exec"}',
  interfaceId: "ToolSearch",
  methodName: "describe",
  properties: {
    name: { type: "string", minLength: 1, maxLength: 128, description: "The tool." },
  },
  required: ["name"],
});

/** The parts of a descriptor that can be too long. */
type Told = Pick<ToolDescriptor, "description" | "paramSchema">;

const known = new WeakMap<Told, Map<ToolLimits, boolean>>();

/** Tells whether a tool exceeds a provider's limits and must be cut. */
function isCut(tool: Told, limits: ToolLimits): boolean {
  const of = known.get(tool) ?? new Map<ToolLimits, boolean>();
  const found = of.get(limits) ??
    !fitsLimits({ description: tool.description, schema: schemaOf(tool) }, limits);
  known.set(tool, of.set(limits, found));
  return found;
}

/** Tells whether one of these tools exceeds any provider's limits. */
export function needsDescribing(tools: readonly Told[]): boolean {
  const all = Object.values(TOOL_LIMITS);
  return tools.some((tool) => all.some((limits) => isCut(tool, limits)));
}

/** The binding of `tool_describe`, which describes only tools advertised to its caller. */
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
      // Reviewed, but still strangers' words.
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
