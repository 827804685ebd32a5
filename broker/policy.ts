/** Policy: the mode of a call, the never-list, clearances. @module */
import { Fault } from "../contracts/base/fault.ts";
import type { EffectClass, Label } from "../contracts/authority/colour.ts";
import type { PlacedRule, PolicySource } from "../contracts/policy/policy.ts";
import type { Phase, Profile } from "../contracts/task/task.ts";
import {
  foldPath,
  makePathList,
  NEVER,
  type PlacedGlob,
  remembering,
  wild,
} from "../text/path_list.ts";
import { defaultRuling, graver, lighter, type Ruling, standingForbid } from "./defaults.ts";
import { type JudgeModel, makeModelPolicy } from "./model_policy.ts";
import { executesLater, NEVER_WRITE } from "./never.ts";

/** The policy's decisions. Pure: the same question has the same answer until the policy is replaced. */
export interface Policy {
  /** The mode of a call, by the gravest of its paths. */
  decide(subject: Subject): Ruling;
  /** The lightest mode that any call of a tool can have; shown in its descriptor. */
  offered(subject: Subject): Ruling;
  /** The never-list's entry for a path `MOUNT/relative`; no rule can lift it. */
  never(path: string, right: "read" | "write"): PlacedGlob | undefined;
  /** Globs of the never-list, for the walls behind the gate. */
  neverGlobs(right: "read" | "write"): readonly string[];
  /** Whether a session of this profile may send text of this label to a model. */
  readonly modelAllowed: JudgeModel;
  /** The most confidential label that a sink may receive. */
  clearance(destination: string): Label;
  /** Whether a file is executed later (CI, package.json, hooks). */
  executes(path: string): boolean;
  /** Maximum bytes of a tool's result, if remit.yaml sets it. */
  resultBytes(tool: string): number | undefined;
  /** Refuse instead of asking where the colour is too low. */
  readonly strict: boolean;
  readonly selfConsent: boolean;
}

const MAX_RULES = 1_000;

/**
 * Makes the policy from the merged layers.
 * @throws {Fault} `tooLarge` for more than 1,000 rules.
 * @example
 * ```ts
 * import { NO_POLICY } from "../contracts/policy/mod.ts";
 * import { makePolicy } from "./policy.ts";
 * if (makePolicy(NO_POLICY).never("desk/keys.env", "read") === undefined) throw new Error("read");
 * ```
 */
export function makePolicy(source: PolicySource): Policy {
  if (source.rules.length > MAX_RULES) {
    throw new Fault("tooLarge", `Cannot read the policy: more than ${MAX_RULES} rules`);
  }
  const rules = source.rules.map(compileRule);
  const byPath = source.rules.some((rule) => rule.path !== undefined);
  const lists = neverLists(source);
  const clearances = new Map(
    Object.entries(source.clearance).map(([sink, label]) => [sink.toLowerCase(), label]),
  );

  const rulingAt = (subject: Subject, path: string | undefined): Ruling =>
    firstMatch(rules, subject, { path, fallback: defaultRuling(subject) });

  const clearance = (destination: string): Label =>
    clearances.get(destination.toLowerCase()) ?? defaultClearance(destination);

  return Object.freeze({
    strict: source.strict,
    selfConsent: source.selfConsent,
    clearance,
    executes: executesLater,
    resultBytes: (tool: string) =>
      Object.hasOwn(source.resultBytes, tool) ? source.resultBytes[tool] : undefined,
    never: (path: string, right: "read" | "write") => lists[right].find(path),
    neverGlobs: (right: "read" | "write") => lists[right].globs,
    decide: (subject: Subject): Ruling => {
      const forbid = standingForbid(subject);
      if (forbid !== undefined) return forbid;
      if (rules.length === 0) return defaultRuling(subject);
      if (!byPath || subject.paths.length === 0) return rulingAt(subject, undefined);
      return subject.paths.map((path) => rulingAt(subject, path)).reduce(graver);
    },
    offered: (subject: Subject): Ruling => {
      const forbid = standingForbid(subject);
      if (forbid !== undefined) return forbid;
      const fitting = rules.filter((rule) => rule.fitsTool(subject));
      const general = fitting.filter((rule) => rule.general).map((rule) => rule.ruling);
      const ban = general.find(({ mode }) => mode === "suppress") ??
        general.find(({ mode }) => mode === "forbidden");
      if (ban !== undefined) return ban;
      const usual = general[0] ?? defaultRuling(subject);
      const lifting = fitting.filter((rule) => !rule.general).map((rule) => rule.ruling)
        .filter(({ mode }) => mode !== "forbidden" && mode !== "suppress");
      return lifting.reduce(lighter, usual);
    },
    modelAllowed: makeModelPolicy(source),
  });
}

function neverLists(source: PolicySource): Record<
  "read" | "write",
  { readonly globs: readonly string[]; find(path: string): PlacedGlob | undefined }
