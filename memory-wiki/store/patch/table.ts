/** Patches in the database. Used by memory-wiki/store/open.ts. @module */
import { Fault } from "../../../contracts/base/mod.ts";
import { type PagePatch, PatchName } from "../../../contracts/memory/mod.ts";
import { changed, type Inside } from "../inside.ts";
import { checkPictures, settle, settlePages } from "../settle.ts";
import type { PatchTable } from "../wiki_store.ts";
import { applyPatch, stagePatch } from "./apply.ts";
import { checkChanges, decidePatch, patchById, patchOf, putPatch } from "./check.ts";

/** Makes the table of one wiki. */
export function makePatchTable(inside: Inside): PatchTable {
  const { db, folder, now, id: newId } = inside;

  function known(id: string): PagePatch {
    const patch = patchById(inside, id);
    if (patch === undefined) {
      throw new Fault("notFound", `Cannot decide patch "${id}": there is none`);
    }
    return patch;
  }

  /** A patch that is not decided yet. Within a transaction. */
  function open(id: string): PagePatch {
    const patch = known(id);
    if (patch.state === "proposed" || patch.state === "conflict") return patch;
    throw new Fault("conflict", `Cannot decide patch "${id}": it is ${patch.state} already`);
  }

  async function apply(id: string, by: string): Promise<PagePatch> {
    checkPictures(inside);
    settlePages(inside);
    const at = now();
    const patch = open(id);
    const staged = await stagePatch(inside, patch, { by, at });
    let used = false;
    try {
      db.transaction(`apply patch "${id}"`, () => {
        // Another process may have decided the patch, or left files to write.
        open(id);
        settlePages(inside);
        applyPatch(inside, patch, { by, at, staged });
        changed(db, "sources");
      });
      used = true;
    } finally {
      if (!used || known(id).state !== "applied") {
        for (const file of staged.files.values()) folder.remove(file);
      }
    }
    settle(inside);
    return known(id);
  }

  return Object.freeze<PatchTable>({
    propose({ author, reason, changes, colour, label }) {
      const patch: PagePatch = Object.freeze({
        id: PatchName.parse(newId("w")),
        author: author.slice(0, 256).toWellFormed() || "nobody",
        reason: reason.slice(0, 1_000).toWellFormed(),
        changes: checkChanges(inside, changes),
        colour,
        label,
        state: "proposed",
        createdAt: now(),
      });
      db.transaction("propose a patch", () => {
        putPatch(inside, patch);
        changed(db, "sources");
      });
      return patch;
    },
    get: (id) => patchById(inside, id),
    list: (state) =>
      (state === undefined
        ? db.all("SELECT * FROM patches ORDER BY created_at, id")
        : db.all("SELECT * FROM patches WHERE state = ? ORDER BY created_at, id", state))
        .map(patchOf),
    apply,
    reject(id, by) {
      db.transaction(`reject patch "${id}"`, () => {
        open(id);
        decidePatch(inside, id, { state: "rejected", by });
        changed(db, "sources");
      });
      return known(id);
    },
  });
}
