/** Configured rules: which of them say something about a subject. @module */
import type { EffectClass, Phase, PlacedRule, Profile } from "../contracts/mod.ts";
import { graver, type Ruling } from "./defaults.ts";
import { foldPath } from "../text/path_list.ts";
import { type Glob, makeGlob } from "./glob.ts";

/** What a rule is asked about. */
export interface Subject {
  readonly profile: Profile;
  readonly phase: Phase;
  readonly tool: string;
  readonly category: string;
  readonly effect: EffectClass;
  /** `MOUNT/relative`; empty when the call names none. */
  readonly paths: readonly string[];
  readonly destination?: string;
  /** The operator let the tool reach out when they took it in. */
  readonly granted?: boolean;
}

type Fit = "no" | "folded" | "exact";

interface Condition {
  readonly exact: readonly Glob[];
  readonly folded: readonly Glob[];
}

/** A rule with its globs compiled. */
export interface CompiledRule {
  readonly ruling: Ruling;
  /** Says nothing about paths and destinations, so it holds for every call of its tools. */
  readonly general: boolean;
  /** Compares everything but path and destination. */
  fitsTool(subject: Subject): boolean;
  /** `folded`: matches only when case and Unicode forms are ignored. */
  fits(subject: Subject, path: string | undefined): Fit;
}

/** Compiles a rule. */
export function compileRule(rule: PlacedRule): CompiledRule {
  const tool = condition(rule.tool), category = condition(rule.category);
  const path = condition(rule.path), destination = condition(rule.destination);
  const profiles = list(rule.profile), phases = list(rule.phase), effects = list(rule.effect);
  const ruling: Ruling = Object.freeze({
    mode: rule.mode,
    rule: rule.at,
    ...(rule.why === undefined ? {} : { why: rule.why }),
  });
  const fitsTool = (subject: Subject): boolean =>
    (profiles === undefined || profiles.includes(subject.profile)) &&
    (phases === undefined || phases.includes(subject.phase)) &&
    (effects === undefined || effects.includes(subject.effect)) &&
    fit(tool, subject.tool) === "exact" && fit(category, subject.category) === "exact";
  const fits = (subject: Subject, at: string | undefined): Fit => {
    if (!fitsTool(subject)) return "no";
    const where = fit(path, at), to = fit(destination, subject.destination);
    if (where === "no" || to === "no") return "no";
    return where === "exact" && to === "exact" ? "exact" : "folded";
  };
  const general = path === undefined && destination === undefined;
  return Object.freeze({ ruling, general, fitsTool, fits });
}

/**
 * What the rules say about one path: any matching forbid, else the first match, else `fallback`.
 * A rule that matches only when case is ignored can raise the mode and never lower it: whether two
 * such names are one file is for the file system to say.
 */
export function firstMatch(
  rules: readonly CompiledRule[],
  subject: Subject,
  options: { readonly path: string | undefined; readonly fallback: Ruling },
): Ruling {
  let first: Ruling | undefined;
  let floor: Ruling | undefined;
  for (const rule of rules) {
    const fitting = rule.fits(subject, options.path);
    if (fitting === "no") continue;
    if (rule.ruling.mode === "forbidden" || rule.ruling.mode === "suppress") return rule.ruling;
    if (first !== undefined) continue;
    if (fitting === "exact") first = rule.ruling;
    else floor = floor === undefined ? rule.ruling : graver(floor, rule.ruling);
  }
  const found = first ?? options.fallback;
  return floor === undefined ? found : graver(found, floor);
}

function list<T extends string>(value: T | readonly T[] | undefined): readonly T[] | undefined {
  return typeof value === "string" ? [value] : value;
}

function condition(value: string | readonly string[] | undefined): Condition | undefined {
  const globs = list(value);
  if (globs === undefined) return undefined;
  return { exact: globs.map(makeGlob), folded: globs.map((glob) => makeGlob(foldPath(glob))) };
}

function fit(condition: Condition | undefined, text: string | undefined): Fit {
  if (condition === undefined) return "exact";
  if (text === undefined) return "no";
  if (condition.exact.some((glob) => glob.matches(text.split("/")))) return "exact";
  const parts = foldPath(text).split("/");
  return condition.folded.some((glob) => glob.matches(parts)) ? "folded" : "no";
}
