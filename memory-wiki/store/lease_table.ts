/** Claims on pages: coordination, never a right to write. @module */
import { Fault } from "../../contracts/base/mod.ts";
import type { PageName } from "../../contracts/memory/mod.ts";
import type { Inside } from "./inside.ts";
import { text } from "./sqlite/database.ts";
import type { PageLeases } from "./wiki_store.ts";

/** Longest lease, milliseconds. */
const MAX_MS = 86_400_000;

/** Who holds a page now. */
export function liveLease({ db, now }: Inside, page: PageName): string | undefined {
  const row = db.get("SELECT owner FROM leases WHERE page = ? AND until > ?", page, now());
  return row === undefined ? undefined : text(row, "owner");
}

/** The leases of one wiki. */
export function makePageLeases(inside: Inside): PageLeases {
  const { db, now } = inside;
  return Object.freeze<PageLeases>({
    claim(page, owner, ms) {
      db.transaction(`claim page "${page}"`, () => {
        const held = liveLease(inside, page);
        if (held !== undefined && held !== owner) {
          throw new Fault("conflict", `Cannot claim page "${page}": "${held}" holds it`, {
            detail: { owner: held },
          });
        }
        const until = now() + Math.min(Math.max(0, ms), MAX_MS);
        db.run("DELETE FROM leases WHERE until <= ?", now());
        db.run(
          "INSERT OR REPLACE INTO leases(page, owner, until) VALUES(?, ?, ?)",
          page,
          owner,
          until,
        );
      });
    },
    release(page, owner) {
      db.transaction(`release page "${page}"`, () => {
        db.run("DELETE FROM leases WHERE page = ? AND owner = ?", page, owner);
      });
    },
    owner: (page) => liveLease(inside, page),
  });
}
