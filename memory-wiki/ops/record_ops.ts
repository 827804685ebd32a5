/** The wiki's log, and notes of agents. @module */
import * as z from "zod";
import { Colour, Label, Millis } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import { NoteKind } from "../../contracts/memory/mod.ts";
import { type Op, reading, writing } from "./op.ts";

const State = z.enum(["kept", "waiting", "rejected"]);
/** Entries of one answer. */
const MAX_LISTED = 1_000;
const NoteId = z.string().regex(/^n[0-9a-z]{12}$/);

/** See the table in contracts/wire/wire_wiki.ts. */
export const RECORD_OPS: Readonly<Record<string, Op>> = {
  log: reading({
    body: z.object({
      afterN: z.int().min(0).optional(),
      limit: z.int().min(1).max(10_000).default(MAX_LISTED),
    }).strict(),
    run: ({ store }, { afterN, limit }) =>
      store.log.list({ limit, ...(afterN === undefined ? {} : { afterN }) }),
  }),

  logVerify: reading({
    body: z.null(),
    run: ({ store }) => ({ problem: store.log.verify() ?? null }),
  }),

  note: writing({
    body: z.object({
      kind: NoteKind,
      text: z.string().min(1).max(8_192),
      task: z.string().max(64),
      agent: z.string().max(64),
      colour: Colour,
      label: Label,
      state: State,
      expiresAt: Millis.optional(),
    }).strict(),
    run: ({ store }, { expiresAt, ...note }) => {
      const added = store.notes.add(expiresAt === undefined ? note : { ...note, expiresAt });
      // The log has no label of its own, so it records that a note exists, not its text.
      const text = `${added.kind} ${added.id}, ${added.state}`;
      store.log.append({ kind: "note", by: `task:${added.task}`, text });
      return added;
    },
  }),

  notes: reading({
    body: z.object({
      clearance: Label,
      kind: NoteKind.optional(),
      agent: z.string().max(64).optional(),
      task: z.string().max(64).optional(),
      state: State.optional(),
      limit: z.int().min(1).max(MAX_LISTED).default(200),
    }).strict(),
    run: ({ store }, { clearance, limit, kind, agent, task, state }) =>
      store.notes.list({
        ...{ clearance, limit },
        ...(kind === undefined ? {} : { kind }),
        ...(agent === undefined ? {} : { agent }),
        ...(task === undefined ? {} : { task }),
        ...(state === undefined ? {} : { state }),
      }),
  }),

  noteDecide: writing({
    body: z.object({ id: NoteId, keep: z.boolean(), by: z.string().min(1).max(128) }).strict(),
    run: ({ store }, { id, keep, by }) => {
      const waiting = store.notes.list({ clearance: "secret", state: "waiting" });
      if (!waiting.some((note) => note.id === id)) {
        throw new Fault("notFound", `Cannot decide note ${JSON.stringify(id)}: none waits so`);
      }
      const note = store.notes.decide(id, keep ? "kept" : "rejected", by);
      store.log.append({ kind: "note", by, text: `${note.id} ${note.state}` });
      return note;
    },
  }),
};
