/** `wiki_propose`: a page as an agent would have it, shown whole to a person. @module */
import { mixColour, mixLabel } from "../../contracts/colour.ts";
import { Fault } from "../../contracts/fault.ts";
import type { TaskId } from "../../contracts/ids.ts";
import { type Json, type JsonObject, toJson } from "../../contracts/json.ts";
import type { GrantedCall, PowerResult, Resolved, ToolBinding } from "../../contracts/power.ts";
import type { ProcessRow } from "../../contracts/process.ts";
import { PageChange } from "../../contracts/wiki_page.ts";
import {
  CheckedDraft,
  LOOK_MS,
  type MemoryParts,
  memoryScope,
  Patched,
  readAnswer,
  textOf,
  WRITE_MS,
} from "./answers.ts";
import { MEMORY_DESCRIPTORS } from "./descriptors.ts";

const RESULT_BYTES = 16_384;
/** Drafts whose look is kept until they are decided. */
const KEPT = 32;

/** The tool, and the look at a draft that is taken before it is decided. */
export interface Proposing {
  readonly binding: ToolBinding;
  /** Looks at what a call would change, so that the question can say it. Never rejects. */
  prepare(
    call: { readonly name: string; readonly arguments: string },
    task: TaskId,
    signal: AbortSignal,
  ): Promise<void>;
}

/** Binds it for a task. */
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
    // Whether a page that may not be seen is in the way is not for the agent to learn.
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
        if (looks.size >= KEPT) looks.clear();
        looks.set(keyOf(change), checked);
      } catch {
        // The gate says what is wrong with a call; without a look the question says less.
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

/** @throws Fault `invalidArguments` */
function changeOf(args: JsonObject): Extract<PageChange, { kind: "write" }> {
  const { name, title, kind, body, base, aliases = [] } = args;
  const parsed = PageChange.safeParse({
    kind: "write",
    base,
    // What stood before was read by someone: what it was stays with the page.
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
