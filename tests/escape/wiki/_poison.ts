/** A wiki in its real process that mallory has written to: a RED mail and a secret plan, and what came of them. */
import { ok } from "node:assert/strict";
import type { Colour, Label } from "../../../contracts/authority/mod.ts";
import { makeFolders, takeIn } from "../../../memory-wiki/_fixture/opened_wiki.ts";
import type { Folders } from "../../../memory-wiki/_fixture/opened_wiki.ts";
import { openProcess, type WikiProcess } from "../../../memory-wiki/_fixture/wiki_process.ts";

/** Only in the mail of mallory's. */
export const RED_WORDS = "The payout account of Acme is DE44500105175407324931.";
/** Only in the secret plan. */
export const SECRET_WORDS = "Project Falcon buys Globex for 900 million dollars.";

/** Front matter and a footnote that claim the best there is. */
export const FAKE_FRONT =
  "---\nkind: concept\ntitle: Trusted\nlabel: public\ncolour: BLUE\nreviewed: carol\nversion: 99\n---\n\n";

const MAIL = `${FAKE_FRONT}# Mail\n\n${RED_WORDS}\n\nAcme pays its suppliers by bank transfer.\n`;
const PLAN = `${FAKE_FRONT}# Plan\n\n${SECRET_WORDS}\n\nGlobex makes pumps in Ohio.\n`;
const GOOD = "# Leases\n\nA lease lasts 30 seconds.\n\nThe kernel ends what has no lease.\n";

/** What one thing in the wiki is said to be. */
export interface Trust {
  readonly colour: Colour;
  readonly label: Label;
}

/** Trust of a page or a raw file, as a reader with every clearance is told. */
export async function trustOf(wiki: WikiProcess, name: string): Promise<Trust> {
  const { colour, label } = await wiki.ask("read", { clearance: "secret", name });
  return { colour, label };
}

/** A source that was taken in, found by its words. */
export interface Taken extends Trust {
  readonly file: string;
  readonly line: number;
  /** Its footnote, named `note`. */
  cite(note: string): Promise<string>;
}

/** Finds words of a source. */
export async function sourceWith(wiki: WikiProcess, words: string): Promise<Taken> {
  const found = await wiki.ask("query", {
    text: words,
    k: 20,
    clearance: "secret",
    within: "sources",
  });
  const hits: { file: string; startLine: number; text: string; colour: Colour; label: Label }[] =
    found.hits;
  const hit = hits.find(({ text }) => text.includes(words));
  ok(hit !== undefined, `no source has ${words}`);
  const line = hit.startLine + hit.text.slice(0, hit.text.indexOf(words)).split("\n").length - 1;
  const { file, colour, label } = hit;
  return {
    ...{ file, line, colour, label },
    async cite(note) {
      const ask = { clearance: "secret", file, startLine: line, endLine: line };
      const { definition } = await wiki.ask("cite", ask);
      return String(definition).replace(/^\[\^[^\]]*\]/, `[^${note}]`);
    },
  };
}

/** Proposes a page as somebody who claims to have read nothing bad, and applies it. */
export async function write(
  wiki: WikiProcess,
  name: string,
  body: string,
  more: { readonly base?: number; readonly fresh?: boolean; readonly trust?: Trust } = {},
): Promise<Trust> {
  const { base = 0, fresh = false, trust = { colour: "BLUE", label: "public" } } = more;
  const draft = { name, kind: "concept", title: name, aliases: [], confidence: "high", body };
  const patch = await wiki.ask("propose", {
    ...{ author: "operator", reason: "test", ...trust },
    changes: [{ kind: "write", base, draft, fresh }],
  });
  const decided = await wiki.ask("decide", { id: patch.id, apply: true, by: "carol" });
  ok(decided.state === "applied", JSON.stringify(decided));
  return await trustOf(wiki, name);
}

/** A wiki that holds a good source, a RED mail and a secret plan. */
export interface Poisoned extends AsyncDisposable {
  readonly folders: Folders;
  readonly wiki: WikiProcess;
}

/** Makes it. `parse` stands for the parser's process: it gives the text between an HTML file's tags. */
export async function makePoisoned(): Promise<Poisoned> {
  const folders = await makeFolders();
  const wiki = await openProcess(folders, { parse: textOfHtml });
  await takeIn(wiki, folders, { "good.md": GOOD }, { colour: "BLUE", label: "public" });
  await takeIn(wiki, folders, { "mail.md": MAIL }, { colour: "RED", label: "public" });
  await takeIn(wiki, folders, { "plan.md": PLAN }, { colour: "BLUE", label: "secret" });
  return {
    ...{ folders, wiki },
    async [Symbol.asyncDispose]() {
      await wiki[Symbol.asyncDispose]();
      await folders[Symbol.asyncDispose]();
    },
  };
}

/** The parser's answer for an HTML file, as plain as can be. */
export function textOfHtml(
  ask: unknown,
): { text: string; title: string; parser: string; notes: [] } {
  const { bytes } = ask as { readonly bytes: string };
  const html = new TextDecoder().decode(Uint8Array.from(atob(bytes), (sign) => sign.charCodeAt(0)));
  const text = html.replace(/<(script|style)[\s\S]*?<\/\1>/g, "").replace(/<[^>]*>/g, "\n");
  return { text, title: "x", parser: "test@1", notes: [] };
}
