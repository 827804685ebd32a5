/** Whether an answer is what the person said to what the person saw. @module */
import { verify } from "node:crypto";
import {
  type Answer,
  type EffectClass,
  Fault,
  type Question,
  toJsonObject,
} from "../contracts/mod.ts";
import { canonicalJson } from "../port/mod.ts";
import { digestOf } from "../port/digest.ts";
import type { Delegations } from "./delegations.ts";
import { publicKey, signatureBytes } from "./public_key.ts";

/** The keys that may answer, raw Ed25519 public keys, base64url. */
export interface AnswerKeys {
  readonly personKey: string;
  readonly stepUpKey?: string | undefined;
  /** Keys that the person let answer consent; absent: none. */
  readonly delegations?: Pick<Delegations, "tryKey">;
}

/** Checks answers against the keys it was made with. */
export interface AnswerCheck {
  /** @throws {Fault} `refused`, or `stepUpFailed` where the passphrase key was needed. */
  check(question: Question, answer: Answer): Signed;
  /** Whether anyone can answer a stepUp question. */
  readonly stepUp: boolean;
}

/** Who stands behind an answer. */
export interface Signed {
  /** Whose delegated key signed it: a raw public key; absent where the person's own did. */
  readonly delegatedBy?: string;
}

/** Effects that an answer covers once only, whatever was asked for. */
const ONCE_ONLY: ReadonlySet<EffectClass> = new Set(["destructive", "admin"]);

/** Makes the check. @throws {Fault} `invalidInput` for a key that is not Ed25519. */
export function makeAnswerCheck(keys: AnswerKeys): AnswerCheck {
  const person = publicKey(keys.personKey);
  const stepUp = keys.stepUpKey === undefined ? undefined : publicKey(keys.stepUpKey);
  const check = (question: Question, answer: Answer): Signed => {
    if (answer.question !== question.id) throw no("it answers another question");
    const withStepUpKey = stepUp !== undefined && answer.key === keys.stepUpKey;
    const own = withStepUpKey ? stepUp : answer.key === keys.personKey ? person : undefined;
    const delegated = own === undefined ? keys.delegations?.tryKey(answer.key) : undefined;
    const key = own ?? delegated?.key;
    if (key === undefined) throw no("its key is not one that may answer here");
    if (!verify(null, signedBytes(answer), key, signatureBytes(answer.signature))) {
      throw no("its signature does not fit");
    }
    if (answer.shown !== digestOf(toJsonObject({ ...question, state: "open" }))) {
      throw no("the question that was shown differs from the one that is open");
    }
    checkSanitized(question, answer);
    if (delegated !== undefined) {
      mayDelegate(question, answer);
      return { delegatedBy: delegated.by };
    }
    if (answer.decision === "deny") return {};
    if (question.kind === "stepUp") {
      if (!withStepUpKey) {
        throw new Fault(
          "stepUpFailed",
          "Cannot take the answer: stepUp needs the passphrase key (`remit key create`)",
        );
      }
      if (answer.channel === "answersFile" || answer.channel === "page") {
        throw no(`stepUp is not answered through ${answer.channel}`);
      }
    }
    if (answer.for === "once") return {};
    if (question.kind !== "consent" || ONCE_ONLY.has(question.scope.effect)) {
      throw no(`an answer to this question is good once, not for the ${answer.for}`);
    }
    if (question.remember === undefined) {
      throw no("this question offers no answer that is remembered");
    }
    return {};
  };
  return Object.freeze({ check, stepUp: stepUp !== undefined });
}

/** A person vouches for contents only where they were on the screen before the yes. docs/decision/0038. */
function checkSanitized({ changes }: Question, { sanitizes, channel, decision }: Answer): void {
  if (sanitizes === undefined) return;
  if (decision !== "allow" || (channel !== "terminal" && channel !== "page")) {
    throw no(`an answer through ${channel} sanitizes nothing`);
  }
  const asked = new Set(changes.map(({ next }) => next));
  if (sanitizes.every((digest) => asked.has(digest))) return;
  throw no("it sanitizes contents that the question does not show");
}

/** What a delegated key may say: yes or no to a consent, once, at the page. Nothing else, not even no. */
function mayDelegate(question: Question, answer: Answer): void {
  if (question.kind !== "consent" || question.scope.effect === "admin") {
    throw no(`a delegated key answers consent alone, and this is ${question.kind}`);
  }
  if (answer.channel !== "page") throw no("a delegated key answers through the page alone");
  if (answer.for !== "once") throw no("an answer of a delegated key is good once");
}

/** What a person's key signs: the canonical JSON of an answer without its signature, UTF-8. */
export function signedBytes(answer: Omit<Answer, "signature">): Uint8Array {
  const { question, shown, decision, sanitizes, say, by, channel, at, key } = answer;
  const said = say === undefined ? {} : { say };
  const sanitized = sanitizes === undefined ? {} : { sanitizes: [...sanitizes] };
  return new TextEncoder().encode(canonicalJson({
    question,
    shown,
    decision,
    for: answer.for,
    ...said,
    ...sanitized,
    by,
    channel,
    at,
    key,
  }));
}

function no(why: string): Fault {
  return new Fault("refused", `Cannot take the answer: ${why}`);
}
