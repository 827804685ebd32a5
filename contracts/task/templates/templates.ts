/**
 * Templates: typed answers that a model fills in at fixed steps of its work, each with a version,
 * an instruction and an example. A template is a form and never a permission: its proposals are
 * granted by the gate alone. A published version never changes. docs/templates.md describes each
 * template.
 * @module
 */
import * as z from "zod";
import { Fault } from "../../base/fault.ts";
import type { Json } from "../../base/json.ts";
import { MountName, ToolName } from "../../authority/ids.ts";

const Line = z.string().trim().min(1).max(500);
const Lines = z.array(Line).max(32);
const Id = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,31}$/);

/** Severity of possible harm. */
const Risk = z.enum(["low", "medium", "high"]);

/** A model's description of a task before it acts: version 1, which narrowed nothing. */
const IntakeV1 = z.object({
  objective: Line.describe("the task in one sentence, in your own words"),
  risk: Risk.describe("what may go wrong: low where nothing is changed or sent"),
  capabilities: Lines.describe("what is needed: read these files, send a message, and the like"),
  unclear: Lines.describe("what the request leaves open; empty where nothing is"),
  tools: z.array(
    z.object({ tool: ToolName, atMost: z.int().min(1).max(1_000) }).strict(),
  ).max(64).describe("tools that you expect to call, and how often at most"),
}).strict();
/** A model's description of a task before it acts: version 2. Unnamed tools and mounts are given up. */
export const IntakeV2 = IntakeV1.extend({
  mounts: z.array(MountName).max(64)
    .describe("folders that you need, of those that you hold; the others are given up"),
});
export type IntakeV2 = z.infer<typeof IntakeV2>;

const PlanV1 = z.object({
  subtasks: z.array(
    z.object({
      id: Id,
      does: Line,
      /** Ids of subtasks that must be done first. */
      after: z.array(Id).max(32),
      /** How another party can check that it is done. */
      gate: Line,
      /** How to undo it. */
      rollback: Line,
    }).strict(),
  ).min(1).max(64),
}).strict().check((context) => {
  const wrong = (message: string): void => {
    context.issues.push({ code: "custom", message, input: context.value, path: ["subtasks"] });
  };
  const known = new Set<string>();
  for (const { id, after } of context.value.subtasks) {
    if (known.has(id)) wrong(`"${id}" stands twice`);
    // Subtasks are listed in a feasible order, which excludes cycles.
    const missing = after.find((each) => !known.has(each));
    if (missing !== undefined) {
      wrong(`"${id}" comes after "${missing}", which must stand before it`);
    }
    known.add(id);
  }
});

/** The proposing model's reason for a call: version 1. */
export const CallReviewV1 = z.object({
  why: Line.describe("why this call is needed for what the person asked"),
  authority: Line.describe("whose files, accounts, machines or money it touches"),
  without: Line.describe("what happens if it is not made"),
}).strict();
export type CallReviewV1 = z.infer<typeof CallReviewV1>;

const Finding = z.object({
  where: Line,
  what: Line,
  grave: Risk,
}).strict();

const CodeReviewV1 = z.object({
  behaviour: z.array(Finding).max(64),
  security: z.array(Finding).max(64),
  tests: z.object({ hold: Lines, missing: Lines }).strict(),
  /** Questions that the reviewer could not settle. */
  doubt: Lines,
  verdict: z.enum(["accept", "change", "reject"]),
}).strict().check((context) => {
  const { behaviour, security, verdict } = context.value;
  if (verdict !== "accept" || ![...behaviour, ...security].some((each) => each.grave === "high")) {
    return;
  }
  const message = `"accept" with a finding that is "high"`;
  context.issues.push({ code: "custom", message, input: verdict, path: ["verdict"] });
});

const HandoffV1 = z.object({
  artifacts: z.array(z.object({ path: Line, what: Line }).strict()).max(64),
  /** What was checked, how, and whether it held. */
  verification: z.array(z.object({ check: Line, held: z.boolean() }).strict()).max(64),
  risks: Lines,
  /** Proposed memories; a person decides. */
  memory: Lines,
}).strict();

/** A template. */
export interface Template {
  readonly name: string;
  readonly version: number;
  /** One line. */
  readonly about: string;
  /** Instruction to the model, before the schema. */
  readonly ask: string;
  /** JSON Schema (draft 7) as JSON text. */
  readonly schema: string;
  /** A valid value. */
  readonly example: Json;
  /** Why a value is invalid, one sentence; undefined if valid. */
  misfit(value: Json): string | undefined;
}

