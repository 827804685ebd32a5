/** Tools that read the wiki: catalogue, search, lines, footnotes. @module */
import { Colour, colourSuffices } from "../../contracts/authority/colour.ts";
import { type Json, type JsonObject, toJson } from "../../contracts/base/json.ts";
import type {
  GrantedCall,
  PowerResult,
  Resolved,
  ToolBinding,
} from "../../contracts/task/power.ts";
import type { ProcessRow } from "../../contracts/task/process.ts";
import {
  Cited,
  FoundHits,
  hitText,
  IndexRows,
  LOOK_MS,
  marks,
  type MemoryParts,
  memoryScope,
  Notes,
  numbered,
  numberOf,
  readAnswer,
  ReadLines,
  sourcesOf,
  taintOf,
  textOf,
  textsOf,
} from "./answers.ts";
import { MEMORY_DESCRIPTORS, type MemoryTool } from "./descriptors.ts";
import type { Trust } from "../store/trust_rules.ts";

const RESULT_BYTES = 65_536;
const ROWS = 100;
const PASSAGES = 6;
const LINES = 200;

type Reader = (granted: GrantedCall, signal: AbortSignal) => Promise<PowerResult>;

/** Binds the reading tools of a task. */
export function bindReading(parts: MemoryParts): readonly ToolBinding[] {
  const { clearance } = parts.memory;
  const ask = (op: string, body: JsonObject, signal: AbortSignal): Promise<Json> =>
    parts.ask(op, { clearance, ...body }, { signal, deadlineMs: LOOK_MS });

  const index: Reader = async ({ args }, signal) => {
    const limit = numberOf(args, "limit", ROWS);
    const rows = readAnswer(IndexRows, await ask("index", { limit }, signal)).filter(trusted(args));
    const lines = rows.map((row) =>
      `${row.name} [${row.kind}] ${JSON.stringify(row.title)} ` +
      `${marks(row, row.stale ? ["stale"] : [])} ${row.about}`
    );
    const none = "The wiki has no page that you may see; its sources may still be searched.";
    return result(
      rows.map((row) => ({ ...row, file: `pages/${row.name}.md` })),
      lines.length === 0 ? none : lines.join("\n"),
      toJson(rows),
    );
  };

  const search: Reader = async ({ args }, signal) => {
    const { within } = args;
    const queries = textsOf(args, "queries");
    const found = await query(parts, {
      text: textOf(args, "query"),
      ...(queries.length === 0 ? {} : { queries }),
      k: numberOf(args, "k", PASSAGES),
      ...(within === "pages" || within === "sources" ? { within } : {}),
    }, signal);
    // Results that do not fit are not shown, so they leave no trace on the process.
    const hits = found.fit === "none" ? [] : found.hits.filter(trusted(args));
    return result(hits, foundText({ ...found, hits }), toJson({ ...found, hits }));
  };

  const read: Reader = async (granted, signal) => {
    const { args } = granted, name = textOf(args, "name");
    const notes = notesPlace(name, parts.agent);
    if (notes !== undefined) return await readNotes(parts, notes, { args, signal });
    const [from, lines] = [numberOf(args, "from", 1), numberOf(args, "lines", LINES)];
    const page = readAnswer(ReadLines, await ask("read", { name, from, lines }, signal));
    const version = page.version === undefined ? "" : ` version ${page.version},`;
    const head = `${page.file} lines ${page.from}-${page.to} of ${page.of},${version} ` +
      `sha256:${page.digest.slice(0, 16)} ${marks(page)}`;
    return result([page], `${head}\n${numbered(page.text, page.from)}`, toJson(page), {
      observed: page.digest,
    });
  };

  const cite: Reader = async ({ args }, signal) => {
    const file = textOf(args, "file"), note = noteName(args);
    const [startLine, endLine] = [numberOf(args, "startLine", 1), numberOf(args, "endLine", 1)];
    const body = { file, startLine, endLine };
    const cited = readAnswer(Cited, await ask("cite", body, signal));
    const definition = cited.definition.replace(/^\[\^[^\]]*\]/, `[^${note}]`);
    return result(
      [{ ...cited, file }],
      `${definition}\n\nThe cited lines:\n${numbered(cited.text, startLine)}`,
      toJson({ ...cited, definition }),
    );
  };

  const scopeOf = (tool: MemoryTool, args: JsonObject): string => {
    if (tool !== "wiki_read") return "wiki";
    return notesPlace(textOf(args, "name"), parts.agent)?.scope ?? "wiki";
  };

  const bind = (name: MemoryTool, invoke: Reader): ToolBinding =>
    Object.freeze<ToolBinding>({
      descriptor: MEMORY_DESCRIPTORS[name],
      effect: "read",
      ...{ deadlineMs: LOOK_MS, resultBytes: RESULT_BYTES },
      resolve: (args, { colour, label }: ProcessRow): Resolved => ({
        scopes: [memoryScope("read", scopeOf(name, args))],
        effect: "read",
        digests: {},
        ...{ colour, label },
        summary: summaryOf(name, args),
        idempotent: true,
      }),
      async invoke(granted, signal): Promise<PowerResult> {
        parts.redeem(granted);
        return await invoke(granted, signal);
      },
    });

  return [
    bind("wiki_index", index),
    bind("wiki_search", search),
    bind("wiki_read", read),
    bind("wiki_cite", cite),
  ];
}

