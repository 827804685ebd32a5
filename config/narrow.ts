/**
 * Narrows a policy by a file that nobody vouched for. Rules are read as "forbid wins, then first match, then the built-in
 * default", so:
 *
 * - `forbidden` and `suppress` go to the front;
 * - `stepUp` goes to the front, for effects whose default is known to be milder;
 * - `consent` goes behind the last trusted rule that asks for more;
 * - any other rule is left out, with a note.
 * @module
 */
import { cleared, type EffectClass, type Label } from "../contracts/authority/mod.ts";
import type { PlacedRule, PolicySource, RemitConfig } from "../contracts/policy/mod.ts";
import { DEFAULT_LIMITS, type Limits, Profile } from "../contracts/task/mod.ts";
import type { ConfigFile } from "./text.ts";

const MILDER_THAN_STEP_UP: readonly EffectClass[] = ["read", "stage", "mutateLocal"];
const MILDER_THAN_CONSENT: readonly EffectClass[] = ["read", "stage"];

function narrowedEffects(
  rule: PlacedRule,
  milder: readonly EffectClass[],
): EffectClass[] {
  const asked = rule.effect === undefined ? milder : [rule.effect].flat();
  return milder.filter((each) => asked.includes(each));
}

/** The rule, limited to the operator's profile and these effects; undefined when nothing remains. */
function tighten(rule: PlacedRule, milder: readonly EffectClass[]): PlacedRule | undefined {
  const profiles = rule.profile === undefined ? ["operator"] : [rule.profile].flat();
  const effect = narrowedEffects(rule, milder);
  // Guests and strangers meet built-in refusals, which an earlier rule would hide.
  if (effect.length === 0 || !profiles.includes("operator")) return undefined;
  return { ...rule, profile: "operator", effect };
}

interface Rules {
  readonly front: PlacedRule[];
  readonly consent: PlacedRule[];
  readonly notes: string[];
}

function sortRules(rules: readonly PlacedRule[]): Rules {
  const sorted: Rules = { front: [], consent: [], notes: [] };
  for (const rule of rules) {
    if (rule.mode === "forbidden" || rule.mode === "suppress") {
      sorted.front.push(rule);
      continue;
    }
    const milder = rule.mode === "stepUp" ? MILDER_THAN_STEP_UP : MILDER_THAN_CONSENT;
    const tight = rule.mode === "auto" ? undefined : tighten(rule, milder);
    if (tight === undefined) sorted.notes.push(`${rule.at}: a rule "${rule.mode}" could widen`);
    else if (rule.mode === "stepUp") sorted.front.push(tight);
    else sorted.consent.push(tight);
  }
  return sorted;
}

function placeRules(trusted: readonly PlacedRule[], rules: Rules): PlacedRule[] {
  const last = trusted.findLastIndex((rule) => rule.mode !== "auto");
  return [
    ...rules.front,
    ...trusted.slice(0, last + 1),
    ...rules.consent,
    ...trusted.slice(last + 1),
  ];
}

function narrowLimits(have: Partial<Limits>, wish: Partial<Limits>): Partial<Limits> {
  const limits: Record<string, unknown> = { ...have };
  for (const [name, value] of Object.entries(wish)) {
    if (typeof value === "number") {
      const now = Object.entries({ ...DEFAULT_LIMITS, ...have }).find(([key]) => key === name)?.[1];
      limits[name] = typeof now === "number" ? Math.min(now, value) : value;
    }
  }
  if (wish.callsByEffect !== undefined) {
    const calls: Record<string, number> = {
      ...DEFAULT_LIMITS.callsByEffect,
      ...have.callsByEffect,
    };
    for (const [effect, most] of Object.entries(wish.callsByEffect)) {
      calls[effect] = Math.min(calls[effect] ?? most, most);
    }
    limits["callsByEffect"] = calls;
  }
  return limits as Partial<Limits>;
}