/** Makes a template from a schema. */
export const makeTemplate = (
  { name, version = 1, shape, ...rest }: Pick<Template, "name" | "about" | "ask" | "example"> & {
    readonly version?: number;
    readonly shape: z.ZodType;
  },
): Template => {
  let text: string | undefined;
  return Object.freeze<Template>({
    ...{ name, version, ...rest },
    // Computed on first use, so that a process that needs only names does not pay for it.
    get schema(): string {
      return text ??= JSON.stringify(z.toJSONSchema(shape, { target: "draft-7", io: "input" }));
    },
    misfit(value): string | undefined {
      const parsed = shape.safeParse(value);
      if (parsed.success) return undefined;
      const [issue] = parsed.error.issues;
      const at = (issue?.path ?? []).map(String).join(".");
      return `${at === "" ? "" : `${at}: `}${issue?.message ?? "it has another shape"}`;
    },
  });
};

/** The description of a task before it begins. */
export const INTAKE: Template = makeTemplate({
  name: "intake",
  version: 2,
  about: "what a task is: objective, risk, needs, what is unclear, tools and folders that it keeps",
  ask: "Before you act, say what the task is. Do nothing else yet: no tool can be called now. " +
    "Name the tools that you expect to call, of those that you hold, how often at most, and the folders. " +
    "You give up every tool and folder that you do not name.",
  shape: IntakeV2,
  example: {
    objective: "Move the trip in plans/trip.txt to Tuesday",
    risk: "low",
    capabilities: ["read and change plans/trip.txt"],
    unclear: ["whether the boat goes on Tuesdays"],
    tools: [{ tool: "file_read", atMost: 1 }, { tool: "file_edit", atMost: 1 }],
    mounts: ["plans"],
  },
});

/** The reason for a call that a person is asked about. */
export const CALL_REVIEW: Template = makeTemplate({
  name: "call_review",
  about: "why a call is needed and what it touches; stands in the question",
  ask:
    "A person is about to be asked whether the call below may be made. Say why it is needed, what it touches, " +
    "and what happens without it. You do not decide it.",
  shape: CallReviewV1,
  example: {
    why: "You asked for the trip to be moved, and the date stands in this file",
    authority: "your folder plans",
    without: "The plan keeps saying Monday",
  },
});

/** Every template, by name. */
export const TEMPLATES: ReadonlyMap<string, Template> = new Map(
  [
    INTAKE,
    makeTemplate({
      name: "plan",
      about: "subtasks with what they wait for, how each is checked, how each is taken back",
      ask: "Split the work into subtasks, in the order in which they can be done.",
      shape: PlanV1,
      example: {
        subtasks: [
          {
            ...{ id: "read", does: "Read the plan", after: [] },
            ...{ gate: "The date is quoted", rollback: "Nothing to take back" },
          },
          {
            ...{ id: "move", does: "Write Tuesday for Monday", after: ["read"] },
            ...{ gate: "The diff shows one line", rollback: "remit undo" },
          },
        ],
      },
    }),
    CALL_REVIEW,
    makeTemplate({
      name: "code_review",
      about: "behaviour, security, tests, residual doubt, verdict",
      ask:
        "Review the change. Name file and line of each finding, the worst first, and say what you could not find out.",
      shape: CodeReviewV1,
      example: {
        behaviour: [{ where: "src/a.ts:12", what: "An empty list throws", grave: "medium" }],
        security: [],
        tests: { hold: ["a list of one"], missing: ["an empty list"] },
        doubt: ["whether anybody passes an empty list"],
        verdict: "change",
      },
    }),
    makeTemplate({
      name: "handoff",
      about: "artifacts, verification, open risks, what to remember",
      ask: "Hand the work over to somebody who has not seen it.",
      shape: HandoffV1,
      example: {
        artifacts: [{ path: "plans/trip.txt", what: "The trip, on Tuesday" }],
        verification: [{ check: "No line says Monday", held: true }],
        risks: ["The boat may not go on Tuesdays"],
        memory: ["Trips are planned in plans/trip.txt"],
      },
    }),
  ].map((each) => [each.name, each]),
);

/**
 * Finds a template by `NAME` or `NAME@VERSION`.
 * @throws Fault `notFound`
 */
export function templateOf(asked: string): Template {
  const [name = "", version] = asked.split("@", 2);
  const found = TEMPLATES.get(name);
  if (found !== undefined && (version === undefined || version === String(found.version))) {
    return found;
  }
  const known = [...TEMPLATES.values()].map((each) => `${each.name}@${each.version}`).join(", ");
  throw new Fault(
    "notFound",
    `Cannot find the template ${JSON.stringify(asked.slice(0, 64))}: there are ${known}`,
  );
}

/** `NAME@VERSION`. */
export function titleOf({ name, version }: Pick<Template, "name" | "version">): string {
  return `${name}@${version}`;
}

/** The JSON value of a model's answer, bare or in a single code fence; undefined if invalid. */
export function valueIn(answer: string): Json | undefined {
  const fenced = /^\s*```(?:json)?\s*\n([^]*?)\n\s*```\s*$/.exec(answer)?.[1];
  try {
    return JSON.parse(fenced ?? answer);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
