/** Signs a person's decision. @module */
import type { Answer, Question } from "../../contracts/authority/mod.ts";
import { toJson } from "../../contracts/base/mod.ts";
import { canonicalJson } from "../../port/mod.ts";
import { digestOf } from "../../port/digest.ts";
import type { Signer } from "../../config/key/person_key_powers.ts";

/** A person's decision, and how it was given. */
export interface Verdict {
  readonly decision: Answer["decision"];
  readonly for: Answer["for"];
  readonly say?: string | undefined;
  /** Digests of new contents that the person saw whole before deciding. */
  readonly sanitizes?: Answer["sanitizes"];
  readonly by: string;
  readonly channel: Answer["channel"];
}

/** Signs a verdict on exactly the question as shown. `at` is milliseconds since 1970. */
export function signAnswer(
  question: Question,
  verdict: Verdict,
  options: { readonly signer: Signer; readonly at: number },
): Answer {
  const unsigned = {
    question: question.id,
    shown: digestOf(toJson({ ...question, state: "open" })),
    decision: verdict.decision,
    for: verdict.for,
    ...(verdict.say === undefined || verdict.say === ""
      ? {}
      : { say: verdict.say.slice(0, 2_000) }),
    ...(verdict.decision !== "allow" || (verdict.sanitizes ?? []).length === 0
      ? {}
      : { sanitizes: verdict.sanitizes }),
    by: verdict.by,
    channel: verdict.channel,
    at: options.at,
    key: options.signer.key,
  };
  return { ...unsigned, signature: options.signer.sign(canonicalJson(toJson(unsigned))) };
}
