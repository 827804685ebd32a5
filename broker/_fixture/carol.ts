/** The person at the keyboard: her keys, and the answers that she signs. @module */
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import type { Answer, Question } from "../../contracts/authority/mod.ts";
import { toJsonObject } from "../../contracts/base/mod.ts";
import { digestOf } from "../../port/digest.ts";
import { signedBytes } from "../answer_check.ts";

/** An Ed25519 pair; `raw` is the public half, base64url. */
export interface Keys {
  readonly raw: string;
  readonly secret: KeyObject;
}

/** Makes a key pair. */
export function makeKeys(): Keys {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  return { raw: String(publicKey.export({ format: "jwk" }).x), secret: privateKey };
}

/** The person's key for consent. */
export const CAROL = makeKeys();
/** Her key for stepUp. */
export const CAROL_STEP_UP = makeKeys();
/** Id of the kernel, as its receipt key names it. */
export const KERNEL_KEY = makeKeys().raw;

/** The signed answer "allow, once" to `question`, with changes. */
export function signed(
  question: Question,
  at: number,
  { change, key }: { readonly change: Partial<Answer>; readonly key: Keys },
): Answer {
  const answer = {
    question: question.id,
    shown: digestOf(toJsonObject({ ...question, state: "open" })),
    decision: "allow" as const,
    for: "once" as const,
    by: "carol",
    channel: "terminal" as const,
    at,
    key: key.raw,
    ...change,
  };
  const signature = sign(null, signedBytes(answer), key.secret);
  return {
    ...answer,
    signature: new Uint8Array(signature).toBase64({ alphabet: "base64url", omitPadding: true }),
  };
}
