/** Notes of agents by kind: task log, project wiki, user memory. Used by open.ts. @module */
import { Fault } from "../../contracts/base/mod.ts";
import { Note } from "../../contracts/memory/mod.ts";
import { colourNumber, type Inside, labelNumber, trustOf } from "./inside.ts";
import { int, maybeInt, type Row, text } from "./sqlite/database.ts";
import type { NoteTable } from "./wiki_store.ts";

/** Makes the table of one wiki. */
export function makeNoteTable({ db, now, id: newId }: Inside): NoteTable {
  function get(id: string): Note {
    const row = db.get("SELECT * FROM notes WHERE id = ?", id);
    if (row === undefined) throw new Fault("notFound", `Cannot decide note "${id}": there is none`);
    return noteOf(row);
  }

  return Object.freeze<NoteTable>({
    add(note) {
      const parsed = Note.safeParse({ ...note, id: newId("n"), at: now() });
      if (!parsed.success) {
        const why = parsed.error.issues[0]?.message ?? "it is no note";
        throw new Fault("invalidInput", `Cannot keep a note: ${why}`);
      }
      const { id, kind, text, task, agent, colour, label, state, at, expiresAt } = parsed.data;
      db.transaction("keep a note", () =>
        db.insert(
          "INSERT INTO notes(id, kind, text, task, agent, colour, label, state, at, expires_at) VALUES",
          [[
            id,
            kind,
            text.toWellFormed(),
            task,
            agent,
            colourNumber(colour),
            labelNumber(label),
            state,
            at,
            expiresAt ?? null,
          ]],
        ));
      return get(id);
    },
    decide: (id, state, _by) =>
      db.transaction(`decide note "${id}"`, () => {
        const note = get(id);
        if (note.state !== "waiting") {
          throw new Fault("conflict", `Cannot decide note "${id}": it is ${note.state} already`);
        }
        db.run("UPDATE notes SET state = ? WHERE id = ?", state, id);
        return get(id);
      }),
    list({ clearance, kind, agent, task, state, limit = -1 }) {
      return db.all(
        "SELECT * FROM notes WHERE label <= ? AND (expires_at IS NULL OR expires_at > ?) " +
          "AND (?3 = '' OR kind = ?3) AND (?4 IS NULL OR kind <> 'userMemory' OR agent = ?4) " +
          "AND (?5 IS NULL OR task = ?5) AND (?6 = '' OR state = ?6) ORDER BY at, id LIMIT ?7",
        labelNumber(clearance),
        now(),
        kind ?? "",
        agent ?? null,
        task ?? null,
        state ?? "",
        limit,
      ).map(noteOf);
    },
    sweep() {
      const gone = db.transaction(
        "erase expired notes",
        () => db.run("DELETE FROM notes WHERE expires_at <= ?", now()),
      );
      // The WAL contains erased notes until it is truncated.
      if (gone > 0) db.checkpoint();
      return gone;
    },
  });
}

function noteOf(row: Row): Note {
  const expiresAt = maybeInt(row, "expires_at");
  return Object.freeze({
    id: text(row, "id"),
    kind: text(row, "kind") as Note["kind"],
    text: text(row, "text"),
    task: text(row, "task"),
    agent: text(row, "agent"),
    ...trustOf(row),
    state: text(row, "state") as Note["state"],
    at: int(row, "at"),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  });
}
