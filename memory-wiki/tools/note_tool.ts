/** `memory_note`: what an agent wishes to remember, decided by its kind. @module */
import { toJson } from "../../contracts/json.ts";
import type { GrantedCall, PowerResult, Resolved, ToolBinding } from "../../contracts/power.ts";
import { NoteKind } from "../../contracts/wiki.ts";
import {
  LOOK_MS,
  type MemoryParts,
  memoryScope,
  Note,
  Notes,
  readAnswer,
  textOf,
  WRITE_MS,
} from "./answers.ts";
import { MEMORY_DESCRIPTORS } from "./descriptors.ts";

const DAY_MS = 86_400_000;
/** Days that a task log is kept where nobody says. */
const TASK_LOG_DAYS = 90;
const RESULT_BYTES = 4_096;
/** Notes of one task that are looked through for the same words. */
const SAME = 1_000;

const PLACES: Readonly<Record<NoteKind, string>> = {
  taskLog: "the task log",
  projectWiki: "the project's memory",
  userMemory: "what this agent remembers of you",
};

/** Binds it for a task. */
export function bindNotes(parts: MemoryParts): ToolBinding {
  const { memory, agent } = parts;
  const scopeOf = (kind: NoteKind): string =>
    kind === "userMemory" ? `user/${agent}` : kind === "taskLog" ? "log" : "wiki";

  const keep = async (granted: GrantedCall, signal: AbortSignal): Promise<PowerResult> => {
    const kind = NoteKind.parse(granted.args["kind"]), text = textOf(granted.args, "text");
    const { colour = "RED", label = "secret" } = granted.resolved;
    const { task } = granted;
    // The same words again, after a crash or by a model that repeats itself, are one note.
    const query = { clearance: memory.clearance, kind, task, agent, limit: SAME };
    const before = readAnswer(
      Notes,
      await parts.ask("notes", query, { signal, deadlineMs: LOOK_MS }),
    ).find((note) => note.text === text && note.colour === colour && note.label === label);
    const expires = kind === "taskLog"
      ? { expiresAt: parts.now() + (memory.retention.taskLog ?? TASK_LOG_DAYS) * DAY_MS }
      : {};
    const state = memory.review.includes(kind) ? "waiting" : "kept";
    const note = before ?? readAnswer(
      Note,
      await parts.ask("note", { kind, text, task, agent, colour, label, state, ...expires }, {
        ...{ signal, deadlineMs: WRITE_MS, writes: true },
      }),
    );
    const content = note.state === "kept"
      ? `Kept in ${PLACES[kind]} as ${note.id}.`
      : note.state === "waiting"
      ? `Waits for a person's review as ${note.id}; it is not remembered before.`
      : `A person has rejected this note (${note.id}).`;
    return {
      ...{ content, colour, label, sources: [], written: note.id },
      value: toJson({ id: note.id, state: note.state }),
      writtenBytes: new TextEncoder().encode(text).length,
    };
  };

  return Object.freeze<ToolBinding>({
    descriptor: MEMORY_DESCRIPTORS.memory_note,
    effect: "stage",
    ...{ deadlineMs: WRITE_MS, resultBytes: RESULT_BYTES },
    resolve(args, { colour, label }): Resolved {
      const kind = NoteKind.parse(args["kind"]);
      const bytes = new TextEncoder().encode(textOf(args, "text")).length;
      return {
        scopes: [memoryScope("write", scopeOf(kind))],
        // A task's own log says what the task did; the rest is memory that later tasks believe.
        effect: kind === "taskLog" ? "stage" : "mutateLocal",
        destination: `memory:${kind}`,
        digests: {},
        ...{ colour, label },
        summary: `Remember in ${PLACES[kind]}: ${bytes} bytes, kept as ${colour}, ${label}` +
          (memory.review.includes(kind) ? "; then waits for your review" : ""),
        idempotent: true,
      };
    },
    async invoke(granted, signal): Promise<PowerResult> {
      parts.redeem(granted);
      return await keep(granted, signal);
    },
  });
}
