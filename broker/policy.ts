/** Policy: the mode of a call, the never-list, clearances. @module */
import { Fault, type Label, type PermissionMode, type PolicySource } from "../contracts/mod.ts";
import { defaultRuling, graver, lighter, type Ruling, standingForbid } from "./defaults.ts";
import { type JudgeModel, makeModelPolicy } from "./model_policy.ts";
import { makePathList, NEVER, type PlacedGlob, remembering } from "../text/path_list.ts";
import { executesLater, NEVER_WRITE } from "./never.ts";
import { compileRule, firstMatch, type Subject } from "./rules.ts";

/** What the policy says. Pure: the same question has the same answer until the policy is replaced. */
export interface Policy {
  /** The mode of a call, by the gravest of its paths. */
  decide(subject: Subject): Ruling;
  /** The lightest mode that any call of a tool can have: what its descriptor shows. */
  offered(subject: Subject): Ruling;
  /** The never-list's entry for a path `MOUNT/relative`; no rule lifts it. */
  never(path: string, right: "read" | "write"): PlacedGlob | undefined;
  /** Globs of the never-list, for the walls behind the gate. */
  neverGlobs(right: "read" | "write"): readonly string[];
  /** Whether a session of this profile may send text of this label to a model. */
  readonly modelAllowed: JudgeModel;
  /** The most confidential label that a sink may receive. */
  clearance(destination: string): Label;
  /** Whether a file is one that executes later (CI, package.json, hooks). */
  executes(path: string): boolean;
  /** Most bytes of a tool's result, when remit.yaml says. */
  resultBytes(tool: string): number | undefined;
  /** Refuse instead of asking when colour falls short. */
  readonly strict: boolean;
  readonly selfConsent: boolean;
}

const MOST_RULES = 1_000;

/**
 * Makes the policy of all layers merged.
 * @throws {Fault} `tooLarge` for more than 1,000 rules.
 * @example
 * ```ts
 * import { NO_POLICY } from "../contracts/mod.ts";
 * import { makePolicy } from "./policy.ts";
 * if (makePolicy(NO_POLICY).never("desk/keys.env", "read") === undefined) throw new Error("read");
 * ```
 */
export function makePolicy(source: PolicySource): Policy {
  if (source.rules.length > MOST_RULES) {
    throw new Fault("tooLarge", `Cannot read the policy: more than ${MOST_RULES} rules`);
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
  // A memory keeps the label of what is written to it, and shows it to nobody who is not cleared.
  if (destination.startsWith("memory:")) return "secret";
  if (!destination.startsWith("model:")) return "public";
  return LOCAL_KINDS.has(destination.split(":")[1] ?? "") ? "secret" : "internal";
});

export type { PermissionMode, Ruling, Subject };
