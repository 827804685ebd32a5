/** Checks a model's extraction: lines exist, quotes occur in them, claims match them. @module */
import * as z from "zod";
import { Fault, type Json } from "../../contracts/base/mod.ts";
import { PageKind } from "../../contracts/memory/wiki_page.ts";
import { parseJson } from "../../port/parse.ts";
import { termsOf } from "../search/terms.ts";

// The form that a model fills in for one part of a source, version 1. Versions are never changed, only added,
// so that earlier answers stay readable. Fixtures: ./_fixture/.

/** Part of every item's id, so that an answer of another version does not match. */
export const SCHEMA_VERSION = 1;

/** Maximum length of each list of an answer. */
export const MAX_LISTED = {
  claims: 40,
  entities: 30,
  relations: 40,
  contradictions: 10,
  pages: 10,
};

const Line = z.int().min(1).max(100_000_000);
const Name = z.string().min(1).max(120);

/** The shape of an answer; {@link checkExtraction} checks its content. */
export const ExtractionV1 = z.object({
  version: z.literal(1),
  claims: z.array(
    z.object({
      text: z.string().min(8).max(500),
      startLine: Line,
      endLine: Line,
      /** Verbatim from these lines. */
      quote: z.string().min(8).max(600),
    }).strict(),
  ).max(MAX_LISTED.claims),
  entities: z.array(
    z.object({
      name: Name,
      kind: z.enum(["person", "organisation", "product", "place", "event", "concept", "other"]),
      aliases: z.array(Name).max(8),
    }).strict(),
  ).max(MAX_LISTED.entities),
  relations: z.array(
    z.object({ from: Name, kind: z.string().min(2).max(60), to: Name }).strict(),
  ).max(MAX_LISTED.relations),
  contradictions: z.array(
    z.object({
      /** Name of a page in the prompt. */
      page: Name,
      /** A statement of that page, as in the prompt. */
      claim: z.string().min(8).max(500),
      why: z.string().min(8).max(500),
      startLine: Line,
      endLine: Line,
    }).strict(),
  ).max(MAX_LISTED.contradictions),
  pages: z.array(z.object({ title: Name, kind: PageKind }).strict()).max(MAX_LISTED.pages),
}).strict();
export type ExtractionV1 = z.infer<typeof ExtractionV1>;

/** JSON Schema of {@link ExtractionV1} for models. */
export const EXTRACTION_SCHEMA_V1: string = JSON.stringify(
  z.toJSONSchema(ExtractionV1, { target: "draft-7" }),
);

/** Lines that one claim may cite. */
export const SPAN_LINES = 20;
/** Minimum share of a claim's words that occur in the cited lines. */
const MIN_SHARE = 0.3;
/** Problems reported at once. */
const MAX_PROBLEMS = 30;

/** The part of a source in the prompt. */
export interface ShownPart {
  readonly from: number;
  readonly to: number;
  /** Its lines, from line `from` on. */
  readonly lines: readonly string[];
  /** Pages in the prompt, with their statements. */
  readonly pages: readonly { readonly name: string; readonly claims: readonly string[] }[];
}

/** The valid part of an answer, and the problems of the rest. */
export interface CheckedExtraction {
  /** Undefined if the answer does not match the schema. */
  readonly extraction: ExtractionV1 | undefined;
  /** Sentences for the model; empty for a valid answer. */
  readonly problems: readonly string[];
}

/** Normalises white space and quotation marks. */
function normalised(text: string): string {
  return text.normalize("NFKC").replace(/[‘’‚]/g, "'").replace(/[“”„]/g, '"')
    .replace(/\s+/g, " ").trim();
}

/** Numbers without separators. */
function numbersOf(text: string): readonly string[] {
  return (text.match(/\p{N}+(?:[.,:]\p{N}+)*/gu) ?? []).map((number) =>
    number.replace(/[.,:]/g, "")
  );
}

/** Why a statement may not cite lines `startLine` to `endLine`; undefined if it may. */
function spanProblem(
  part: ShownPart,
  startLine: number,
  endLine: number,
): string | undefined {
  const named = startLine === endLine ? `line ${startLine}` : `lines ${startLine}-${endLine}`;
  if (endLine < startLine) return `${named}: the last line is before the first`;
  if (startLine < part.from || endLine > part.to) {
    return `${named}: only lines ${part.from}-${part.to} were shown`;
  }
  if (endLine - startLine >= SPAN_LINES) return `${named}: cite at most ${SPAN_LINES} lines`;
  return undefined;
}

/** The text of lines of a part. */
function spanText(part: ShownPart, startLine: number, endLine: number): string {
  return part.lines.slice(startLine - part.from, endLine - part.from + 1).join("\n");
}

