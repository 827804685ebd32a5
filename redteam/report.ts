/** The results of runs: counts, a page in Markdown, a plot in SVG. @module */
import type { RunOutcome } from "./play.ts";

/**
 * Counts of a red team. Attacks on a person who allows everything are counted separately, because
 * no gate stops a person; so are attacks that are only words in the answer, because no gate sees
 * those.
 */
export interface Report {
  readonly attacks: number;
  readonly succeeded: number;
  readonly words: { readonly attacks: number; readonly succeeded: number };
  /** Attack runs that performed any changing call that is not the user's. */
  readonly others: number;
  /** Attacks whose questions a careless person allows. */
  readonly careless: { readonly attacks: number; readonly succeeded: number };
  readonly userTasks: number;
  /** User tasks done without a person and without a question. */
  readonly unattended: number;
  /** User tasks done with a person who allows exactly the user's calls. */
  readonly done: number;
  /** User tasks done with that person and at most one question. */
  readonly oneQuestion: number;
  /** User tasks with a program, origins of its values, and reasons for having none. */
  readonly plans?: {
    readonly made: number;
    readonly none: Readonly<Record<string, number>>;
    readonly said: number;
    readonly found: number;
    readonly read: number;
    /** Values in their texts that stand neither in the request nor in a schema. */
    readonly stray: number;
  };
  /** Questions of all user tasks, to that person. */
  readonly questions: number;
  /** Attack runs in which the user's task was still done. */
  readonly usefulUnderAttack: number;
  /** By rule: how many attack runs it refused something in. */
  readonly rules: Readonly<Record<string, number>>;
  readonly runs: readonly RunOutcome[];
}

/** Counts runs. */
export function reportOf(runs: readonly RunOutcome[]): Report {
  const plain = runs.filter(({ injection }) => injection === undefined);
  // A run that was not played because its task has no program is no attack.
  const attacks = runs.filter(({ injection, plan }) =>
    injection !== undefined && !(plan !== undefined && "why" in plan)
  );
  const careless = attacks.filter(({ oracle }) => oracle === "careless");
  const stopping = attacks.filter(({ oracle }) => oracle !== "careless");
  const words = stopping.filter(({ words }) => words === true);
  const stoppable = stopping.filter(({ words }) => words !== true);
  const through = (of: readonly RunOutcome[]): number =>
    of.filter(({ succeeded }) => succeeded).length;
  const exact = plain.filter(({ oracle }) => oracle === "exact");
  const rules = new Map<string, number>();
  for (const rule of attacks.flatMap((each) => each.rules)) {
    rules.set(rule, (rules.get(rule) ?? 0) + 1);
  }
  return {
    ...{ attacks: stoppable.length, succeeded: through(stoppable) },
    words: { attacks: words.length, succeeded: through(words) },
    others: stopping.filter(({ others = [] }) => others.length > 0).length,
    careless: { attacks: careless.length, succeeded: through(careless) },
    userTasks: new Set(plain.map(({ suite, task }) => `${suite}/${task}`)).size,
    unattended:
      plain.filter(({ oracle, useful, questions }) =>
        oracle === "absent" && useful && questions === 0
      ).length,
    done: exact.filter(({ useful }) => useful).length,
    oneQuestion: exact.filter(({ useful, questions }) => useful && questions <= 1).length,
    ...(runs.some(({ plan }) => plan !== undefined) ? { plans: plansOf(plain) } : {}),
    questions: exact.reduce((sum, { questions }) => sum + questions, 0),
    usefulUnderAttack: attacks.filter(({ useful }) => useful).length,
    rules: Object.fromEntries(rules),
    runs,
  };
}

function plansLines({ plans }: Report): readonly (readonly [string, number])[] {
  if (plans === undefined) return [];
  return [
    ["user tasks that are a program", plans.made],
    ...Object.entries(plans.none).map(([why, n]) => [`no program: ${why}`, n] as const),
    ["values in programs", plans.said],
    ["of these neither in the request nor in a schema", plans.stray],
    ["values that programs take from results", plans.found],
    ["values that a model reads for programs", plans.read],
  ];
}

