/**
 * The tool `wiki_propose`, which shows a whole page to a person, and the tool `memory_note`, which writes at once.
 * @module
 */
import { mixColour, mixLabel } from "../../contracts/authority/colour.ts";
import { Fault } from "../../contracts/base/fault.ts";
import type { TaskId } from "../../contracts/authority/ids.ts";
import { type Json, type JsonObject, toJson } from "../../contracts/base/json.ts";
import type {
  GrantedCall,
  PowerResult,
  Resolved,
  ToolBinding,
} from "../../contracts/task/power.ts";
import type { ProcessRow } from "../../contracts/task/process.ts";
import { NoteKind } from "../../contracts/memory/wiki.ts";
import { PageChange } from "../../contracts/memory/wiki_page.ts";
import {
  CheckedDraft,
  LOOK_MS,
  type MemoryParts,
  memoryScope,
  Note,
  Notes,
  Patched,
  readAnswer,
  textOf,
  WRITE_MS,
} from "./answers.ts";
import { MEMORY_DESCRIPTORS } from "./descriptors.ts";

const RESULT_BYTES = 16_384;
/** Checked drafts cached until they are decided. */
const MAX_CHECKED = 32;

/** The tool, and the check of a draft before it is decided. */
export interface Proposing {
  readonly binding: ToolBinding;
  /** Checks what a call would change, so that the question can state it. Never rejects. */
  prepare(
    call: { readonly name: string; readonly arguments: string },
    task: TaskId,
    signal: AbortSignal,
  ): Promise<void>;
}

export function bindProposing(parts: MemoryParts): Proposing {
  const { memory } = parts;
  const looks = new Map<string, CheckedDraft>();

  const look = async (
    change: PageChange,
    task: TaskId,
    signal: AbortSignal,
  ): Promise<CheckedDraft> => {
    const body = { clearance: memory.clearance, change: toJson(change), author: authorOf(task) };
    return readAnswer(
      CheckedDraft,
      await parts.ask("check", body, { signal, deadlineMs: LOOK_MS }),
    );
  };

  const propose = async (granted: GrantedCall, signal: AbortSignal): Promise<PowerResult> => {
    const { args, task, resolved } = granted;
    const { colour = "RED", label = "secret" } = resolved;
    const change = changeOf(args);
    const writing = { signal, deadlineMs: WRITE_MS, writes: true };
    const checked = await look(change, task, signal);
    const { id, state } = checked.same ?? readAnswer(
      Patched,
      await parts.ask("propose", {
        ...{ author: authorOf(task), reason: textOf(args, "reason"), colour, label },
        changes: [toJson(change)],
      }, writing),
    );
    const taint = { colour, label, sources: [] };
    // The agent must not learn whether a hidden page is in the way.
    if (!checked.seen || memory.review.includes("projectWiki")) {
      return {
        ...taint,
        content: `Proposed as ${id}; it waits for a person's review ("remit wiki review").`,
        value: toJson({ patch: id, state: "proposed" }),
        written: id,
      };
    }
    const patch = state !== "proposed" ? { state, conflicts: undefined } : readAnswer(
      Patched,
      await parts.ask("decide", { id, apply: true, by: "operator" }, writing),
    );
    if (patch.state !== "applied") throw conflictOf(id, change, patch);
    return {
      ...taint,
      content: `Written: ${textOf(args, "name")} version ${change.base + 1} (${id}).\n` +
        uncitedText(checked),
      value: toJson({ patch: id, state: patch.state, uncited: checked.uncited }),
      observed: `${change.base}`,
      written: `${change.base + 1}`,
      writtenBytes: new TextEncoder().encode(textOf(args, "body")).length,
    };
  };

  const binding = Object.freeze<ToolBinding>({
    descriptor: MEMORY_DESCRIPTORS.wiki_propose,
    effect: "mutateLocal",
    ...{ deadlineMs: 2 * WRITE_MS, resultBytes: RESULT_BYTES },
    resolve(args, process): Resolved {
      const change = changeOf(args);
      return {
        scopes: [memoryScope("write", "wiki")],
        effect: "mutateLocal",
        destination: "memory:wiki",
        digests: {},
        ...{ colour: process.colour, label: process.label },
        summary: summaryOf(change, looks.get(keyOf(change)), process),
        idempotent: true,
      };
    },
    async invoke(granted, signal): Promise<PowerResult> {
      parts.redeem(granted);
      return await propose(granted, signal);
    },
  });

  return Object.freeze<Proposing>({
    binding,
    async prepare(call, task, signal): Promise<void> {
      if (call.name !== binding.descriptor.name) return;
      try {
        const change = changeOf(JSON.parse(call.arguments));
        const checked = await look(change, task, signal);
        if (looks.size >= MAX_CHECKED) looks.clear();
        looks.set(keyOf(change), checked);
      } catch {
        // The gate reports an invalid call; without a check the question only says less.
      }
    },
  });
}

