/** One operation of the wiki's process, and the open wiki that every operation works with. @module */
import type * as z from "zod";
import { Fault, type Json } from "../../contracts/base/mod.ts";
import type { ContentColours } from "../../contracts/memory/mod.ts";
import type { ParseAsk, Parsed, WikiStatus } from "../../contracts/wire/mod.ts";
import { asJson } from "../../port/as_json.ts";
import type { SourceReader } from "../ingest/source_reader.ts";
import type { WikiSearch } from "../search/search.ts";
import type { WikiStore } from "../store/wiki_store.ts";

/** An op of contracts/wire/wire_wiki.ts. */
export interface Op {
  /** Writers run one after another; readers run at once, also between the files of an ingest. */
  readonly writes: boolean;
  /** Parses the body, does it. @throws Fault `invalidInput` for a body of another shape. */
  run(wiki: OpenWiki, body: Json): Promise<Json>;
}

/** What an op answers: something that JSON can hold. */
export type Answer = object | string | null;

interface OpParts<S extends z.ZodType> {
  readonly body: S;
  readonly run: (wiki: OpenWiki, body: z.infer<S>) => Answer | Promise<Answer>;
}

/** Makes an op that changes nothing. */
export function reading<S extends z.ZodType>(parts: OpParts<S>): Op {
  return opOf(parts, false);
}

/** Makes an op that changes the wiki: refused where it was opened to be read. */
export function writing<S extends z.ZodType>(parts: OpParts<S>): Op {
  return opOf(parts, true);
}

function opOf<S extends z.ZodType>({ body: schema, run }: OpParts<S>, writes: boolean): Op {
  return Object.freeze({
    writes,
    async run(wiki: OpenWiki, body: Json): Promise<Json> {
      if (writes && wiki.readOnly) {
        throw new Fault("refused", "Cannot change the wiki: it was opened to be read");
      }
      const value = await run(wiki, parseBody(schema, body));
      return value === null || typeof value === "string" ? value : asJson(value);
    },
  });
}

/** The body as the schema has it. @throws Fault `invalidInput`, naming the first place that is wrong. */
export function parseBody<S extends z.ZodType>(schema: S, body: Json): z.infer<S> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.map(String).join(".").slice(0, 100) ?? "";
  throw new Fault(
    "invalidInput",
    `Cannot read what the wiki was asked: ${where === "" ? "" : `${where}: `}${issue?.message}`,
  );
}

// What every op works with: one open wiki, and the few powers beside its store.

/** What the wiki's process has beside its store. */
export interface WikiPowers {
  readonly now: () => number;
  /** Reads the files that are taken in. */
  readonly reader: SourceReader;
  /** Makes text of a document, in a process without permissions. */
  readonly parse: (ask: ParseAsk) => Promise<Parsed>;
  /** What the whole state knows of a content. */
  readonly known: (digest: string) => Promise<ContentColours>;
  /** Tells the starter. */
  readonly tell: (op: "progress" | "file", body: Json) => void;
}

/** One open wiki. */
export interface OpenWiki {
  readonly store: WikiStore;
  readonly search: WikiSearch;
  readonly powers: WikiPowers;
  readonly readOnly: boolean;
  /** What the opening repaired, sentences. */
  readonly repaired: readonly string[];
  /** Files that could not be taken in when hand edits were last looked for. */
  readonly problems: () => readonly FileProblem[];
  readonly sync: () => Promise<Synced>;
  /** Items of model ingests that are known to be answered: they are not looked up again. */
  readonly answered: Set<string>;
}

/** What a look for hand edits found. */
export type Synced = Awaited<ReturnType<WikiStore["pages"]["sync"]>>;
/** A file that is no page. */
type FileProblem = Synced["problems"][number];

/** How the wiki stands. */
export function statusOf({ store, search, repaired }: OpenWiki): WikiStatus {
  const { sources, chunks } = store.sources.count("secret");
  return {
    folder: store.folder,
    pages: store.pages.count("secret"),
    sources,
    passages: chunks,
    generation: store.generation(),
    index: search.state(),
    repaired,
    patches: store.patches.list("proposed").length,
    notesWaiting: store.notes.list({ clearance: "secret", state: "waiting" }).length,
  };
}
