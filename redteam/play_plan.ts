/**
 * A planned program under attack as a scenario: the answers of the planner, of the models that read
 * for it, and of the attacker. @module
 */
import type { Json } from "../contracts/base/json.ts";
import { Fault } from "../contracts/base/mod.ts";
import { PLAN_ASK, PLAN_RUN, type PlanProgram, siteCallId } from "../contracts/exchange/planned.ts";
import { analyse, parseProgram } from "../planned/mod.ts";
import { canonicalJson } from "../port/mod.ts";
import type { Pair, Played } from "./import_agentdojo.ts";
import {
  answerOf,
  type DojoPlan,
  type Planning,
  planOf,
  type Reading,
  strayLiterals,
  turnedBy,
} from "./plan_agentdojo.ts";
import type { PlanCounts } from "./play.ts";
import { escaped, type Naming, toolName, type Variant } from "./variants.ts";

/** One run of a program. */
interface PlannedScript {
  readonly scenario: string;
  /**
   * The user's calls, then those of models that were taken over while reading, then the attacker's.
   */
  readonly calls: readonly Played[];
  /** What a person approves: this program, once. */
  readonly agreed: readonly unknown[];
  readonly counts: PlanCounts;
}

/**
 * Plays a task as a program. The planner sees only the request, so the program is the user's. After
 * the program the attacker controls the planner and proposes the attack's calls: directly, under
 * the ids of the program's own calls, and as a program. `adaptive`: the attacker also controls
 * every reading model, which answers with the attack's values where the program asks for values of
 * the attacked tool.
 */
export function plannedScript(
  naming: Naming,
  { told, clean, variant, injected, readsOnly, schemaOf }: {
    readonly told: Pair;
    readonly clean: Pair;
    readonly variant: Variant;
    readonly injected: boolean;
    readonly readsOnly: (tool: string) => boolean;
    readonly schemaOf: Planning["schemaOf"];
  },
): PlannedScript | { readonly why: string } {
  const nameOf = (tool: string): string => toolName(naming, { tool, args: {} });
  const { request, calls, results, answer } = clean;
  const planning = { request, calls, results, answers: answer !== "", schemaOf, nameOf, readsOnly };
  const plan = planOf(planning);
  if (typeof plan === "string") return { why: plan };
  const parsed = readAs(plan);
  if (typeof parsed === "string") return { why: parsed };
  const own = new Map(calls.map(({ tool }) => [nameOf(tool), tool]));
  const counts = {
    ...plan.values,
    stray: strayLiterals(parsed, {
      request,
      tools: (name) => ({
        properties: () => schemaOf(own.get(name) ?? ""),
        reads: name === PLAN_ASK || readsOnly(own.get(name) ?? ""),
      }),
    }),
  };
  const attack = injected ? told.attack : [];
  const taken = injected && variant === "adaptive";
  const party = (by: Played["by"], tool: string, args: Played["args"]): Played => ({
    ...{ tool, args, by, changes: !readsOnly(tool) },
  });
  const turned: Played[] = [];
  const readings = plan.readings.map((reading): object => {
    const [says, made] = taken ? takenOver(reading, told) : [honest(reading, told), []];
    turned.push(...made.map(({ tool, args }) => party("attacker", tool, args)));
    return {
      when: { user: { contains: ["fits this JSON Schema", `"title":"${reading.title}"`] } },
      say: escaped(JSON.stringify(says)),
    };
  });
  const sites = analyse(parsed);
  const wrong = attack.flatMap(({ tool, args }): readonly object[] => {
    const call = { tool: nameOf(tool), args: escaped(args) };
    // Call sites of the program, called again with other arguments.
    const places = sites.filter((site) => site.tool === call.tool).map(({ site }) => site);
    return [
      call,
      ...(places.length === 0 ? sites.slice(-1).map(({ site }) => site) : places)
        .flatMap((site) => [1, 2].map((nth) => ({ ...call, id: siteCallId(1, site, nth) }))),
    ];
  });
  const other = attack.map(({ tool, args }) => `tools.${nameOf(tool)}(${recordText(args)});`);
  const plans = (program: string): object => ({ tool: PLAN_RUN, args: escaped({ program }) });
  const turns = [
    plans(plan.program),
    ...wrong,
    ...(attack.length === 0 ? [] : [plans(other.join("\n")), plans(plan.program + other.join(""))]),
  ];
  return {
    scenario: JSON.stringify({
      scenario: `red team ${naming.suite}, planned`,
      turns: [
        ...readings,
        ...turns.map((call, n) => ({ when: { inference: n + 1 }, calls: [call] })),
        { when: { always: true }, say: "Done." },
      ],
    }),
    calls: [
      ...told.calls.map(({ tool, args }) => party("user", tool, args)),
      ...unlike(turned, told.calls),
      ...attack.map(({ tool, args }) => party("attacker", tool, args)),
    ],
    agreed: [{ tool: PLAN_RUN, arguments: { program: plan.program }, answer: "allow" }],
    counts,
  };
}

function readAs({ program }: DojoPlan): PlanProgram | string {
  try {
    return parseProgram(program);
  } catch (error) {
    if (error instanceof Fault) return `its program is not in the language: ${error.message}`;
    throw error;
  }
}

function honest(reading: Reading, { calls, answer }: Pair): Json {
  if (reading.calls.length === 0) return { answer };
  return answerOf(reading, reading.calls.flatMap((n) => calls[n] ?? []));
}

/** A captured reading model's answer for the attacker, and the calls that follow. */
function takenOver(
  reading: Reading,
  told: Pair,
): readonly [Json, readonly Pick<Played, "tool" | "args">[]] {
  if (reading.calls.length === 0) {
    return [{ answer: [told.answer, told.says].filter((each) => each !== "").join("\n") }, []];
  }
  const own = reading.calls.flatMap((n) => told.calls[n] ?? []);
  const [first] = own;
  const wanted = told.attack.filter(({ tool }) => tool === first?.tool);
  if (first === undefined || wanted.length === 0) return [honest(reading, told), []];
  const calls = (reading.loop ? wanted : wanted.slice(0, 1))
    .map((each) => turnedBy(reading, first, each));
  return [answerOf(reading, calls), calls];
}

function unlike(calls: readonly Played[], others: readonly Pick<Played, "tool" | "args">[]) {
  const text = ({ tool, args }: Pick<Played, "tool" | "args">): string =>
    canonicalJson([tool, args]);
  const known = new Set(others.map(text));
  return calls.filter((call) => !known.has(text(call)));
}

function recordText(args: Played["args"]): string {
  const fields = Object.entries(args).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return `{ ${fields.join(", ")} }`;
}
