/** Ops of the wiki's process, and the open wiki that they share. @module */
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
  /** Writes run one after another; reads run concurrently, also between the files of an ingest. */
  readonly writes: boolean;
  /** Parses the body and runs the op. @throws Fault `invalidInput` for a malformed body */
  run(wiki: OpenWiki, body: Json): Promise<Json>;
}

/** Answer of an op: a JSON value. */
export type Answer = object | string | null;

interface OpParts<S extends z.ZodType> {
  readonly body: S;
  readonly run: (wiki: OpenWiki, body: z.infer<S>) => Answer | Promise<Answer>;
}

/** Makes an op that changes nothing. */
export function reading<S extends z.ZodType>(parts: OpParts<S>): Op {
  return opOf(parts, false);
}

/** Makes an op that changes the wiki; refused if the wiki was opened read-only. */
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

/** Parses a body. @throws Fault `invalidInput`, naming the first wrong place */
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

// The open wiki and its powers.

/** Powers of the wiki's process beside its store. */
export interface WikiPowers {
  readonly now: () => number;
  /** Reads files to ingest. */
  readonly reader: SourceReader;
  /** Converts a document to text, in a process without permissions. */
  readonly parse: (ask: ParseAsk) => Promise<Parsed>;
  /** The trust that the whole state records for a content. */
  readonly known: (digest: string) => Promise<ContentColours>;
  /** Sends an event to the starter. */
  readonly tell: (op: "progress" | "file", body: Json) => void;
}

/** An open wiki. */
export interface OpenWiki {
  readonly store: WikiStore;
  readonly search: WikiSearch;
  readonly powers: WikiPowers;
  readonly readOnly: boolean;
  /** Repairs made when it was opened, as sentences. */
  readonly repaired: readonly string[];
  /** Files that the last search for hand edits could not import. */
  readonly problems: () => readonly FileProblem[];
  readonly sync: () => Promise<Synced>;
  /** Answered items of model ingests, cached to avoid look-ups. */
  readonly answered: Set<string>;
}

/** Result of a search for hand edits. */
export type Synced = Awaited<ReturnType<WikiStore["pages"]["sync"]>>;
/** A file that is not a valid page. */
type FileProblem = Synced["problems"][number];

/** Status of a wiki. */
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
