/**
 * Stages before the work on an issue: requirements, design, plan. Each is a read-only task whose
 * answer must have a given form and pass a check without a model; passed documents bind later
 * stages. docs/swarm.md
 * @module
 */
import * as z from "zod";
import { badPath, isAmong } from "./tree_files.ts";

/** The stages in order. */
export const STAGES = ["requirements", "design", "plan"] as const;
/** See {@link STAGES}. */
export type Stage = (typeof STAGES)[number];

const Line = z.string().trim().min(1).max(1_000);
const Lines = z.array(Line).max(32);
const Id = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,31}$/);
const Path = z.string().min(1).max(512);

const FORMS = {
  requirements: z.object({
    /** What must hold afterwards, and how to verify it. */
    requirements: z.array(z.object({ id: Id, must: Line, acceptance: Line }).strict()).min(1)
      .max(32),
    outOfScope: Lines.default([]),
    unclear: Lines.default([]),
  }).strict(),
  design: z.object({
    /** Every file that will change. */
    files: z.array(z.object({ path: Path, new: z.boolean().default(false), change: Line }).strict())
      .min(1).max(200),
    risks: Lines.default([]),
  }).strict(),
  plan: z.object({
    steps: z.array(
      z.object({
        id: Id,
        does: Line,
        files: z.array(Path).min(1).max(64),
        /** Ids of requirements that the step meets. */
        meets: z.array(Id).max(32).default([]),
        /** How to check the step, and how to undo it. */
        gate: Line,
        rollback: Line,
      }).strict(),
    ).min(1).max(64),
  }).strict(),
} satisfies Record<Stage, z.ZodType>;

const EXAMPLES: Readonly<Record<Stage, string>> = {
  requirements:
    `{"requirements": [{"id": "r1", "must": what must hold afterwards, "acceptance": how somebody else can tell}], ` +
    `"outOfScope": [text], "unclear": [text]}`,
  design:
    `{"files": [{"path": "src/a.ts", "new": true or false, "change": what changes there}], "risks": [text]}; every file ` +
    `that will change, and no other: a change of another file is refused`,
  plan:
    `{"steps": [{"id": "s1", "does": text, "files": ["src/a.ts"], "meets": ["r1"], "gate": how it is checked, ` +
    `"rollback": how it is taken back}]}; every requirement is met by a step, and every file belongs to one`,
};

/** Files and folders that an issue declares; empty: any. */
interface Declared {
  readonly paths: readonly string[];
}

/** Documents that passed their gate, JSON text by stage. */
export type Passed = Partial<Readonly<Record<Stage, string>>>;

type Doc<S extends Stage> = z.infer<(typeof FORMS)[S]>;

/** Parses a passed document. @throws ZodError for a journal that was edited by hand */
function read<S extends Stage>(stage: S, passed: Passed): Doc<S> | undefined {
  const text = passed[stage];
  // TRUST: the document had this form when it was recorded.
  return text === undefined ? undefined : FORMS[stage].parse(JSON.parse(text)) as Doc<S>;
}

/**
 * The gate of a stage: the answer as JSON text if it passes, else the reason. `files`: paths of the
 * tree.
 */
export function passStage(
  stage: Stage,
  answer: string,
  { issue, files, passed }: {
    readonly issue: Declared;
    readonly files: readonly string[];
    readonly passed: Passed;
  },
): { readonly document: string } | { readonly misfit: string } {
  const parsed = parseAnswer<unknown>(FORMS[stage], answer);
  if ("misfit" in parsed) return parsed;
  const document = JSON.stringify(parsed.value);
  const soFar = { ...passed, [stage]: document };
  const why = document.length > MAX_DOCUMENT
    ? `it is longer than ${MAX_DOCUMENT} characters`
    : whyNot(stage, soFar, { issue, files });
  return why === undefined ? { document } : { misfit: why };
}

/** Parses an answer, which must be exactly one JSON object of this form, at most in a code fence. */
export function parseAnswer<T>(
  form: z.ZodType<T>,
  answer: string,
): { readonly value: T } | { readonly misfit: string } {
  const bare = /^\s*```(?:json)?\n([\s\S]*?)\n```\s*$/.exec(answer)?.[1] ?? answer;
  let json: unknown;
  try {
    json = JSON.parse(bare);
  } catch {
    return { misfit: "the answer is no JSON object" };
  }
  const parsed = form.safeParse(json);
  if (parsed.success) return { value: parsed.data };
  const [wrong] = parsed.error.issues;
  return { misfit: `${wrong?.path.join(".") || "the answer"}: ${wrong?.message ?? "is wrong"}` };
}

const MAX_DOCUMENT = 40_000;

function whyNot(
  stage: Stage,
  passed: Passed,
  { issue: { paths }, files }: {
    readonly issue: Declared;
    readonly files: readonly string[];
  },
): string | undefined {
  const requirements = read("requirements", passed)?.requirements ?? [];
  const design = read("design", passed)?.files ?? [];
  const steps = read("plan", passed)?.steps ?? [];
  const twice = (ids: readonly string[]): string | undefined =>
    ids.find((id, at) => ids.indexOf(id) !== at);
  switch (stage) {
    case "requirements": {
      const id = twice(requirements.map((each) => each.id));
      return id === undefined ? undefined : `requirement "${id}" stands twice`;
    }
    case "design": {
      for (const { path, new: added } of design) {
        const bad = badPath(path);
        if (bad !== undefined) return `"${path}": ${bad}`;
        if (added === files.includes(path)) {
          return added ? `"${path}" is there already` : `"${path}" is not there, and is not new`;
        }
        if (paths.length > 0 && !isAmong(path, paths)) {
          return `"${path}" lies outside of what the issue declares: ${paths.join(", ")}`;
        }
      }
      return undefined;
    }
    case "plan": {
      const id = twice(steps.map((each) => each.id));
      if (id !== undefined) return `step "${id}" stands twice`;
      const named = new Set(steps.flatMap(({ meets }) => meets));
      const unmet = requirements.find((each) => !named.has(each.id));
      if (unmet !== undefined) return `no step meets requirement "${unmet.id}"`;
      const unknown = [...named].find((each) => !requirements.some(({ id }) => id === each));
      if (unknown !== undefined && requirements.length > 0) {
        return `there is no requirement "${unknown}"`;
      }
      return design.length === 0 ? undefined : strayOf(passed, steps.flatMap((step) => step.files));
    }
  }
}

/** Why a change of these paths is not in the design; undefined if it is. */
export function strayOf(passed: Passed, paths: readonly string[]): string | undefined {
  const design = read("design", passed)?.files;
  const stray = design === undefined
    ? undefined
    : paths.find((path) => !design.some((each) => each.path === path));
  return stray === undefined ? undefined : `"${stray}" is no file of the design`;
}

/** The passed documents, for workers and reviewers: data, not instructions. */
export function passedText(passed: Passed): readonly string[] {
  return STAGES.flatMap((stage) => {
    const text = passed[stage];
    return text === undefined ? [] : [`What was settled before, as data (${stage}):\n${text}`];
  });
}

/** The instruction for the form of a stage's answer. */
export function stageForm(stage: Stage): string {
  return `Answer with one JSON object and nothing else: ${EXAMPLES[stage]}.`;
}
