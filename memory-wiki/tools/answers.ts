/**
 * Powers of the memory tools, schemas of the wiki process's answers (parsed, since that process reads hostile
 * text), and the rendering of results.
 * @module
 */
import * as z from "zod";
import { Colour, Label, mixColour, mixLabel } from "../../contracts/authority/colour.ts";
import { Fault } from "../../contracts/base/fault.ts";
import { Digest } from "../../contracts/authority/ids.ts";
import type { Json, JsonObject } from "../../contracts/base/json.ts";
import type { Scope } from "../../contracts/authority/lease.ts";
import type { GrantedCall } from "../../contracts/task/power.ts";
import type { Source } from "../../contracts/authority/question.ts";
import type { TaskMemory } from "../../contracts/task/task.ts";
import { Hit, Note } from "../../contracts/memory/wiki.ts";
import { PatchName } from "../../contracts/memory/wiki_page.ts";
import { ReadLines } from "../../contracts/wire/wire_wiki.ts";
import type { Trust } from "../store/trust_rules.ts";

export { ReadLines };

/** The catalogue. */
export const IndexRows = z.array(z.object({
  name: z.string().max(120),
  title: z.string().max(256),
  kind: z.string().max(32),
  about: z.string().max(400),
  colour: Colour,
  label: Label,
  stale: z.boolean(),
})).max(10_000);

/** Result of a query. */
export const FoundHits = z.object({
  hits: z.array(Hit).max(100),
  fit: z.enum(["good", "weak", "none"]),
  searched: z.object({
    pages: z.int().min(0),
    sources: z.int().min(0),
    passages: z.int().min(0),
    terms: z.array(z.string().max(256)).max(256),
    vectors: z.boolean(),
  }),
});
export type FoundHits = z.infer<typeof FoundHits>;

/** A valid footnote. */
export const Cited = z.object({
  definition: z.string().max(4_096),
  citation: z.object({ source: Digest, startLine: z.int(), endLine: z.int() }),
  text: z.string().max(100_000),
  colour: Colour,
  label: Label,
});

/** Notes, newest first. */
export const Notes = z.array(Note).max(10_000);
export { Note };

/** Effect of a proposed page. See memory-wiki/tools/check_draft.ts. */
export const CheckedDraft = z.object({
  /** The current version; 0 for none. */
  found: z.int().min(0),
  /** Whether the current page is within the clearance; true for none. */
  seen: z.boolean(),
  plus: z.int().min(0),
  minus: z.int().min(0),
  /** Number of citations, and of valid ones. */
  citations: z.int().min(0),
  holding: z.int().min(0),
  /** Statements without a valid citation: the number, and the first few. */
  uncited: z.int().min(0),
  uncitedTexts: z.array(z.string().max(200)).max(20),
  /** Trust of the new page, without what its author has read. */
  colour: Colour,
  label: Label,
  /** An earlier proposal of the same change by the same author. */
  same: z.object({
    id: PatchName,
    state: z.enum(["proposed", "applied", "rejected", "conflict"]),
  }).optional(),
});
export type CheckedDraft = z.infer<typeof CheckedDraft>;

/** The parts of a patch that the tools use. */
export const Patched = z.object({
  id: PatchName,
  state: z.enum(["proposed", "applied", "rejected", "conflict"]),
  conflicts: z.array(z.object({
    page: z.string().max(120),
    expected: z.int(),
    found: z.int(),
    by: z.string().max(256),
    why: z.enum(["version", "lease", "handEdit"]),
  })).max(500).optional(),
});

/** Parses an answer. @throws Fault `upstream` for an invalid one */
export function readAnswer<S extends z.ZodType>(schema: S, answer: Json): z.infer<S> {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Fault(
    "upstream",
    `Cannot read the wiki's answer: ${issue?.path.map(String).join(".")}: ${issue?.message}`,
  );
}

/** Options of a request to the wiki's process. */
interface AskWikiOptions {
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
  /** For a write: the answer is awaited even if the call is cancelled. */
  readonly writes?: boolean;
}

/** A task's wiki and its powers. */
export interface MemoryParts {
  readonly memory: TaskMemory;
  /** The task's agent, who owns notes about the person. */
  readonly agent: string;
  /** Requests an op of contracts/wire/wire_wiki.ts. Rejects with a fault. */
  ask(op: string, body: Json, options: AskWikiOptions): Promise<Json>;
  /** Redeems a call's token, once. @throws {Fault} of the token */
  redeem(call: GrantedCall): void;
  /** Milliseconds since 1970. */
  now(): number;
}

/** Milliseconds per read. */
export const LOOK_MS = 30_000;
/** Milliseconds per write. */
export const WRITE_MS = 60_000;

/** A scope of the memory. Paths: `wiki`, `log`, `user/AGENT`. */
export function memoryScope(right: "read" | "write", path: string): Scope {
  return { resource: "memory", right, path };
}

/** A string argument. */
export function textOf(args: JsonObject, name: string): string {
  const value = args[name];
  if (typeof value === "string") return value;
  throw new Fault("invalidArguments", `Cannot use argument "${name}": it is not a text`);
}

/** An argument that is a list of strings; empty if absent. */
export function textsOf(args: JsonObject, name: string): readonly string[] {
  const value = args[name] ?? [];
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value;
  throw new Fault("invalidArguments", `Cannot use argument "${name}": it is not a list of texts`);
}

/** An integer argument. */
export function numberOf(args: JsonObject, name: string, absent: number): number {
  const value = args[name] ?? absent;
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  throw new Fault("invalidArguments", `Cannot use argument "${name}": it is not a whole number`);
}

/** The combined trust of what is shown. Computed here, since the kernel does not load the store. */
export function taintOf(shown: readonly Trust[]): Trust {
  return {
    colour: shown.reduce<Colour>((all, { colour }) => mixColour(all, colour), "BLUE"),
    label: shown.reduce<Label>((all, { label }) => mixLabel(all, label), "public"),
  };
}

/** Sources for the process's record, without BLUE ones. */
export function sourcesOf(
  shown: readonly (Trust & { readonly file: string })[],
): readonly Source[] {
  const files = new Map(shown.map((each) => [each.file, each]));
  return [...files.values()].filter(({ colour }) => colour !== "BLUE").slice(0, 100).map(
    ({ file, colour, label }) => ({ source: `wiki ${file}`.slice(0, 512), colour, label }),
  );
}

/** `(YELLOW, internal, stale)`. */
export function marks({ colour, label }: Trust, more: readonly string[] = []): string {
  return `(${[colour, label, ...more].join(", ")})`;
}

/** Lines with numbers, as needed for citations. */
export function numbered(text: string, from: number): string {
  return text.split("\n").map((line, n) => `${from + n}│ ${line}`).join("\n");
}

/** A passage. */
export function hitText(hit: Hit, n: number): string {
  const { file, startLine, endLine, title, headings, stale, kind } = hit;
  const above = headings.length === 0 ? [] : [`under ${headings.join(" > ")}`];
  return [
    `[${n}] ${file}:${startLine}-${endLine} ${JSON.stringify(title)} ` +
    marks(hit, [kind, ...(stale ? ["stale"] : [])]),
    ...above,
    numbered(hit.text, startLine),
  ].join("\n");
}