> {
  const reads = [
    ...NEVER.map((glob) => ({ glob, at: "built-in: never-list" })),
    ...source.never,
  ];
  const writes = [
    ...reads,
    ...NEVER_WRITE.map((glob) => ({ glob, at: "built-in: never written by tools" })),
  ];
  const made = (placed: readonly PlacedGlob[]): ReturnType<typeof neverLists>["read"] =>
    Object.freeze({
      globs: Object.freeze(placed.map(({ glob }) => glob)),
      find: makePathList(placed).find,
    });
  return { read: made(reads), write: made(writes) };
}

const LOCAL_KINDS: ReadonlySet<string> = new Set(["scripted", "local", "gguf", "wllama"]);

const defaultClearance = remembering((destination: string): Label => {
  if (destination === "outbox") return "internal";
  // A memory stores each text's label and shows the text only to those with clearance.
  if (destination.startsWith("memory:")) return "secret";
  if (!destination.startsWith("model:")) return "public";
  return LOCAL_KINDS.has(destination.split(":")[1] ?? "") ? "secret" : "internal";
});

/** The subject of a rule. */
export interface Subject {
  readonly profile: Profile;
  readonly phase: Phase;
  readonly tool: string;
  readonly category: string;
  readonly effect: EffectClass;
  /** `MOUNT/relative`; empty when the call names none. */
  readonly paths: readonly string[];
  readonly destination?: string;
  /** Whether the operator granted the tool network access when adding it. */
  readonly granted?: boolean;
  /** Whether all values except those of these arguments are the person's own; absent if unknown. */
  ownBut?(names: readonly string[]): boolean;
}

type Fit = "no" | "folded" | "exact";

interface Condition {
  readonly exact: readonly Glob[];
  readonly folded: readonly Glob[];
}

/** A rule with its globs compiled. */
interface CompiledRule {
  readonly ruling: Ruling;
  /** Whether the rule has no condition on paths, destinations or values, so that it holds for all calls of its tools. */
  readonly general: boolean;
  /** Compares everything except path, destination and values. */
  fitsTool(subject: Subject): boolean;
  /** `folded`: matches only if case and Unicode form are ignored. */
  fits(subject: Subject, path: string | undefined): Fit;
}

function compileRule(rule: PlacedRule): CompiledRule {
  const tool = condition(rule.tool), category = condition(rule.category);
  const path = condition(rule.path), destination = condition(rule.destination);
  const profiles = list(rule.profile), phases = list(rule.phase), effects = list(rule.effect);
  const ruling: Ruling = Object.freeze({
    mode: rule.mode,
    rule: rule.at,
    ...(rule.why === undefined ? {} : { why: rule.why }),
    ...(rule.when?.except === undefined ? {} : { except: rule.when.except }),
  });
  const fitsTool = (subject: Subject): boolean =>
    (profiles === undefined || profiles.includes(subject.profile)) &&
    (phases === undefined || phases.includes(subject.phase)) &&
    (effects === undefined || effects.includes(subject.effect)) &&
    fit(tool, subject.tool) === "exact" && fit(category, subject.category) === "exact";
  const fits = (subject: Subject, at: string | undefined): Fit => {
    if (!fitsTool(subject)) return "no";
    if (rule.when !== undefined && subject.ownBut?.(rule.when.except ?? []) !== true) return "no";
    const where = fit(path, at), to = fit(destination, subject.destination);
    if (where === "no" || to === "no") return "no";
    return where === "exact" && to === "exact" ? "exact" : "folded";
  };
  const general = path === undefined && destination === undefined && rule.when === undefined;
  return Object.freeze({ ruling, general, fitsTool, fits });
}

/**
 * The ruling for one path: any matching forbid, else the first match, else `fallback`. A rule that
 * matches only if case is ignored can raise the mode and never lower it: only the file system knows
 * whether two such names are one file.
 */
function firstMatch(
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

/** A compiled glob. */
interface Glob {
  readonly text: string;
  /** Whether the complete path, given as its parts, matches. */
  matches(parts: readonly string[]): boolean;
}

/**
 * Compiles a glob. A part `**` matches any number of parts, including none; elsewhere `*` matches
 * any characters of one part. Takes at most pattern parts × path parts steps.
 *
 * @example
 * ```ts
 * import { makeGlob } from "./policy.ts";
 * if (!makeGlob("desk/**").matches(["desk", "a", "b.md"])) throw new Error("no match");
 * ```
 */
export function makeGlob(text: string): Glob {
  const pattern = text.replace(/^\/+|\/+$/g, "").split("/")
    .map((part) => part === "**" ? undefined : partMatcher(part));
  return Object.freeze({
    text,
    matches: (parts: readonly string[]) =>
      wild(pattern, parts, undefined, (matches, part) => matches?.(part) === true),
  });
}

type PartMatcher = (part: string) => boolean;

/** Takes the first match of each piece between stars, so that no backtracking is needed. */
function partMatcher(pattern: string): PartMatcher {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return (part) => part === first;
  const between = rest.filter((piece) => piece !== "");
  return (part) => {
    if (part.length < first.length + last.length) return false;
    if (!part.startsWith(first) || !part.endsWith(last)) return false;
    const end = part.length - last.length;
    let at = first.length;
    for (const piece of between) {
      const found = part.indexOf(piece, at);
      if (found < 0 || found + piece.length > end) return false;
      at = found + piece.length;
    }
    return true;
  };
}
