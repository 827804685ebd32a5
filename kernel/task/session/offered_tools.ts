/**
 * Which tools a model is told of, and in which words. Every turn pays for the table, so it holds what most
 * tasks need and what this one was handed; the rest is offered once `tool_search` found it or it was called. A
 * small window is offered the most useful ones, in few words. What a model is not told of it may still call, the
 * gate knows them all.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import { type Digest, type Pid, ToolName } from "../../../contracts/authority/ids.ts";
import { isObject, type Json, type JsonObject } from "../../../contracts/base/json.ts";
import type {
  GrantedCall,
  PowerResult,
  Resolved,
  ToolBinding,
} from "../../../contracts/task/power.ts";
import type { ProcessRow } from "../../../contracts/task/process.ts";
import { isImported, ToolDescriptor, type ToolSnapshot } from "../../../contracts/tool/tool.ts";
import { estimateToolTokens } from "../../../contracts/model/tokens.ts";
import {
  DESCRIBE_TOOL,
  fitsLimits,
  TOOL_LIMITS,
  type ToolLimits,
  toolLimits,
} from "../../../contracts/tool/tool_limits.ts";
import { sha256Hex } from "../../../port/digest.ts";
import { searches, TOOL_SEARCH } from "./tool_search.ts";
import { GRANTED_PROGRAMS } from "../../../contracts/tool/command.ts";

/** Share of the window that the table may take. */
const SHARE = 0.3;
/** A table of this many tokens is offered whole: to look for a tool costs an inference. */
const SMALL_TABLE = 1_400;
/** A window of at most this many tokens drowns in words: it is offered few tools, each in few of them. */
const SMALL_WINDOW = 8_192;
const BRIEF_TOOLS = 8;
const BRIEF_TABLE = 680;

/** What comes first where not all fit: look, read, change, then compute and fetch. */
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

/** Where programs are proposed: what runs one, and what an agent program calls by itself. */
const PROPOSED: ReadonlySet<string> = new Set(["exec", "proposal_run", "settlements"]);

/** Tools that every task has and few need: plugins of the box, and some of those over files and the web. */
const COMMON =
  /^(?:browser|coreutils|exec|json|patch|text|web_read)@|^(?:BrowserScreenshot|AgentInbox|HttpEndpoint|SharedResources|Subagents)$/;
const SELDOM: ReadonlySet<string> = new Set(
  ["file_delete", "file_stat", "outbox_publish", "scratch_write"],
);

/** What a model is told of. */
export interface OfferedTools {
  /** In their order. */
  readonly tools: readonly ToolDescriptor[];
  /** How many of the snapshot it is not told of. */
  readonly left: number;
  /** Names exactly these tools: the snapshot's own id where nothing is left out. */
  readonly table: Digest;
}

/** What a task said of the tools that its models are told of. */
export interface ToolOffer {
  /** Tools to tell of from the start, beside the usual ones; `all`: every one. */
  readonly names?: readonly string[] | "all";
  /** Imported tools above which they are looked for, too. */
  readonly searchAbove?: number | undefined;
  /** Models are told of these alone, whatever else there is; the task's program is told of all. */
  readonly only?: readonly string[];
}

/**
 * The tools of a snapshot that a window of so many tokens is offered; `found`: those that were looked for or called;
 * `backend`: the kind of who takes them.
 */
type OfferTools = (
  snapshot: ToolSnapshot,
  window: number,
  found?: ReadonlySet<string>,
  backend?: string,
) => OfferedTools;

/** Makes the choice; what was chosen for a snapshot last is kept with it. */
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
    const imports = searches(all, searchAbove);
    const isNamed = (name: string): boolean => found.has(name) || asked.has(name);
    const waits = (tool: ToolDescriptor): boolean =>
      searched && !isNamed(tool.name) &&
      (isImported(tool) ? imports : !whole && isSeldom(tool));
    const open = all.filter((tool) => !waits(tool) && !(proposes && PROPOSED.has(tool.name)));
    const needless: ReadonlySet<string> = new Set([
      ...(describes && !open.some((tool) => isCut(tool, limits)) ? [TOOL_DESCRIBE.name] : []),
      // INVARIANT: also where all is found by now, so that the table's beginning stays as it is.
      ...(searched && !all.some((tool) => isImported(tool) ? imports : !whole && isSeldom(tool))
        ? [TOOL_SEARCH.name]
        : []),
    ]);
    const shown = needless.size === 0 ? open : open.filter(({ name }) => !needless.has(name));
    const key = `${window} ${backend} ${namesOf(shown)}`;
    const before = made.get(snapshot);
    if (before?.key === key) return before.offered;
    const said = shown.map((tool) => toldWords(tool, { brief, bounds: false }));
    const room = brief
      ? { most: Math.min(window * SHARE, BRIEF_TABLE), limits: { ...limits, tools: BRIEF_TOOLS } }
      : { most: window * SHARE, limits };
    const fit = fitting(said, room, searched ? found : NONE);
    // A model of this machine is told types alone, and its grammar holds the bounds.
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
  // Programs of this machine were granted for this work.
  if (name === "command" && description.includes(GRANTED_PROGRAMS)) return false;
  return SELDOM.has(name) || COMMON.test(interfaceId);
}

/** Arguments of the box's tools that a small model does without. */
const SPARED: ReadonlySet<string> = new Set(["base", "fresh", "ignoreCase", "limit"]);
const LARGE_NUMBER = 100_000;
/** How much of a tool is told. */
interface Extent {
  readonly brief: boolean;
  readonly bounds: boolean;
}

const toldBefore = new WeakMap<ToolDescriptor, Map<string, ToolDescriptor>>();

/**
 * A tool in the words that a model is told. `brief`: one sentence, and the arguments that matter. Without `bounds`
 * those of the box's own schemas are left to the gate. What strangers wrote stays as it was reviewed.
 */
function toldWords(tool: ToolDescriptor, told: Extent): ToolDescriptor {
  if (isImported(tool) || (told.bounds && !told.brief)) return tool;
  const before = toldBefore.get(tool) ?? new Map<string, ToolDescriptor>();
  const key = `${told.brief} ${told.bounds}`;
  const known = before.get(key);
  if (known !== undefined) return known;
  const paramSchema = JSON.stringify(spared(schemaOf(tool), told, true));
  const description = told.brief ? firstSentence(tool.description) : tool.description;
  const words: ToolDescriptor = Object.freeze({ ...tool, description, paramSchema });
  toldBefore.set(tool, before.set(key, words));
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

/** Bounds that no model keeps count of. */
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
  // Of few imported tools each was handed over for this work: before what changes files.
  const place = isImported(tool) ? HANDED : FIRST.indexOf(name);
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
