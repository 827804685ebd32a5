/** Parses the answers of the wiki's process, which has read hostile documents. contracts/wire/wire_wiki.ts. @module */
import * as z from "zod";
import { Colour, Label } from "../../contracts/authority/colour.ts";
import { Digest } from "../../contracts/authority/ids.ts";
import { Fault, type Json } from "../../contracts/base/mod.ts";
import {
  Hit,
  LINT_RULES,
  Note,
  Page,
  PageChange,
  PatchName,
  WikiSource,
} from "../../contracts/memory/mod.ts";
import { CheckedAnswer } from "../../contracts/wire/wire_wiki.ts";

const Text = z.string().max(1_000_000);
const Count = z.number().min(0);

const Status = z.object({
  folder: Text,
  pages: Count,
  sources: Count,
  passages: Count,
  generation: Count,
  index: z.enum(["fresh", "behind", "missing"]),
  repaired: z.array(Text),
  patches: Count,
  notesWaiting: Count,
});
const Report = z.object({
  added: Count,
  changed: Count,
  unchanged: Count,
  failed: z.array(z.object({ name: Text, why: Text })),
  noted: z.array(z.object({ name: Text, notes: z.array(Text) })).default([]),
});
const Progress = z.object({
  name: Text,
  did: z.enum(["new", "changed", "unchanged", "failed"]),
  why: Text.optional(),
});
const Extract = z.object({
  written: z.array(Text),
  unchanged: Count,
  conflicts: z.array(Text),
});
const Plan = z.object({
  run: Text,
  sources: Count,
  items: Count,
  done: Count,
  inputTokens: Count,
  outputTokens: Count,
  label: Label,
});
const Item = z.object({
  id: Text,
  source: Text,
  system: Text,
  user: z.string(),
  responseSchema: Text.optional(),
  maxTokens: z.int().min(1),
  label: Label,
  colour: Colour,
});
const FoundShape = z.object({
  hits: z.array(Hit).max(100),
  fit: z.enum(["good", "weak", "none"]),
  searched: z.object({
    pages: Count,
    sources: Count,
    passages: Count,
    terms: z.array(Text),
    vectors: z.boolean(),
  }),
});
const Place = z.object({ file: Text, line: z.number().optional() });
const FindingShape = Place.extend({
  rule: z.enum(LINT_RULES),
  severity: z.enum(["error", "warning"]),
  message: Text,
  remedy: Text,
  fixable: z.boolean(),
  other: Place.optional(),
});
const ClaimAt = z.object({ file: Text, line: z.int().min(1), text: z.string().max(1_000) });
const Pair = z.object({
  id: z.string().regex(/^[0-9a-f]{24}$/),
  ...{ a: ClaimAt, b: ClaimAt, label: Label, colour: Colour },
  why: z.string().max(500).optional(),
});
const Conflict = z.object({
  page: Text,
  expected: z.number(),
  found: z.number(),
  by: Text,
  why: z.enum(["version", "lease", "handEdit"]),
});
const Patch = z.object({
  id: PatchName,
  author: Text,
  reason: Text,
  changes: z.array(PageChange),
  colour: Colour,
  label: Label,
  state: z.enum(["proposed", "applied", "rejected", "conflict"]),
  createdAt: z.number(),
  decided: z.object({ by: Text, at: z.number() }).optional(),
  conflicts: z.array(Conflict).optional(),
});
const Version = z.object({
  version: z.number(),
  digest: Digest,
  author: Text,
  at: z.number(),
  patch: Text.optional(),
  colour: Colour,
  label: Label,
  deleted: z.boolean(),
});
const Lines = z.object({
  file: Text,
  from: z.number(),
  to: z.number(),
  of: z.number(),
  text: z.string(),
  digest: Digest,
  colour: Colour,
  label: Label,
  name: Text.optional(),
  version: z.number().optional(),
});
const Row = z.object({
  name: Text,
  title: Text,
  kind: Text,
  about: Text,
  colour: Colour,
  label: Label,
  stale: z.boolean(),
});
const Event = z.object({
  n: z.number(),
  at: z.number(),
  kind: Text,
  by: Text,
  text: Text,
  hash: Digest,
});
const Exported = z.object({
  files: Count,
  pages: Count,
  sources: Count,
  colour: Colour,
  label: Label,
});

