/** The built-in policy, and the forbids that no rule can lift. @module */
import { PHASE_FORBIDS } from "../contracts/task/task.ts";
import type { EffectClass } from "../contracts/authority/mod.ts";
import type { Phase, Profile } from "../contracts/task/mod.ts";
import type { PermissionMode } from "../contracts/tool/mod.ts";

/** A policy's decision on a subject, and its place (`FILE:LINE` or `built-in: NAME`). */
export interface Ruling {
  readonly mode: PermissionMode | "suppress";
  readonly rule: string;
  /** Explanation for people and for the agent. */
  readonly why?: string;
  /** Arguments that the rule ignores. */
  readonly except?: readonly string[];
}

const NETWORK: Ruling = Object.freeze({
  mode: "forbidden",
  rule: "built-in: network forbidden until granted",
});

/** The ruling for ungranted network access; `why` names the line of remit.yaml that would allow it with consent. */
function ungranted(effect: EffectClass, destination: string | undefined): Ruling {
  const where = destination === undefined ? "" : `, destination: ${JSON.stringify(destination)}`;
  return {
    ...NETWORK,
    why: `ask the operator for a rule in remit.yaml, rules: [{ effect: ${effect}${where}, ` +
      "mode: consent }]",
  };
}

/** Ruling for each effect class where no rule matches. */
const DEFAULT_RULINGS: Readonly<Record<EffectClass, Ruling>> = Object.freeze({
  read: { mode: "auto", rule: "built-in: reading mounts is free" },
  stage: { mode: "auto", rule: "built-in: staging is free" },
  mutateLocal: { mode: "consent", rule: "built-in: changes are reviewed" },
  outboundRead: NETWORK,
  outboundWrite: NETWORK,
  destructive: { mode: "stepUp", rule: "built-in: what cannot be undone needs stepUp" },
  admin: { mode: "stepUp", rule: "built-in: administration needs stepUp" },
});

const GRANTED: Ruling = Object.freeze({
  mode: "consent",
  rule: "built-in: what a reviewed server sends is asked about",
});

/** Whether a ruling is the default for a local change or for a call of a reviewed server. */
export function isUsual(ruling: Ruling): boolean {
  return ruling === GRANTED || ruling === DEFAULT_RULINGS.mutateLocal;
}

/** The ruling for a call that no rule matches. */
export function defaultRuling(
  { effect, granted = false, destination }: {
    readonly effect: EffectClass;
    readonly granted?: boolean;
    readonly destination?: string;
  },
): Ruling {
  const ruling = DEFAULT_RULINGS[effect];
  if (ruling !== NETWORK) return ruling;
  return granted ? GRANTED : ungranted(effect, destination);
}

/** A forbid that no rule can lift: by phase, for administration, for guests and anonymous sessions. */
export function standingForbid(subject: {
  readonly profile: Profile;
  readonly phase: Phase;
  readonly tool: string;
  readonly effect: EffectClass;
}): Ruling | undefined {
  const { profile, phase, tool, effect } = subject;
  if (effect === "admin" && profile !== "operator") {
    return forbid(
      "built-in: administration only for the operator",
      "the operator can do it with `remit` at their own terminal",
    );
  }
  if (profile === "anonymous" && effect !== "read") {
    return forbid("built-in: anonymous only reads", "sign in, or ask the operator to do it");
  }
  if (profile === "guest" && (effect === "outboundRead" || effect === "outboundWrite")) {
    return forbid("built-in: guests send nothing", "ask the operator to do it");
  }
  const taken = PHASE_FORBIDS[phase];
  if (taken.includes(effect) || taken.includes(tool)) {
    return forbid(
      `built-in: phase ${phase}`,
      `the task is in phase "${phase}"; propose it in words and wait for phase "work"`,
    );
  }
  return undefined;
}

function forbid(rule: string, why: string): Ruling {
  return { mode: "forbidden", rule, why };
}

const GRAVITY = ["auto", "consent", "stepUp", "forbidden", "suppress"] as const;

/** The graver of two rulings; the first when they are equally grave. */
export function graver<T extends { readonly mode: PermissionMode | "suppress" }>(a: T, b: T): T {
  return GRAVITY.indexOf(b.mode) > GRAVITY.indexOf(a.mode) ? b : a;
}

/** The lighter of two rulings; the first when they are equally grave. */
export function lighter(a: Ruling, b: Ruling): Ruling {
  return GRAVITY.indexOf(b.mode) < GRAVITY.indexOf(a.mode) ? b : a;
}
