/** Valid answers, in this kernel's memory only; void after a restart. @module */
import { cleared, colourSuffices } from "../contracts/authority/colour.ts";
import type { Digest, QuestionId, TaskId } from "../contracts/authority/ids.ts";
import type { Answer, AnswerScope, Question } from "../contracts/authority/question.ts";

/** A valid answer and its scope. */
export interface Grant {
  readonly question: QuestionId;
  readonly task: TaskId;
  readonly kind: Question["kind"];
  readonly decision: "allow" | "deny";
  readonly for: "once" | "turn" | "session";
  readonly scope: AnswerScope;
  readonly turn: number;
  readonly callId: string | undefined;
  /** In words, for `remit grants`. */
  readonly covers: string;
  readonly say: string | undefined;
  /** Contents shown in full, which the answer sanitizes. */
  readonly sanitizes: readonly Digest[];
  readonly by: string;
  readonly channel: Answer["channel"];
  readonly at: number;
}

/** A call in search of an answer. */
export interface LiveCall {
  readonly task: TaskId;
  readonly turn: number;
  readonly callId: string;
  readonly scope: AnswerScope;
  /** The kind of answer that the call needs. */
  readonly needs: "consent" | "stepUp" | "recovery";
}

/** The valid answers. */
export interface Grants {
  remember(question: Question, answer: Answer): void;
  /** The answer to a call: a denial first, else one that allows exactly this call. */
  find(live: LiveCall): Grant | undefined;
  /** Uses an answer, and removes it if it is valid once. False if the answer is no longer valid. */
  use(question: QuestionId): boolean;
  /** Restores an answer used for a call that then did not start. */
  restore(grant: Grant): void;
  list(task?: TaskId): readonly Grant[];
  revoke(question: QuestionId): boolean;
  /** Drops a task's answers except those for its session. */
  forgetTask(task: TaskId): void;
}

const MAX_GRANTS = 10_000;

/** Makes an empty table of answers. */
export function makeGrants(): Grants {
  const table = new Map<QuestionId, Grant>();
  const restore = (grant: Grant): void => {
    if (table.size >= MAX_GRANTS) {
      for (const oldest of table.keys()) {
        table.delete(oldest);
        break;
      }
    }
    table.set(grant.question, grant);
  };
  const drop = (unwanted: (grant: Grant) => boolean): void => {
    for (const grant of [...table.values()]) if (unwanted(grant)) table.delete(grant.question);
  };
  return Object.freeze({
    restore,
    remember: (question: Question, answer: Answer) => {
      restore(Object.freeze({
        question: question.id,
        task: question.task,
        kind: question.kind,
        decision: answer.decision,
        for: answer.for,
        scope: question.scope,
        turn: question.turn,
        callId: question.callId,
        covers: answer.for === "once" ? "this call" : question.remember ?? "this call",
        say: answer.say,
        sanitizes: answer.sanitizes ?? [],
        by: answer.by,
        channel: answer.channel,
        at: answer.at,
      }));
    },
    find: (live: LiveCall) => {
      let allowing: Grant | undefined;
      for (const grant of table.values()) {
        if (!reaches(grant, live)) continue;
        if (grant.decision === "deny") return grant;
        if (allowing === undefined && allows(grant, live)) allowing = grant;
      }
      return allowing;
    },
    use: (question: QuestionId) => {
      const grant = table.get(question);
      if (grant?.for === "once") table.delete(question);
      return grant !== undefined;
    },
    list: (task?: TaskId) =>
      [...table.values()].filter((grant) => task === undefined || grant.task === task),
    revoke: (question: QuestionId) => table.delete(question),
    forgetTask: (task: TaskId) => drop((grant) => grant.task === task && grant.for !== "session"),
  });
}

/** Whether an answer applies to the same act in its turn or session. */
function reaches(grant: Grant, live: LiveCall): boolean {
  const { scope } = grant;
  if (scope.session !== live.scope.session || scope.tool !== live.scope.tool) return false;
  if (scope.arguments !== live.scope.arguments) return false;
  if (scope.destination !== live.scope.destination) return false;
  if (grant.for === "session") return true;
  if (grant.task !== live.task) return false;
  if (grant.for === "turn") return grant.turn === live.turn;
  // A denial holds for its turn; after the person's next message the same call may be asked about again.
  return grant.callId === live.callId &&
    (grant.decision === "allow" || grant.turn === live.turn);
}

/**
 * INVARIANT: a lower colour or higher label than the person saw is never covered
 * (test: "… never allows more …").
 */
function allows(grant: Grant, live: LiveCall): boolean {
  const fits = grant.kind === live.needs || (grant.kind === "stepUp" && live.needs === "consent");
  return fits && covers(grant.scope, live.scope);
}

/** Whether the act that a person saw is still the act that would happen. */
export function covers(seen: AnswerScope, live: AnswerScope): boolean {
  return seen.tool === live.tool && seen.descriptor === live.descriptor &&
    seen.arguments === live.arguments && seen.destination === live.destination &&
    seen.effect === live.effect && seen.session === live.session &&
    colourSuffices(live.colour, seen.colour) && cleared(live.label, seen.label);
}
