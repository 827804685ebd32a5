/** Samples of a kernel's answers about a task: rows, questions, staged changes. @module */
import { join } from "node:path";
import { Question } from "../../contracts/authority/mod.ts";
import { type Json, toJson } from "../../contracts/base/mod.ts";
import type { WatchEvent } from "../../contracts/task/mod.ts";
import type { StagedChange } from "../../contracts/tool/mod.ts";
import { sha256Hex } from "../../port/digest.ts";

/** A task's id. */
export const TASK = "t000000000001";
/** A question's id. */
export const QUESTION = "q000000000001";

/** An event as a kernel sends it. */
export function told(n: number, event: string, body: object, inner?: object): WatchEvent {
  return {
    kind: "event",
    n,
    at: 1_700_000_000_000 + n,
    event,
    body,
    ...(inner === undefined ? {} : { private: inner }),
  };
}

/** A task as a kernel shows it. */
export function taskJson(more: object = {}): Json {
  return toJson({
    id: TASK,
    request: "tidy",
    objective: "tidy",
    session: "s000000000001",
    ingress: { channel: "pipe", principal: "alice", colour: "BLUE", label: "internal" },
    profile: "operator",
    model: "scripted:x.yaml",
    harness: "fake",
    status: "done",
    phase: "work",
    exit: 0,
    answer: "All done.",
    mounts: [],
    limits: LIMITS,
    colour: "BLUE",
    label: "internal",
    questions: [],
    artifacts: [],
    applied: [],
    createdAt: 1,
    updatedAt: 2,
    archived: false,
    purged: false,
    ...more,
  });
}

const LIMITS = {
  inputTokens: 1,
  outputTokens: 1,
  totalTokens: 1,
  contextWindow: 1,
  money: 1,
  wallClockMs: 1,
  generationTimeoutMs: 1,
  toolTimeoutMs: 1,
  iterations: 1,
  toolCalls: 1,
  callsByEffect: {},
  retries: 1,
  resultBytes: 1,
  writtenBytes: 1,
  children: 1,
  depth: 1,
  questions: 1,
  moneyPerMinute: 1,
};

/** A question as a kernel asks it. */
export function question(more: object = {}): Question {
  return Question.parse({
    id: QUESTION,
    task: TASK,
    pid: 2,
    kind: "consent",
    turn: 1,
    scope: {
      tool: "patch_apply",
      descriptor: "a".repeat(64),
      arguments: "b".repeat(64),
      effect: "mutateLocal",
      colour: "RED",
      label: "internal",
      session: "s000000000001",
    },
    argumentsText: "{}",
    summary: "Apply 1 change to desk",
    changes: [],
    executes: [],
    sources: [{ source: "desk/inbox/mail.eml", colour: "RED", label: "internal" }],
    rule: "built-in: changes are reviewed",
    asked: 1,
    createdAt: 1,
    expiresAt: 2,
    state: "open",
    ...more,
  });
}

/** Writes contents into a content folder and gives the change from one to the other. */
export function change(
  folder: string,
  path: string,
  contents: { readonly base?: string | Uint8Array; readonly next?: string | Uint8Array },
): StagedChange {
  const store = (
    given: string | Uint8Array | undefined,
  ): { digest: ReturnType<typeof sha256Hex> } | undefined => {
    if (given === undefined) return undefined;
    const bytes = typeof given === "string" ? new TextEncoder().encode(given) : given;
    const digest = sha256Hex(bytes);
    Deno.writeFileSync(join(folder, digest), bytes);
    return { digest };
  };
  const [base, next] = [store(contents.base), store(contents.next)];
  return {
    path,
    ...(base === undefined ? {} : { base: base.digest }),
    ...(next === undefined ? {} : { next: next.digest }),
    bytes: contents.next?.length ?? 0,
    colour: "YELLOW",
    label: "internal",
  };
}
