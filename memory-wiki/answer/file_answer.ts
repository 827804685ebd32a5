/** Proposes an answer as a page; never applies it. Used by memory-wiki/ops/ingest_ops.ts. @module */
import { PageName, type PagePatch } from "../../contracts/memory/mod.ts";
import type { CheckedAnswer } from "../../contracts/wire/mod.ts";
import { sha256Hex } from "../../port/digest.ts";
import {
  escapeLine,
  makeFootnotes,
  pageNameOf,
  readPage,
  shortened,
  type SourceLines,
  suffixed,
} from "../markdown/mod.ts";
import type { OpenWiki } from "../ops/op.ts";
import { namesSource } from "../ops/visible.ts";
import type { WikiStore } from "../store/wiki_store.ts";
import { fileOf } from "./snippets.ts";

type AnswerCitation = CheckedAnswer["sentences"][number]["citations"][number];

/** Source spans that one citation of a page is traced to. */
const MAX_TRACED = 8;

/**
 * The source lines behind a citation: the cited lines themselves, or those that the cited statements of a page cite.
 */
function traced(store: WikiStore, citation: AnswerCitation): readonly SourceLines[] {
  const { file, source: digest, startLine, endLine, span } = citation;
  const lines = fileOf(store, file, digest)?.lines(startLine, endLine);
  if (lines === undefined || sha256Hex(lines.join("\n")) !== span) return [];
  if (namesSource(file)) {
    const source = store.sources.byFile(file);
    return source === undefined ? [] : [{ source, startLine, endLine }];
  }
  const name = PageName.safeParse(file.slice("pages/".length, -".md".length));
  const text = name.success ? store.pages.text(name.data) : undefined;
  if (text === undefined) return [];
  const { claims, citations } = readPage(text);
  const notes = new Set(
    claims.filter(({ line }) => line >= startLine && line <= endLine).flatMap(({ notes }) => notes),
  );
  return citations.filter(({ note }) => notes.has(note)).slice(0, MAX_TRACED).flatMap((each) => {
    const source = store.sources.byDigest(each.digestPrefix);
    if (source === undefined || each.endLine > source.lines) return [];
    return [{ source, startLine: each.startLine, endLine: each.endLine }];
  });
}

/** Proposes a synthesis page. Its sentences cite raw sources, never a page; others are marked uncited. */
export function fileAnswer(
  { store }: OpenWiki,
  { answer, model, by }: {
    readonly answer: CheckedAnswer;
    readonly model: string;
    readonly by: string;
  },
): PagePatch {
  const notes = makeFootnotes();
  const sentences = answer.sentences.map(({ text, citations }) => {
    const spans = citations.flatMap((citation) => traced(store, citation));
    const refs = [...new Set(spans.map(notes.mark))].join("");
    return `- ${escapeLine(text)}${refs === "" ? " *(uncited)*" : refs}`;
  });
  const title = shortened(answer.question.replace(/\s+/g, " ").trim(), 200);
  const body = [`# ${escapeLine(title)}`, sentences.join("\n"), notes.definitions.join("\n")]
    .filter((block) => block !== "").join("\n\n");
  return store.patches.propose({
    author: `model:${model}`.slice(0, 256),
    reason: `An answer filed by ${by}`,
    changes: [{
      kind: "write",
      base: 0,
      draft: {
        name: freeName(store, title),
        ...{ kind: "synthesis", title, aliases: [], confidence: "medium", body: `${body}\n` },
      },
      fresh: true,
    }],
    // Every snippet shown influenced the page, cited or not.
    colour: answer.colour,
    label: answer.label,
  });
}

function freeName(store: WikiStore, title: string): PageName {
  const first = pageNameOf(title);
  let name = first;
  for (let n = 2; store.pages.get(name) !== undefined; n++) name = suffixed(first, String(n));
  return name;
}
