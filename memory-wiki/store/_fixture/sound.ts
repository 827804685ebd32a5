/** Whether a wiki is consistent: nothing half written, nothing promised lost. @module */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { sha256Hex } from "../../../port/digest.ts";
import type { WikiSource } from "../../../contracts/memory/mod.ts";
import type { WikiStore } from "../wiki_store.ts";
import type { Rig } from "./wiki_rig.ts";

function fileDigest(path: string): string | undefined {
  try {
    return sha256Hex(Deno.readFileSync(path));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Before any repair: every page file is its newest version or the previous one, byte by byte. */
export function assertNoHalfPage(rig: Rig): void {
  const db = new DatabaseSync(`${rig.stateFolder}/wiki.db`);
  const rows = db.prepare(
    "SELECT name, version, digest, deleted FROM page_versions ORDER BY name, version",
  )
    .all();
  const versions = new Map<string, (string | undefined)[]>();
  for (const { name, digest, deleted } of rows) {
    const file = deleted === 1 ? undefined : String(digest);
    versions.set(String(name), [...versions.get(String(name)) ?? [undefined], file]);
  }
  for (const [name, digests] of versions) {
    const found = fileDigest(`${rig.folder}/pages/${name}.md`);
    assert.ok(
      digests.slice(-2).includes(found),
      `page ${name} is half or older than the version before`,
    );
  }
  db.close();
}

/** The lines of raw/sources.jsonl. */
export function catalogueOf(rig: Rig): readonly Record<string, unknown>[] {
  return Deno.readTextFileSync(`${rig.folder}/raw/sources.jsonl`).split("\n").filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** The last line of every version gives its state. */
function assertCatalogue(rig: Rig, sources: readonly WikiSource[]): void {
  if (sources.length === 0) return;
  const last = new Map(catalogueOf(rig).map((line) => [`${line["version"]} ${line["key"]}`, line]));
  assert.equal(last.size, sources.length);
  for (const { key, version, digest, raw, text, state, colour, label } of sources) {
    const line = last.get(`${version} ${key}`) ?? assert.fail(`${key} is not in the catalogue`);
    const shown = ["digest", "raw", "text", "state", "colour", "label"].map((name) => line[name]);
    assert.deepEqual(shown, [digest, raw, text, state, colour, label]);
  }
}

/** Checks after opening. */
export async function assertSound(rig: Rig, store: WikiStore): Promise<void> {
  for (const page of store.pages.list({ clearance: "secret" })) {
    const found = fileDigest(`${rig.folder}/pages/${page.name}.md`);
    assert.equal(found, page.digest, `page ${page.name} is not its newest version`);
    assert.equal(sha256Hex(store.pages.text(page.name) ?? ""), page.digest);
  }
  const sources = store.sources.list({});
  for (const source of sources) assert.ok(await store.sources.intact(source), source.raw);
  assertCatalogue(rig, sources);
  assert.equal(store.log.verify(), undefined);
  assert.deepEqual(await store.pages.sync(), { taken: [], removed: [], problems: [] });
  const db = new DatabaseSync(`${rig.stateFolder}/wiki.db`);
  const one = (sql: string) => Object.values(db.prepare(sql).get() ?? {})[0];
  assert.equal(one("PRAGMA integrity_check"), "ok");
  assert.equal(one("SELECT count(*) FROM pending"), 0);
  let indexed = 0;
  for (const label of ["public", "internal", "secret"]) {
    db.exec(`INSERT INTO chunks_${label}(chunks_${label}) VALUES('integrity-check')`);
    indexed += Number(one(`SELECT count(*) FROM chunks_${label}_docsize`));
  }
  assert.equal(one("SELECT count(*) FROM chunks"), indexed);
  assert.equal(one("SELECT total(chunks) FROM labels"), indexed);
  assert.equal(one("SELECT total(chunks) FROM sources WHERE state = 0"), indexed);
  db.close();
}
