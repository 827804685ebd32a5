/** Checks that an answer is signed by a permitted key and refers to the question as it was shown. @module */
import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { type Delegation, delegationClaim } from "../contracts/base/delegation.ts";
import { Fault } from "../contracts/base/fault.ts";
import { toJsonObject } from "../contracts/base/json.ts";
import type { Answer, EffectClass, Question } from "../contracts/authority/mod.ts";
import { digestOf } from "../port/digest.ts";
import { canonicalJson } from "../port/mod.ts";

/** The keys that may answer, raw Ed25519 public keys, base64url. */
interface AnswerKeys {
  readonly personKey: string;
  readonly stepUpKey?: string | undefined;
  /** Keys that the person delegated consent questions to; absent: none. */
  readonly delegations?: Pick<Delegations, "tryKey">;
}

/** Checks answers against the keys given to {@link makeAnswerCheck}. */
interface AnswerCheck {
  /** @throws {Fault} `refused`, or `stepUpFailed` where the passphrase key was needed. */
  check(question: Question, answer: Answer): Signed;
  /** Whether there is a key for stepUp questions. */
  readonly stepUp: boolean;
}

/** The signer of an answer. */
export interface Signed {
  /** Public key of the person who delegated the signing key; absent where the person's own key signed. */
  readonly delegatedBy?: string;
}

/** Effects that an answer allows only once, whatever period it names. */
const ONCE_ONLY: ReadonlySet<EffectClass> = new Set(["destructive", "admin"]);

/** Makes a check for these keys. @throws {Fault} `invalidInput` for a key that is not Ed25519. */
export function makeAnswerCheck(keys: AnswerKeys): AnswerCheck {
  const person = publicKey(keys.personKey);
  const stepUp = keys.stepUpKey === undefined ? undefined : publicKey(keys.stepUpKey);
  const check = (question: Question, answer: Answer): Signed => {
    if (answer.question !== question.id) throw refusal("it answers another question");
    const withStepUpKey = stepUp !== undefined && answer.key === keys.stepUpKey;
    const own = withStepUpKey ? stepUp : answer.key === keys.personKey ? person : undefined;
    const delegated = own === undefined ? keys.delegations?.tryKey(answer.key) : undefined;
    const key = own ?? delegated?.key;
    if (key === undefined) throw refusal("its key is not one that may answer here");
    if (!verify(null, signedBytes(answer), key, signatureBytes(answer.signature))) {
      throw refusal("its signature does not fit");
    }
    if (answer.shown !== digestOf(toJsonObject({ ...question, state: "open" }))) {
      throw refusal("the question that was shown differs from the one that is open");
    }
    checkSanitized(question, answer);
    if (delegated !== undefined) {
      checkDelegated(question, answer);
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
        throw refusal(`stepUp is not answered through ${answer.channel}`);
      }
    }
    if (answer.for === "once") return {};
    if (question.kind !== "consent" || ONCE_ONLY.has(question.scope.effect)) {
      throw refusal(`an answer to this question is good once, not for the ${answer.for}`);
    }
    if (question.remember === undefined) {
      throw refusal("this question offers no answer that is remembered");
    }
    return {};
  };
  return Object.freeze({ check, stepUp: stepUp !== undefined });
}

/** A person sanitizes only contents that were on the screen before the answer. docs/decision/0038. */
function checkSanitized({ changes }: Question, { sanitizes, channel, decision }: Answer): void {
  if (sanitizes === undefined) return;
  if (decision !== "allow" || (channel !== "terminal" && channel !== "page")) {
    throw refusal(`an answer through ${channel} sanitizes nothing`);
  }
  const asked = new Set(changes.map(({ next }) => next));
  if (sanitizes.every((digest) => asked.has(digest))) return;
  throw refusal("it sanitizes contents that the question does not show");
}

/** A delegated key may allow or deny a consent question, once, on the page; nothing else, not even a denial. */
function checkDelegated(question: Question, answer: Answer): void {
  if (question.kind !== "consent" || question.scope.effect === "admin") {
    throw refusal(`a delegated key answers consent alone, and this is ${question.kind}`);
  }
  if (answer.channel !== "page") throw refusal("a delegated key answers through the page alone");
  if (answer.for !== "once") throw refusal("an answer of a delegated key is good once");
}

/** The bytes that a person's key signs: the canonical JSON of an answer without its signature, UTF-8. */
export function signedBytes(answer: Omit<Answer, "signature">): Uint8Array {
  const { question, shown, decision, sanitizes, say, by, channel, at, key } = answer;
  const signed = {
    question,
    shown,
    decision,
    for: answer.for,
    say,
    sanitizes,
    by,
    channel,
    at,
    key,
  };
  return new TextEncoder().encode(canonicalJson(toJsonObject(signed)));
}

