/**
 * The op `check`: what a proposed page would change, and which of its citations are valid. Runs in the wiki's
 * process before a person is asked.
 * @module
 */
import * as z from "zod";
import { toJson } from "../../contracts/base/json.ts";
import { cleared, Label } from "../../contracts/authority/mod.ts";
import { PageChange, type PageName, type PagePatch } from "../../contracts/memory/mod.ts";
import { canonicalJson } from "../../port/mod.ts";
import { readPage } from "../markdown/read_page.ts";
import { type Op, reading } from "../ops/op.ts";
import { unifiedDiff } from "../ops/visible.ts";
import type { WikiStore } from "../store/wiki_store.ts";
import type { CheckedDraft } from "./answers.ts";
import { trustOfAll } from "../store/trust_rules.ts";

const MAX_UNCITED = 20;
const UNCITED_LENGTH = 200;

const CheckBody = z.object({
  clearance: Label,
  change: PageChange,
  author: z.string().min(1).max(256).optional(),
}).strict();

/** Checks one change of one page. `clearance` is the author's and only affects `seen` and the citations. */
function checkDraft(store: WikiStore, asked: z.infer<typeof CheckBody>): CheckedDraft {
  const { clearance, change, author } = asked;
  const name = change.kind === "write" ? change.draft.name : change.name;
  const body = change.kind === "write" ? change.draft.body : "";
  const page = store.pages.get(name);
  const before = page === undefined ? undefined : readPage(store.pages.text(name) ?? "").body;
  const { claims, citations } = readPage(body);
  const holding = new Map(
    citations.flatMap((each) => {
      const source = store.sources.byDigest(each.digestPrefix);
      const holds = source !== undefined && each.endLine <= source.lines &&
        cleared(source.label, clearance);
      return holds ? [[each.note.toLowerCase(), source] as const] : [];
    }),
  );
  const uncited = claims.filter(({ notes }) =>
    !notes.some((note) => holding.has(note.toLowerCase()))
  );
  const same = author === undefined ? undefined : sameAs(store.patches.list(), { author, change });
  return {
    found: page?.version ?? 0,
    seen: page === undefined || cleared(page.label, clearance),
    ...changed(name, before, change.kind === "write" ? body : undefined),
    citations: citations.length,
    holding: citations.filter(({ note }) => holding.has(note.toLowerCase())).length,
    uncited: uncited.length,
    uncitedTexts: uncited.slice(0, MAX_UNCITED).map(({ text }) => text.slice(0, UNCITED_LENGTH)),
    ...trustOfAll([...(page === undefined ? [] : [page]), ...holding.values()]),
    ...(same === undefined ? {} : { same: { id: same.id, state: same.state } }),
  };
}

function changed(
  name: PageName,
  before: string | undefined,
  after: string | undefined,
): Pick<CheckedDraft, "plus" | "minus"> {
  const lines = unifiedDiff(name, before, after).split("\n").slice(2);
  const count = (sign: string): number => lines.filter((line) => line.startsWith(sign)).length;
  return { plus: count("+"), minus: count("-") };
}

/** An earlier proposal, made before a kernel crashed. */
function sameAs(
  patches: readonly PagePatch[],
  { author, change }: { readonly author: string; readonly change: PageChange },
): PagePatch | undefined {
  const wanted = canonicalJson(toJson(change));
  return patches.find((patch) =>
    patch.author === author && patch.state !== "conflict" && patch.changes.length === 1 &&
    patch.changes.every((each) => canonicalJson(toJson(each)) === wanted)
  );
}

/** The op for service.ts. */
export const CHECK_OPS: Readonly<Record<string, Op>> = {
  check: reading({ body: CheckBody, run: ({ store }, asked) => checkDraft(store, asked) }),
};