function narrowClearance(
  have: Readonly<Record<string, Label>>,
  file: ConfigFile,
  notes: string[],
): Record<string, Label> {
  const clearance: Record<string, Label> = { ...have };
  for (const [sink, wish] of Object.entries(file.config.clearance ?? {})) {
    const now = have[sink];
    // The default of a sink that no file names is unknown here: only the lowest label surely narrows it.
    if (wish === "public" || (now !== undefined && cleared(wish, now))) clearance[sink] = wish;
    else notes.push(`${file.at(["clearance", sink])}: a clearance could widen`);
  }
  return clearance;
}

const WIDENING = [
  "model",
  "models",
  "embedder",
  "modelKeys",
  "agents",
  "toolKeys",
  "commands",
  "guards",
] as const;
const REACH = ["none", "local", "remote"] as const;
/** What a profile may use without a setting (contracts/policy/policy.ts, `modelsFor`). */
const BY_DEFAULT = { operator: "remote", guest: "local", anonymous: "local" } as const;

/** The keys that a file sets: a parser gives the others as undefined, which must not replace a weaker layer's value. */
export function defined<T extends object>(
  wish: T | undefined,
): { readonly [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(
    Object.entries(wish ?? {}).filter(([, value]) => value !== undefined),
  ) as { readonly [Key in keyof T]?: Exclude<T[Key], undefined> };
}

function narrowModelsFor(
  have: PolicySource["modelsFor"],
  wish: PolicySource["modelsFor"],
): PolicySource["modelsFor"] {
  const entries = Profile.options.map((profile) => {
    const now = have[profile] ?? BY_DEFAULT[profile];
    const asked = wish[profile] ?? now;
    return [profile, REACH.indexOf(asked) < REACH.indexOf(now) ? asked : now] as const;
  });
  return Object.fromEntries(entries);
}

/** Narrows `policy` by an untrusted file. INVARIANT: no call that was refused or asked about becomes freer. */
export function narrowPolicy(
  policy: PolicySource,
  file: ConfigFile,
): { readonly policy: PolicySource; readonly notes: readonly string[] } {
  const { config } = file;
  const rules = sortRules(file.rules);
  const notes = rules.notes;
  for (const key of WIDENING) {
    if (config[key] !== undefined) notes.push(`${file.at([key])}: "${key}" could widen`);
  }
  if (config.browser?.engine === "chromium" || config.browser?.profiles !== undefined) {
    notes.push(`${file.at(["browser"])}: "browser" could widen`);
  }
  if (config.selfConsent === true) notes.push(`${file.at(["selfConsent"])}: "selfConsent" widens`);
  const never = (config.never ?? []).map((glob, n) => ({ glob, at: file.at(["never", n]) }))
    .filter(({ glob, at }) => {
      if (glob.startsWith("!")) notes.push(`${at}: an exception of the never-list could widen`);
      return !glob.startsWith("!");
    });
  const resultBytes: Record<string, number> = { ...policy.resultBytes };
  for (const [tool, { resultBytes: wish }] of Object.entries(config.tools ?? {})) {
    const now = policy.resultBytes[tool];
    if (wish !== undefined && now !== undefined) resultBytes[tool] = Math.min(now, wish);
  }
  return {
    policy: {
      rules: placeRules(policy.rules, rules),
      never: [...policy.never, ...never],
      clearance: narrowClearance(policy.clearance, file, notes),
      limits: narrowLimits(policy.limits, config.limits as Partial<Limits> | undefined ?? {}),
      strict: policy.strict || config.strict === true,
      selfConsent: policy.selfConsent && config.selfConsent !== false,
      resultBytes,
      ...budgetsOf(policy, config),
      modelsFor: config.modelsFor === undefined
        ? policy.modelsFor
        : narrowModelsFor(policy.modelsFor, defined(config.modelsFor)),
    },
    notes,
  };
}

/** Joins budgets of every layer, trusted or not: a budget only limits. */
export function budgetsOf(
  { budgets = [] }: Pick<PolicySource, "budgets">,
  config: Pick<RemitConfig, "budgets">,
): Pick<PolicySource, "budgets"> {
  const all = [...budgets, ...config.budgets ?? []];
  return all.length === 0 ? {} : { budgets: all };
}