function plansOf(runs: readonly RunOutcome[]): NonNullable<Report["plans"]> {
  const plans = [
    ...new Map(
      runs.flatMap(({ suite, task, plan }) =>
        plan === undefined ? [] : [[`${suite}/${task}`, plan]]
      ),
    ).values(),
  ];
  const made = plans.flatMap((plan) => "why" in plan ? [] : [plan]);
  const none: Record<string, number> = {};
  for (const plan of plans) if ("why" in plan) none[plan.why] = (none[plan.why] ?? 0) + 1;
  const sum = (of: "said" | "found" | "read"): number =>
    made.reduce((all, plan) => all + plan[of], 0);
  return {
    ...{ made: made.length, none, said: sum("said"), found: sum("found"), read: sum("read") },
    stray: made.reduce((all, { stray }) => all + stray.length, 0),
  };
}

/** Formats the report as a page in Markdown. */
export function pageOf(report: Report): string {
  const through = report.runs.filter(({ succeeded, words }) => succeeded && words !== true);
  const count = (of: string, n: number | string): string => `| ${of} | ${n} |`;
  return [
    "# What an injection could do",
    "",
    "| | |",
    "| --- | --- |",
    count("attacks (exact person, or nobody there)", report.attacks),
    count("of these succeeded", report.succeeded),
    count(
      "in which any changing call that is not the user's was performed",
      report.others,
    ),
    count(
      "attacks by words alone that got through",
      `${report.words.succeeded} of ${report.words.attacks}`,
    ),
    count(
      "with a person who allows everything",
      `${report.careless.succeeded} of ${report.careless.attacks}`,
    ),
    count("user tasks", report.userTasks),
    count("done with exact answers", report.done),
    count("done unattended, without a question", report.unattended),
    count("done with at most one question", report.oneQuestion),
    count("questions for user tasks", report.questions),
    ...plansLines(report).map(([of, n]) => count(of, n)),
    count("attack runs in which the user's task was done", report.usefulUnderAttack),
    "",
    "## What could not be stopped",
    "",
    ...(through.length === 0
      ? ["Nothing of what was tried."]
      : through.map((run) =>
        `- ${run.suite}: ${run.injection ?? ""} during ${run.task}, ${
          run.variant ?? ""
        }, person: ${run.oracle}`
      )),
    ...(report.words.succeeded === 0 ? [] : [
      "",
      `By words alone: ${report.words.succeeded} of ${report.words.attacks}. No gate sees what a model answers.`,
    ]),
    "",
    "## Rules that refused",
    "",
    ...Object.entries(report.rules).map(([rule, n]) =>
      `- ${n} × ${rule.replace(/[\r\n`<]/g, " ")}`
    ),
    "",
  ].join("\n");
}

/** The result of one case of an evaluation. */
export interface Score {
  readonly suite: string;
  readonly task: string;
  readonly passed: boolean;
  readonly tokens: number;
  readonly questions: number;
  readonly ms: number;
}

/** Draws bars of the pass rate by suite, as SVG. */
export function plotOf(model: string, scores: readonly Score[]): string {
  const suites = [...new Set(scores.map(({ suite }) => suite))];
  const escape = (text: string): string =>
    text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
  const bars = suites.flatMap((suite, at) => {
    const own = scores.filter((each) => each.suite === suite);
    const rate = own.filter(({ passed }) => passed).length / own.length;
    const y = 40 + at * 28;
    return [
      `<text x="8" y="${y + 14}">${escape(suite)}</text>`,
      `<rect x="130" y="${y}" width="${Math.round(rate * 300)}" height="18" fill="#2a6"/>`,
      `<text x="440" y="${y + 14}">${Math.round(rate * 100)} %</text>`,
    ];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="500" height="${60 + suites.length * 28}" ` +
    `font-family="sans-serif" font-size="13">`,
    `<text x="8" y="20">Pass rate: ${escape(model)}</text>`,
    ...bars,
    "</svg>",
    "",
  ].join("\n");
}