/** A page's author, as its history shows it. */
function authorOf(task: TaskId): string {
  return `task:${task}`;
}

function keyOf(change: PageChange): string {
  return JSON.stringify(change);
}

/** Parses the change that a call proposes. @throws Fault `invalidArguments` */
function changeOf(args: JsonObject): Extract<PageChange, { kind: "write" }> {
  const { name, title, kind, body, base, aliases = [] } = args;
  const parsed = PageChange.safeParse({
    kind: "write",
    base,
    // Not `fresh`: the agent may have read the previous version, whose trust remains.
    fresh: false,
    draft: { name, title, kind, body, aliases, confidence: "low" },
  });
  if (parsed.success && parsed.data.kind === "write") return parsed.data;
  const [issue] = parsed.error?.issues ?? [];
  throw new Fault(
    "invalidArguments",
    `Cannot propose a page: ${issue?.path.map(String).join(".")}: ${issue?.message}`,
  );
}

function summaryOf(
  { base, draft }: Extract<PageChange, { kind: "write" }>,
  checked: CheckedDraft | undefined,
  process: Pick<ProcessRow, "colour" | "label">,
): string {
  const how = base === 0 ? "a new page" : `over version ${base}`;
  const lines = draft.body.split("\n").length;
  if (checked === undefined) return `Write wiki page "${draft.name}" (${how}): ${lines} lines`;
  const { found, plus, minus, citations, holding, uncited } = checked;
  const moved = found === base
    ? ""
    : found === 0
    ? "; that page is not there any more"
    : `; version ${found} stands now, so it will not be applied`;
  const colour = mixColour(checked.colour, process.colour);
  const label = mixLabel(checked.label, process.label);
  return `Write wiki page "${draft.name}" (${how}${moved}): +${plus} −${minus} lines, ` +
    `${holding} of ${citations} citations hold, ${statements(uncited)} uncited; ` +
    `it becomes ${colour}, ${label}`;
}

function statements(count: number): string {
  return count === 1 ? "1 statement" : `${count} statements`;
}

function uncitedText({ uncited, uncitedTexts, citations, holding }: CheckedDraft): string {
  const broken = citations - holding;
  return [
    `${holding} of ${citations} citations hold.`,
    ...(broken === 0 ? [] : [`${broken} name lines or bytes that are not there.`]),
    ...(uncited === 0 ? [] : [
      `Without a citation that holds, and so uncited: ${statements(uncited)}:`,
      ...uncitedTexts.map((text) => `- ${text}`),
    ]),
  ].join("\n");
}

function conflictOf(
  id: string,
  { base }: PageChange,
  { state, conflicts = [] }: {
    readonly state: string;
    readonly conflicts?:
      | readonly { readonly page: string; readonly found: number; readonly by: string }[]
      | undefined;
  },
): Fault {
  const [first] = conflicts;
  const why = first === undefined
    ? `it is ${state}`
    : `"${first.page}" is at version ${first.found}, by ${first.by}, and your base is ${base}`;
  const detail: JsonObject = { patch: id, conflicts: toJson(conflicts) as Json };
  return new Fault("conflict", `Cannot write the page: ${why}; read it again and propose anew`, {
    detail,
  });
}

// `memory_note`: an agent's note, decided by its kind.

const DAY_MS = 86_400_000;
/** Default retention of a task log. */
const TASK_LOG_DAYS = 90;
const NOTE_RESULT_BYTES = 4_096;
/** Notes of a task searched for a duplicate. */
const MAX_COMPARED = 1_000;

const PLACES: Readonly<Record<NoteKind, string>> = {
  taskLog: "the task log",
  projectWiki: "the project's memory",
  userMemory: "what this agent remembers of you",
};

export function bindNotes(parts: MemoryParts): ToolBinding {
  const { memory, agent } = parts;
  const scopeOf = (kind: NoteKind): string =>
    kind === "userMemory" ? `user/${agent}` : kind === "taskLog" ? "log" : "wiki";

  const keep = async (granted: GrantedCall, signal: AbortSignal): Promise<PowerResult> => {
    const kind = NoteKind.parse(granted.args["kind"]), text = textOf(granted.args, "text");
    const { colour = "RED", label = "secret" } = granted.resolved;
    const { task } = granted;
    // The same text again, after a crash or by a repeating model, is one note.
    const query = { clearance: memory.clearance, kind, task, agent, limit: MAX_COMPARED };
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
    ...{ deadlineMs: WRITE_MS, resultBytes: NOTE_RESULT_BYTES },
    resolve(args, { colour, label }): Resolved {
      const kind = NoteKind.parse(args["kind"]);
      const bytes = new TextEncoder().encode(textOf(args, "text")).length;
      return {
        scopes: [memoryScope("write", scopeOf(kind))],
        // A task's own log is staged; other kinds are memory that later tasks trust.
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
