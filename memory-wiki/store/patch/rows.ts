/** Rows of the table `patches`. @module */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type {
  PageChange,
  PageConflict,
  PageName,
  PagePatch,
  PatchName,
} from "../../../contracts/mod.ts";
import { colourNumber, type Inside, labelNumber, trustOf } from "../inside.ts";
import { bytes, int, json, type Row, text } from "../sqlite/rows.ts";

/** Most of a patch's changes, JSON bytes. */
const PATCH_BYTES = 256 * 1_048_576;
const encoder = new TextEncoder();

/** A patch by its name. */
export function patchById({ db }: Inside, id: string): PagePatch | undefined {
  const row = db.get("SELECT * FROM patches WHERE id = ?", id);
  return row === undefined ? undefined : patchOf(row);
}

/** A stored patch. */
export function patchOf(row: Row): PagePatch {
  const changes = new TextDecoder().decode(
    inflateRawSync(bytes(row, "changes"), { maxOutputLength: PATCH_BYTES }),
  );
  return Object.freeze({
    id: text(row, "id") as PatchName,
    author: text(row, "author"),
    reason: text(row, "reason"),
    changes: JSON.parse(changes) as readonly PageChange[],
    ...trustOf(row),
    state: text(row, "state") as PagePatch["state"],
    createdAt: int(row, "created_at"),
    ...(row["decided"] === null
      ? {}
      : { decided: json(row, "decided") as NonNullable<PagePatch["decided"]> }),
    ...(row["conflicts"] === null
      ? {}
      : { conflicts: json(row, "conflicts") as readonly PageConflict[] }),
  });
}

/** Writes a proposed patch. */
export function putPatch({ db }: Inside, patch: PagePatch): void {
  const changes = encoder.encode(JSON.stringify(patch.changes));
  db.insert(
    "INSERT INTO patches(id, author, reason, changes, colour, label, state, created_at) VALUES",
    [[
      patch.id,
      patch.author,
      patch.reason,
      deflateRawSync(changes, { level: 3 }),
      colourNumber(patch.colour),
      labelNumber(patch.label),
      patch.state,
      patch.createdAt,
    ]],
  );
}

/** Writes what became of a patch. */
export function decidePatch(
  { db, now }: Inside,
  id: string,
  decision: {
    readonly state: PagePatch["state"];
    readonly by: string;
    readonly conflicts?: readonly PageConflict[];
  },
): void {
  db.run(
    "UPDATE patches SET state = ?, decided = ?, conflicts = ? WHERE id = ?",
    decision.state,
    JSON.stringify({ by: decision.by, at: now() }),
    decision.conflicts === undefined ? null : JSON.stringify(decision.conflicts),
    id,
  );
}

/** The page that a change is about. */
export function pageOfChange(change: PageChange): PageName {
  return change.kind === "write" ? change.draft.name : change.name;
}
