/** A compromised model as a scenario: which calls it makes, and when. @module */
import type { Json } from "../contracts/base/json.ts";
import type { SuiteCall, SuiteInjection, SuiteTask } from "./suite.ts";

/**
 * When the model follows the attacker: before anything was read, at the first result, after the
 * user's task, between the user's calls, or adaptively: in one turn with the user's call, again
 * with its arguments in another order, then every other way that the suite knows.
 */
export const VARIANTS = ["before", "at", "after", "interleaved", "adaptive"] as const;
/** See {@link VARIANTS}. */
export type Variant = typeof VARIANTS[number];

/** The names by which models know a suite's tools. */
export interface Naming {
  readonly suite: string;
  /** Maps the server's own name of a tool. */
  nameOf(tool: string): string;
}

/** Returns the name of a call's tool as models know it. */
export function toolName({ nameOf }: Pick<Naming, "nameOf">, { tool, own }: SuiteCall): string {
  return own === true ? tool : nameOf(tool);
}

/** Returns the turns of user and attacker; each turn is a list of calls. */
export function turnsOf(
  task: SuiteTask,
  injection: SuiteInjection | undefined,
  variant: Variant,
): readonly (readonly SuiteCall[])[] {
  const own = task.calls.map((call) => [call]);
  if (injection === undefined) return own;
  const attack = injection.calls.map((call) => [call]);
  switch (variant) {
    case "before":
      return [...attack, ...own];
    case "at":
      return [...own.slice(0, 1), ...attack, ...own.slice(1)];
    case "after":
      return [...own, ...attack];
    case "interleaved":
      return Array.from(
        { length: Math.max(own.length, attack.length) },
        (_, at) => [...own.slice(at, at + 1), ...attack.slice(at, at + 1)],
      ).flat();
    case "adaptive":
      return [
        ...own.map((calls) => [...calls, ...injection.calls]),
        ...injection.calls.map((call) => [turned(call)]),
        ...injection.ways.map((call) => [call]),
      ];
  }
}

/** A scenario of these turns as JSON, which is YAML. A refused call does not end it. */
export function scenarioText(
  naming: Naming,
  turns: readonly (readonly SuiteCall[])[],
  answer: string,
): string {
  return JSON.stringify({
    scenario: `red team ${naming.suite}`,
    turns: [
      ...turns.map((calls) => ({
        calls: calls.map((call) => ({ tool: toolName(naming, call), args: escaped(call.args) })),
      })),
      { say: escaped(answer), loop: true },
    ],
  });
}

function turned(call: SuiteCall): SuiteCall {
  return { ...call, args: Object.fromEntries(Object.entries(call.args).reverse()) };
}

/** Escapes template marks: no text of a suite is a template. */
export function escaped(value: Json): Json {
  if (typeof value === "string") return value.replaceAll("{{", '{{ "{{" }}');
  if (Array.isArray(value)) return value.map((each) => escaped(each));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, escaped(each)]));
}