function reader<T>(what: string, schema: z.ZodType<T>): (answer: Json) => T {
  return (answer) => {
    const parsed = schema.safeParse(answer);
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    throw new Fault(
      "upstream",
      `Cannot read what the wiki's process says of ${what}: ${issue?.path.join(".") ?? ""} ${
        issue?.message ?? ""
      }`,
    );
  };
}

/** Reads the answers of `open`, `status`, `reindex`. */
export const readStatus = reader("the wiki", Status);
/** Reads the answer of `ingestFiles`. */
export const readReport = reader("an ingest", Report);
/** Reads the event `progress`. */
export const readProgress = reader("its progress", Progress);
/** Reads the answer of `ingestGone`. */
export const readGone = reader("removed sources", z.object({ removed: z.array(Text) }));
/** Reads the answer of `extract`. */
export const readExtract = reader("extracted pages", Extract);
/** Reads the answer of `workPlan`. */
export const readPlan = reader("a model's work", Plan);
/** Reads the answer of `workNext`. */
export const readItem = reader("a model's work", Item.nullable());
/** Reads the answer of `workTaken`. */
export const readTaken = reader(
  "a model's answer",
  z.object({ ok: z.boolean(), problems: z.array(Text) }),
);
/** Reads the answer of `workFinish`. */
export const readFinish = reader(
  "a model's work",
  z.object({
    patch: Patch.nullable(),
    contradictions: z.array(FindingShape),
    left: z.array(Text).default([]),
  }),
);
/** Reads the answer of `query`. */
export const readFound = reader("a query", FoundShape);
/** Reads the answer of `answerPlan`. */
export const readAnswerPlan = reader(
  "a query",
  z.object({ found: FoundShape, ask: Item.nullable() }),
);
/** Reads the answer of `answerCheck`. */
export const readAnswer = reader("an answer", CheckedAnswer);
/** Reads the answer of `lint`. */
export const readFindings = reader("the lint", z.array(FindingShape));
/** Reads the answer of `lintPairs`. */
export const readPairs = reader("pairs of claims", z.array(Pair).max(1_000));
/** Reads the answer of `propose`, `decide`, `edit`, `answerFile`. */
export const readPatch = reader("a patch", Patch);
/** Reads the answer of `patches`, `lintFix`. */
export const readPatches = reader("patches", z.array(Patch));
/** Reads the answer of `patch`. */
export const readPatchDiff = reader("a patch", z.object({ patch: Patch, diff: z.string() }));
/** Reads the answer of `page`. */
export const readPage = reader(
  "a page",
  z.object({
    page: Page,
    history: z.array(Version),
    backlinks: z.array(Text),
    citing: z.array(z.unknown()).optional(),
  }),
);
/** Reads the answer of `review`, `mark`. */
export const readMarked = reader("a page", Page);
/** Reads the answer of `diff`. */
export const readDiff = reader("versions", z.object({ diff: z.string() }));
/** Reads the answer of `read`. */
export const readLines = reader("lines", Lines);
/** Reads the answer of `index`. */
export const readIndex = reader("the index", z.array(Row));
/** Reads the answer of `sources`. */
export const readSources = reader("its sources", z.array(WikiSource));
/** Reads the answer of `log`. */
export const readLog = reader("its log", z.array(Event));
/** Reads the answer of `logVerify`. */
export const readProblem = reader("its log", z.object({ problem: Text.nullable() }));
/** Reads the answer of `notes`. */
export const readNotes = reader("notes", z.array(Note));
/** Reads the answer of `noteDecide`. */
export const readNote = reader("a note", Note);
/** Reads the answer of `exportSite`. */
export const readExported = reader("an export", Exported);
/** Reads the answer of `embedPlan`. */
export const readTexts = reader("texts to embed", z.array(z.object({ key: Text, text: Text })));

/** See {@link readFound}. */
export type FoundAnswer = ReturnType<typeof readFound>;
/** See {@link readPatch}. */
export type PatchAnswer = ReturnType<typeof readPatch>;
/** See {@link readItem}, without its null. */
export type WorkAnswer = NonNullable<ReturnType<typeof readItem>>;
/** See {@link readFindings}. */
export type FindingAnswer = ReturnType<typeof readFindings>[number];
/** See {@link readPairs}. */
export type PairAnswer = ReturnType<typeof readPairs>[number];
/** See {@link readIndex}. */
export type IndexAnswer = ReturnType<typeof readIndex>[number];