function refusal(why: string): Fault {
  return new Fault("refused", `Cannot take the answer: ${why}`);
}

/** Parses a raw Ed25519 public key, base64url. @throws {Fault} `invalidInput` */
export function publicKey(raw: string): KeyObject {
  try {
    return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: raw }, format: "jwk" });
  } catch (cause) {
    throw new Fault("invalidInput", "Cannot take a key that answers: not a raw Ed25519 key", {
      cause,
    });
  }
}

/** Parses a signature, base64url. @throws {Fault} `refused` */
export function signatureBytes(text: string): Uint8Array {
  try {
    return Uint8Array.fromBase64(text, { alphabet: "base64url" });
  } catch (cause) {
    throw new Fault("refused", "Cannot take the answer: its signature is not base64url", { cause });
  }
}

// Delegated keys answer consent questions for the person for a limited time and exist only in this
// kernel's memory. The page of `remit serve` signs with one. contracts/wire/wire_control.ts.
// A delegated key may also answer for tasks that peers, webhooks and hosts started: it belongs to
// the operator and is made by the operator's own program. The party that requested an action has no
// such key, so nobody answers their own question.

/** Whether `key`, a raw Ed25519 public key in base64url, signed this text. */
export function isSignedBy(key: string, text: string, signature: string): boolean {
  return verify(null, new TextEncoder().encode(text), publicKey(key), signatureBytes(signature));
}

/** Maximum lifetime of a delegated key, milliseconds. */
const DELEGATION_MS = 7 * 24 * 60 * 60_000;
/** Maximum number of valid delegated keys. */
const MAX_DELEGATIONS = 16;

/** The keys and the clock that delegations are checked with. */
interface DelegationParts {
  /** The person's consent key: raw Ed25519 public key, base64url. */
  readonly personKey: string;
  readonly stepUpKey?: string | undefined;
  /** This kernel's receipt key, which binds a delegation to its state folder. Without it no key is delegated. */
  readonly kernelKey?: string | undefined;
  now(): number;
}

/** A valid delegated key. */
interface DelegatedKey {
  readonly key: KeyObject;
  /** Raw public key of the person who delegated, base64url. */
  readonly by: string;
}

/** The delegated keys of one kernel. */
export interface Delegations {
  /** @throws {Fault} `refused` for a wrong signature or a lifetime that is over or too long; `rateLimited`. */
  delegate(given: Delegation): void;
  undelegate(key: string): void;
  /** Undefined for a key that is not delegated or has expired. */
  tryKey(key: string): DelegatedKey | undefined;
}

/** An empty table of delegations; it ends with the kernel. */
export function makeDelegations(parts: DelegationParts): Delegations {
  const { personKey, stepUpKey, kernelKey, now } = parts;
  const keys = new Map<string, { readonly key: KeyObject; readonly expiresAt: number }>();
  const prune = (): void => {
    for (const [raw, { expiresAt }] of keys) if (expiresAt <= now()) keys.delete(raw);
  };
  return Object.freeze<Delegations>({
    delegate({ key: raw, expiresAt, signature }): void {
      if (kernelKey === undefined) throw undelegable("this kernel takes none");
      if (raw === personKey || raw === stepUpKey) throw undelegable("it is a key of the person");
      const claim = canonicalJson(delegationClaim({ key: raw, expiresAt, kernel: kernelKey }));
      const signed = new TextEncoder().encode(claim);
      if (!verify(null, signed, publicKey(personKey), signatureBytes(signature))) {
        throw undelegable(
          "its signature is not the person's, over this key, this time and this kernel",
        );
      }
      if (expiresAt <= now()) throw undelegable("its time is over");
      if (expiresAt > now() + DELEGATION_MS) {
        throw undelegable("it would live for more than seven days");
      }
      prune();
      if (!keys.has(raw) && keys.size >= MAX_DELEGATIONS) {
        throw new Fault("rateLimited", `Cannot delegate a key: ${MAX_DELEGATIONS} live`);
      }
      keys.set(raw, { key: publicKey(raw), expiresAt });
    },
    undelegate: (raw) => void keys.delete(raw),
    tryKey(raw): DelegatedKey | undefined {
      const found = keys.get(raw);
      if (found === undefined || found.expiresAt <= now()) return undefined;
      return { key: found.key, by: personKey };
    },
  });
}

function undelegable(why: string): Fault {
  return new Fault("refused", `Cannot delegate a key: ${why}`);
}