/** Why the words and numbers of a statement do not match the cited text; undefined if they do. */
export function wordingProblem(statement: string, cited: string): string | undefined {
  const text = normalised(cited);
  const there = new Set(numbersOf(text));
  const number = numbersOf(statement).find((each) => !there.has(each));
  if (number !== undefined) return `the number ${number} does not stand there`;
  const words = new Set(termsOf(statement));
  const found = new Set(termsOf(text));
  const shared = [...words].filter((word) => found.has(word)).length;
  return words.size > 0 && shared < words.size * MIN_SHARE
    ? "too few of its words stand there; say it in the source's words"
    : undefined;
}

function claimProblem(part: ShownPart, claim: ExtractionV1["claims"][number]): string | undefined {
  const { startLine, endLine, quote, text } = claim;
  const span = spanProblem(part, startLine, endLine);
  if (span !== undefined) return span;
  const cited = spanText(part, startLine, endLine);
  if (!normalised(cited).includes(normalised(quote))) {
    return `lines ${startLine}-${endLine}: the quote does not stand there word for word`;
  }
  const wording = wordingProblem(text, cited);
  return wording === undefined ? undefined : `lines ${startLine}-${endLine}: ${wording}`;
}

/**
 * Parses a model's answer and keeps the valid parts: relations need a kept claim that names both ends,
 * contradictions a page in the prompt.
 */
export function checkExtraction(answer: string, part: ShownPart): CheckedExtraction {
  const json = parseAnswerJson(answer);
  const parsed = ExtractionV1.safeParse(json);
  if (!parsed.success) {
    const problems = parsed.error.issues.slice(0, MAX_PROBLEMS).map(({ path, message }) =>
      `${path.map(String).join(".") || "the answer"}: ${message}`
    );
    return { extraction: undefined, problems };
  }
  const problems: string[] = [];
  const holding = <T>(what: string, list: readonly T[], why: (item: T) => string | undefined) =>
    list.filter((item, n) => {
      const problem = why(item);
      if (problem !== undefined) problems.push(`${what}[${n}]: ${problem}`);
      return problem === undefined;
    });
  const { data } = parsed;
  const claims = holding("claims", data.claims, (claim) => claimProblem(part, claim));
  const entities = holding(
    "entities",
    data.entities,
    ({ name, aliases }) =>
      [name, ...aliases].some((each) => part.lines.some((line) => mentions(line, each)))
        ? undefined
        : `${JSON.stringify(name)} is not named in what was shown`,
  );
  const relations = data.relations.filter((each) => relationClaim(each, claims) !== undefined);
  const contradictions = holding(
    "contradictions",
    data.contradictions,
    (each) => shownProblem(part, each) ?? spanProblem(part, each.startLine, each.endLine),
  );
  const extraction = { ...data, claims, entities, relations, contradictions };
  return { extraction, problems: problems.slice(0, MAX_PROBLEMS) };
}

/** The claim that states a relation: it names both ends and contains the relation's words. */
export function relationClaim(
  { from, kind, to }: ExtractionV1["relations"][number],
  claims: ExtractionV1["claims"],
): ExtractionV1["claims"][number] | undefined {
  return claims.find(({ text }) => {
    const said = new Set(termsOf(text));
    return mentions(text, from) && mentions(text, to) &&
      termsOf(kind).every((term) => said.has(term));
  });
}

function shownProblem(
  part: ShownPart,
  { page, claim }: ExtractionV1["contradictions"][number],
): string | undefined {
  const shown = part.pages.find(({ name }) => name === page);
  if (shown === undefined) return `no page ${JSON.stringify(page)} was shown`;
  const said = shown.claims.some((each) => normalised(each) === normalised(claim));
  return said ? undefined : `the page ${JSON.stringify(page)} was not shown to say that`;
}

function mentions(line: string, name: string): boolean {
  return normalised(line).toLowerCase().includes(normalised(name).toLowerCase());
}

/** Bytes read of an answer. */
const MAX_BYTES = 400_000;

/**
 * Parses an answer that is JSON, possibly in a code fence or with words around it; undefined for none. A
 * schema must check the result.
 */
export function parseAnswerJson(answer: string): Json | undefined {
  const text = answer.slice(0, MAX_BYTES);
  const from = text.indexOf("{");
  const to = text.lastIndexOf("}");
  if (from < 0 || to < from) return undefined;
  try {
    return parseJson(text.slice(from, to + 1), {
      frameBytes: MAX_BYTES * 4,
      depth: 16,
      nodes: 20_000,
    });
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}
