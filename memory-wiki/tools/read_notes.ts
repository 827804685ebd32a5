/** Notes of agents, as lines that are read: `memory/project`, `memory/user`, `memory/tasks/ID`. @module */
import type { JsonObject } from "../../contracts/json.ts";
import { toJson } from "../../contracts/json.ts";
import type { PowerResult } from "../../contracts/power.ts";
import { Notes, readAnswer } from "./answers.ts";
import { LOOK_MS, type MemoryParts, numberOf } from "./parts.ts";
import { marks, sourcesOf, taintOf } from "./shown.ts";

/** Which notes a name means, and under which scope they are read. */
export interface NotesPlace {
  readonly scope: string;
  /** What the wiki's process is asked beside the clearance. */
  readonly query: JsonObject;
}

const NOTES = 50;
const TASK = /^[a-z0-9]{1,64}$/;

/** The notes that a name means for an agent; undefined when it names a page or a source. */
export function notesPlace(name: string, agent: string): NotesPlace | undefined {
  const [root, kind, which, ...rest] = name.split("/");
  if (root !== "memory" || rest.length > 0) return undefined;
  if (kind === "project" && which === undefined) {
    return { scope: "wiki", query: { kind: "projectWiki", state: "kept" } };
  }
  if (kind === "tasks" && (which === undefined || TASK.test(which))) {
    const of = which === undefined ? {} : { task: which };
    return { scope: "log", query: { kind: "taskLog", state: "kept", ...of } };
  }
  if (kind !== "user") return undefined;
  // Another agent's are named by a scope that nobody is granted.
  const whose = which ?? agent;
  return { scope: `user/${whose}`, query: { kind: "userMemory", state: "kept", agent: whose } };
}

/** Reads them, newest first. */
export async function readNotes(
  { ask, memory }: MemoryParts,
  { query }: NotesPlace,
  { args, signal }: { readonly args: JsonObject; readonly signal: AbortSignal },
): Promise<PowerResult> {
  const limit = numberOf(args, "lines", NOTES);
  const body = { clearance: memory.clearance, limit, ...query };
  const notes = readAnswer(Notes, await ask("notes", body, { signal, deadlineMs: LOOK_MS }));
  const lines = notes.map((note) =>
    `${new Date(note.at).toISOString().slice(0, 16)} task ${note.task}, agent ${note.agent} ` +
    `${marks(note)}: ${note.text}`
  );
  return {
    content: lines.length === 0 ? "There are no notes of that kind." : lines.join("\n"),
    ...taintOf(notes),
    sources: sourcesOf(notes.map((note) => ({ ...note, file: `note ${note.id}` }))),
    value: toJson(notes),
  };
}
