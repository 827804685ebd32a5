/** Gate step 3: arguments parsed with limits, checked, their references resolved. @module */
import { Fault } from "../../contracts/base/fault.ts";
import type { Digest } from "../../contracts/authority/mod.ts";
import type { ProcessRow } from "../../contracts/task/mod.ts";
import { canonicalJson } from "../../port/mod.ts";
import { sha256Hex } from "../../port/digest.ts";
import { parseArguments } from "../arguments.ts";
import { argumentsHash } from "../tokens.ts";
import type { Proposal } from "./judge.ts";
import {
  faultOf,
  type JudgeParts,
  type Known,
  OUTCOME_OF,
  type Read,
  type Refusal,
  refuse,
} from "./parts.ts";

const RULE = "built-in: arguments fit the tool's schema";

/** Parses and checks a call's arguments and resolves their references in the current state. */
export function readArguments(
  parts: Pick<JudgeParts, "validators">,
  known: Known,
  { call, shown, before, flags = [] }: Pick<Proposal, "call" | "shown" | "before" | "flags">,
): Read | Refusal {
  const { process, binding, tool, callId, digest } = known;
  if (shown?.lost === true) {
    return invalid(
      tool,
      "a credential in them was kept in memory alone and is no more; read it again, and call anew",
    );
  }
  const parsed = before?.parsed ?? faultOf(() => parseArguments(call.arguments));
  if (parsed instanceof Fault) return invalid(tool, parsed.message);
  const validate = faultOf(() => parts.validators.of(digest, binding.descriptor.paramSchema));
  if (validate instanceof Fault) return refuse(3, validate.message, { rule: RULE });
  const wrong = validate(parsed.args);
  if (wrong !== undefined) return invalid(tool, wrong);
  const resolved = faultOf(() => binding.resolve(parsed.args, process));
  if (resolved instanceof Fault) {
    const outcome = OUTCOME_OF[resolved.code];
    return refuse(3, resolved.message, {
      code: resolved.code,
      outcome: outcome === "executionError" ? "invalidArguments" : outcome,
      rule: "built-in: references name what is there",
    });
  }
  return {
    kind: "read",
    args: parsed.args,
    argumentsText: parsed.text,
    argumentsHash: argumentsHash(parsed.text, resolved.digests),
    // INVARIANT: a digest of a short password would reveal it (test: "… nowhere in the log …").
    told: shown === undefined ? undefined : {
      text: shown.call.arguments,
      hash: argumentsHash(shown.call.arguments, resolved.digests),
      mask: shown.mask,
    },
    flags,
    key: once(() =>
      before?.key ??
        callKey(process, { id: callId, name: tool }, shown?.call.arguments ?? parsed.text)
    ),
    resolved,
  };
}

/**
 * The idempotency key of a call: equal for equal task, conversation, call id and canonical
 * arguments.
 */
export function callKey(
  process: Pick<ProcessRow, "task" | "conversation">,
  call: { readonly id: string; readonly name: string },
  argumentsText: string,
): Digest {
  const { task, conversation } = process;
  // TRUST: the name is a model's; canonical JSON requires well-formed text.
  const name = call.name.toWellFormed();
  return sha256Hex(canonicalJson([task, conversation, call.id, name, argumentsText]));
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

function invalid(tool: string, why: string): Refusal {
  return refuse(3, `Cannot read the arguments of "${tool}": ${why}`, {
    code: "invalidArguments",
    rule: RULE,
  });
}
