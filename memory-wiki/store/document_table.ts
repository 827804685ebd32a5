/** Small durable JSON documents. @module */
import type { Inside } from "./inside.ts";
import { json, text } from "./sqlite/rows.ts";
import type { WikiDocuments } from "./wiki_store.ts";

/** The documents of one wiki. */
export function makeDocuments({ db }: Inside): WikiDocuments {
  return Object.freeze<WikiDocuments>({
    get(name) {
      const row = db.get("SELECT body FROM documents WHERE name = ?", name);
      return row === undefined ? undefined : json(row, "body");
    },
    put(name, value) {
      db.transaction(`keep document "${name}"`, () => {
        const body = JSON.stringify(value ?? null);
        db.run("INSERT OR REPLACE INTO documents(name, body) VALUES(?, ?)", name, body);
      });
    },
    remove(name) {
      db.transaction(
        `remove document "${name}"`,
        () => db.run("DELETE FROM documents WHERE name = ?", name),
      );
    },
    names: (prefix) =>
      db.all(
        "SELECT name FROM documents WHERE name >= ? AND name < ? ORDER BY name",
        prefix,
        `${prefix}\u{10ffff}`,
      ).map((row) => text(row, "name")),
  });
}
