/** Ops that change pages: proposals, decisions, hand edits, reviews, signed marks. @module */
import * as z from "zod";
import { cleared, Colour, Label, mixLabel } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import {
  Confidence,
  PageChange,
  type PageDraft,
  PageKind,
  PageMark,
  PageName,
  type PagePatch,
  PatchName,
} from "../../contracts/memory/mod.ts";
import { readPage } from "../markdown/mod.ts";
import type { StoredPage } from "../store/wiki_store.ts";
import { type Op, type OpenWiki, reading, writing } from "./op.ts";
import { labelOfPatch, notThere, unifiedDiff } from "./visible.ts";

const By = z.string().min(1).max(128);
const Author = z.string().min(1).max(256);

/** The patch. @throws Fault `notFound`, also above the clearance */
function visiblePatch({ store }: OpenWiki, id: PatchName, clearance: Label): PagePatch {
  const patch = store.patches.get(id);
  if (patch === undefined || !cleared(labelOfPatch(store, patch), clearance)) throw notThere(id);
  return patch;
}

/** A diff of the patch's pages against the versions it is based on. */
function diffOfPatch({ store }: OpenWiki, patch: PagePatch): string {
  return patch.changes.map((change) => {
    const name = change.kind === "write" ? change.draft.name : change.name;
    const before = change.base === 0 ? undefined : store.pages.text(name, change.base);
    const body = before === undefined ? undefined : readPage(before).body;
    const after = change.kind === "write" ? change.draft.body : undefined;
    return unifiedDiff(`pages/${name}.md`, body, after);
  }).join("");
}

/** Changes of pages, for tools and the command line. */
export const PATCH_OPS: Readonly<Record<string, Op>> = {
  propose: writing({
    body: z.object({
      author: Author,
      reason: z.string().min(1).max(2_000),
      changes: z.array(PageChange).min(1).max(500),
      colour: Colour,
      label: Label,
    }).strict(),
    run: ({ store }, patch) => store.patches.propose(patch),
  }),

  patches: reading({
    body: z.object({
      state: z.enum(["proposed", "applied", "rejected", "conflict"]).optional(),
      clearance: Label.default("secret"),
    }).strict(),
    run: ({ store }, { state, clearance }) =>
      store.patches.list(state).filter((patch) => cleared(labelOfPatch(store, patch), clearance)),
  }),

  patch: reading({
    body: z.object({ id: PatchName, clearance: Label.default("secret") }).strict(),
    run: (wiki, { id, clearance }) => {
      const patch = visiblePatch(wiki, id, clearance);
      return { patch, diff: diffOfPatch(wiki, patch) };
    },
  }),

  decide: writing({
    body: z.object({ id: PatchName, apply: z.boolean(), by: By }).strict(),
    run: async (wiki, { id, apply, by }) => {
      visiblePatch(wiki, id, "secret");
      return apply ? await wiki.store.patches.apply(id, by) : wiki.store.patches.reject(id, by);
    },
  }),

  edit: writing({
    body: z.object({
      name: PageName,
      text: z.string().max(1_048_576),
      /** The version the person edited; 0 for a new page. */
      base: z.int().min(0),
      by: By,
    }).strict(),
    run: async ({ store }, { name, text, base, by }) => {
      const page = store.pages.get(name);
      const { draft, problems } = draftOfFile(name, text, page);
      if (problems.length > 0) {
        throw new Fault("invalidInput", `Cannot take the page: ${problems[0]}`, {
          detail: { problems: [...problems] },
        });
      }
      // The operator's own words are BLUE. Not `fresh`, so that the page's previous trust remains.
      const colour = page?.colour ?? "BLUE";
      const label = mixLabel("internal", page?.label ?? "internal");
      const changes: PageChange[] = [{ kind: "write", base, draft, fresh: false }];
      const patch = store.patches.propose({
        ...{ author: by, reason: `Edited by ${by}`, changes, colour, label },
      });
      return await store.patches.apply(patch.id, by);
    },
  }),

  sync: writing({ body: z.null(), run: async (wiki) => await wiki.sync() }),

  review: writing({
    body: z.object({ name: PageName, version: z.int().min(1), by: By }).strict(),
    run: ({ store }, { name, version, by }) => {
      const page = store.pages.get(name);
      if (page === undefined) throw notThere(name);
      if (page.version !== version) {
        throw new Fault(
          "conflict",
          `Cannot review ${
            JSON.stringify(name)
          }: version ${version} was read, it has ${page.version}`,
        );
      }
      store.pages.review(name, version, by);
      return store.pages.get(name) ?? page;
    },
  }),

  mark: writing({
    body: PageMark,
    run: ({ store }, mark) => {
      store.pages.mark(mark);
      const page = store.pages.get(mark.page);
      if (page === undefined) throw notThere(mark.page);
      return page;
    },
  }),
};

// Converts a saved page file to a draft.

/** Characters of a page's body; see {@link PageDraft}. */
const MAX_BODY = 200_000;
/** Lines of other programs' keys; see {@link PageDraft}. */
const MAX_OTHERS = 1_000;

/**
 * Takes kind, title, aliases and confidence from valid front matter, else from the previous page, and keeps
 * other programs' keys. Label, colour and version are never read from a file.
 */
function draftOfFile(
  name: PageName,
  text: string,
  before: StoredPage | undefined,
): { readonly draft: PageDraft; readonly problems: readonly string[] } {
  const read = readPage(text);
  const { front } = read;
  const problems = [...front.problems];
  if (read.body.length > MAX_BODY) problems.push(`it is longer than ${MAX_BODY} characters`);
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
      body: read.body.slice(0, MAX_BODY),
      others: front.others.slice(0, MAX_OTHERS),
    },
  };
}