/** Searches the wiki within the task's clearance. */
export async function query(
  parts: Pick<MemoryParts, "ask" | "memory">,
  asked: {
    readonly text: string;
    readonly queries?: readonly string[];
    readonly k: number;
    readonly within?: "pages" | "sources";
  },
  signal: AbortSignal,
): Promise<FoundHits> {
  const { clearance } = parts.memory;
  const answer = await parts.ask("query", toJson({ ...asked, clearance }), {
    signal,
    deadlineMs: LOOK_MS,
  });
  return readAnswer(FoundHits, answer);
}

function foundText({ hits, fit, searched }: FoundHits): string {
  const { pages, sources, passages, terms } = searched;
  const where = `searched ${pages} pages and ${sources} sources (${passages} passages) for ` +
    terms.map((term) => JSON.stringify(term)).join(" ");
  if (hits.length === 0) return `Nothing fits: ${where}`;
  const shown = hits.map((hit, n) => hitText(hit, n + 1)).join("\n\n");
  return fit === "weak" ? `Only a part of it fits: ${where}\n\n${shown}` : shown;
}

/** Whether a value is as trusted as the call requires. */
function trusted(args: JsonObject): (each: Trust) => boolean {
  const min = Colour.safeParse(args["trust"]);
  return ({ colour }) => !min.success || colourSuffices(colour, min.data);
}

/** A footnote's name without characters that would end it. */
function noteName(args: JsonObject): string {
  const { note } = args;
  const name = typeof note === "string" ? note.replace(/[^\p{L}\p{N}_-]/gu, "") : "";
  return name === "" ? "1" : name;
}

function result(
  shown: readonly (Trust & { readonly file: string })[],
  content: string,
  value: Json,
  more: Pick<PowerResult, "observed"> = {},
): PowerResult {
  return { content, ...taintOf(shown), sources: sourcesOf(shown), value, ...more };
}

function summaryOf(tool: MemoryTool, args: JsonObject): string {
  const what = args["query"] ?? args["name"] ?? args["file"];
  const shown = typeof what === "string" ? ` ${JSON.stringify(what.slice(0, 200))}` : "";
  return `${tool.replace("wiki_", "wiki: ")}${shown}`;
}

/** The notes that a name refers to, and the scope to read them. */
interface NotesPlace {
  readonly scope: string;
  /** The body of the request, beside the clearance. */
  readonly query: JsonObject;
}

const NOTES = 50;
const TASK = /^[a-z0-9]{1,64}$/;

/** The notes that a name refers to; undefined for a page or source. */
function notesPlace(name: string, agent: string): NotesPlace | undefined {
  const [root, kind, which, ...rest] = name.split("/");
  if (root !== "memory" || rest.length > 0) return undefined;
  if (kind === "project" && which === undefined) {
    return { scope: "wiki", query: { kind: "projectWiki", state: "kept" } };
  }
  if (kind === "tasks" && (which === undefined || TASK.test(which))) {
    const of = which === undefined ? {} : { task: which };
    return { scope: "log", query: { kind: "taskLog", state: "kept", ...of } };
  }
  if (kind !== "user") return undefined;
  // The scope of another agent's notes is never granted.
  const whose = which ?? agent;
  return { scope: `user/${whose}`, query: { kind: "userMemory", state: "kept", agent: whose } };
}

/** Reads notes, newest first. */
async function readNotes(
  { ask, memory }: MemoryParts,
  { query }: NotesPlace,
  { args, signal }: { readonly args: JsonObject; readonly signal: AbortSignal },
): Promise<PowerResult> {
  const limit = numberOf(args, "lines", NOTES);
  const body = { clearance: memory.clearance, limit, ...query };
  const notes = readAnswer(Notes, await ask("notes", body, { signal, deadlineMs: LOOK_MS }));
  const lines = notes.map((note) =>
    `${new Date(note.at).toISOString().slice(0, 16)} task ${note.task}, agent ${note.agent} ` +
    `${marks(note)}: ${note.text}`
  );
  return {
    content: lines.length === 0 ? "There are no notes of that kind." : lines.join("\n"),
    ...taintOf(notes),
    sources: sourcesOf(notes.map((note) => ({ ...note, file: `note ${note.id}` }))),
    value: toJson(notes),
  };
}
