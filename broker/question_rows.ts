/** Questions as the store keeps them, and the events that tell of them. @module */
import {
  type Answer,
  type DocumentRow,
  type DocumentWrite,
  Fault,
  type NewEvent,
  Question,
  toJsonObject,
} from "../contracts/mod.ts";
import type { Signed } from "./answer_check.ts";

/** A question's document; undefined when it was erased. @throws Fault `storeCorrupt` */
export function questionIn(row: DocumentRow): Question | undefined {
  if (row.body["erased"] === true) return undefined;
  const parsed = Question.safeParse(row.body["question"]);
  if (parsed.success) return parsed.data;
  throw new Fault("storeCorrupt", `Cannot read question "${row.id}": ${parsed.error.message}`);
}

/** A question as the document that follows `version`. */
export function documentOf(question: Question, version: number, answer?: Answer): DocumentWrite {
  return {
    kind: "question",
    id: question.id,
    task: question.task,
    expect: version,
    body: {
      question: toJsonObject(question),
      ...(answer === undefined ? {} : { answer: toJsonObject(answer) }),
    },
  };
}

/** What is left of a document when its task's content is erased. */
export function erased({ kind, id, task, version }: DocumentRow): DocumentWrite {
  return { kind, id, task, expect: version, body: { erased: true } };
}

/** Says that it was asked. */
export function askedEvent(question: Question): NewEvent {
  const { id, pid, kind, turn, asked, expiresAt, rule } = question;
  const { tool, effect, colour, label, descriptor } = question.scope;
  return {
    kind: "questionAsked",
    body: {
      question: id,
      pid,
      kind,
      ...(question.callId === undefined ? {} : { call: question.callId }),
      turn,
      asked,
      expiresAt,
      rule,
      tool,
      effect,
      colour,
      label,
      descriptor,
    },
    private: { question: toJsonObject(question) },
  };
}

/** Says how it was closed; `answered` undefined: by nobody. */
export function answeredEvent(
  question: Question,
  answered: { readonly answer: Answer; readonly signed: Signed } | undefined,
): NewEvent {
  const { id, state, kind } = question;
  if (answered === undefined) {
    return { kind: "questionAnswered", body: { question: id, state, kind } };
  }
  const { answer, signed } = answered;
  const { decision, by, channel, key, signature, shown } = answer;
  return {
    kind: "questionAnswered",
    body: { question: id, state, kind, decision, for: answer.for, by, channel, key, ...signed },
    private: {
      shown,
      signature,
      at: answer.at,
      ...(answer.say === undefined ? {} : { say: answer.say }),
    },
  };
}
