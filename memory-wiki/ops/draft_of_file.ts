/** A page's file as a person saved it, as the draft of a version. @module */
import { Confidence, type PageDraft, PageKind, type PageName } from "../../contracts/mod.ts";
import type { StoredPage } from "../store/wiki_store.ts";
import { readPage } from "../markdown/mod.ts";

/** Most characters of a page's body; see {@link PageDraft}. */
const MOST_BODY = 200_000;
/** Most lines of other programs' keys; see {@link PageDraft}. */
const MOST_OTHERS = 1_000;

/**
 * Takes kind, title, aliases and confidence from the front matter where they are well-formed, else from the page before,
 * and the keys of other programs as they stand; label, colour and version are never read from a file.
 */
export function draftOfFile(
  name: PageName,
  text: string,
  before: StoredPage | undefined,
): { readonly draft: PageDraft; readonly problems: readonly string[] } {
  const read = readPage(text);
  const { front } = read;
  const problems = [...front.problems];
  if (read.body.length > MOST_BODY) problems.push(`it is longer than ${MOST_BODY} characters`);
  const kind = PageKind.safeParse(front.kind);
  const confidence = Confidence.safeParse(front.confidence);
  const title = front.title ?? read.headings[0]?.text ?? before?.title ?? name;
  return {
    problems,
    draft: {
      name,
      kind: kind.success ? kind.data : before?.kind ?? "concept",
      title: title.slice(0, 256),
      aliases: front.aliases.slice(0, 64),
      confidence: confidence.success ? confidence.data : before?.confidence ?? "medium",
      body: read.body.slice(0, MOST_BODY),
      others: front.others.slice(0, MOST_OTHERS),
    },
  };
}
