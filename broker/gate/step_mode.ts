/** Gate step 7: the mode, by policy, flow and guards; and the exact scope of an answer. @module */
import type { AnswerScope, EffectClass } from "../../contracts/authority/mod.ts";
import type { PermissionMode } from "../../contracts/tool/mod.ts";
import { graver, isUsual, type Ruling } from "../defaults.ts";
import type { Guards } from "../guards.ts";
import type { Policy } from "../policy.ts";
import { type CallOrigins, FROM_REQUEST } from "../provenance/judge_origins.ts";
import { type Known, type Read, type Refusal, refuse } from "./parts.ts";
import type { Flow } from "./step_flow.ts";

/** The policy's ruling on a call: the gravest over its paths. */
export function rulingOf(
  known: Known,
  read: Read,
  by: {
    readonly policy: Policy;
    readonly effect: EffectClass;
    readonly origins?: CallOrigins | undefined;
  },
): Ruling {
  const { process, binding, tool } = known;
  const { destination, scopes, changes } = read.resolved;
  const paths: string[] = [];
  for (const scope of scopes) if (scope.resource === "mount") paths.push(scope.path);
  for (const { path } of changes ?? []) paths.push(path);
  return by.policy.decide({
    profile: process.profile,
    phase: process.phase,
    tool,
    category: binding.descriptor.category,
    effect: by.effect,
    paths,
    ...(destination === undefined ? {} : { destination }),
    ...(binding.granted === undefined ? {} : { granted: binding.granted }),
    ...(by.origins === undefined ? {} : { ownBut: by.origins.ownBut }),
  });
}

/** A refusal if the policy forbids the call; it names the rule. */
export function forbidden(known: Known, ruling: Ruling): Refusal | undefined {
  if (ruling.mode !== "forbidden" && ruling.mode !== "suppress") return undefined;
  const how = ruling.why ?? "the operator can change this rule";
  return refuse(7, `Cannot call "${known.tool}": forbidden by ${ruling.rule}; ${how}`, {
    rule: ruling.rule,
  });
}

/** A mode and the rule that decided it. */
export interface Moded {
  readonly mode: Exclude<PermissionMode, "forbidden">;
  readonly rule: string;
  /** Whether a guard, a credential or a crash raised the mode above policy and flow. */
  readonly raised: boolean;
}

/** The gravest mode that policy, flow, guards and recovery require. */
export function modeOf(
  known: Known,
  read: Read,
  wants: {
    readonly ruling: Ruling;
    readonly flow: Flow;
    readonly guards: Guards;
    readonly recovering: boolean;
    readonly origins?: CallOrigins | undefined;
  },
): Moded | Refusal {
  const { tool } = known, { args, resolved } = read;
  const { ruling, flow } = wants;
  let found: Ruling = graver(ruling, flow.floor);
  if (found.mode === "consent" && wants.origins?.passesBut(ruling.except ?? []) === true) {
    found = graver(isUsual(ruling) ? OWN_VALUES : ruling, flow.floorOfBlue);
  }
  let raised = false;
  const raise = (to: Ruling): void => {
    raised = true;
    found = graver(found, to);
  };
  for (const guard of wants.guards.before) {
    const wanted = guard({ tool, args, resolved });
    if (wanted !== undefined) raise(wanted);
  }
  for (const { raises, rule } of read.flags) {
    if (raises !== "advise") raise({ mode: raises, rule });
  }
  if (read.told !== undefined) {
    raise({ mode: "consent", rule: "built-in: a credential would leave" });
  }
  if (wants.recovering) {
    raise({ mode: "consent", rule: "built-in: it may have happened already" });
  }
  const { mode, rule } = found;
  if (mode === "forbidden" || mode === "suppress") {
    return refuse(7, `Cannot call "${tool}": forbidden by ${rule}`, { rule });
  }
  return { mode, rule, raised };
}

const OWN_VALUES: Ruling = Object.freeze({ mode: "auto", rule: FROM_REQUEST });

/** Masks the call's credentials in a text. */
export function tell<T extends string | undefined>(read: Read, text: T): T | string {
  return text === undefined ? text : read.told?.mask(text) ?? text;
}

/** The exact scope of an answer to this call. */
export function scopeOf(
  known: Known,
  read: Read,
  { effect, colour, label }: Pick<Flow, "effect" | "colour" | "label">,
): AnswerScope {
  const destination = tell(read, read.resolved.destination);
  return {
    tool: known.tool,
    descriptor: known.digest,
    arguments: read.told?.hash ?? read.argumentsHash,
    ...(destination === undefined ? {} : { destination }),
    effect,
    colour,
    label,
    session: known.process.session,
  };
}
