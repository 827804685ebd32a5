/** A filter, from text to outputs. @module */
import { Refusal } from "../refusal.ts";
import type { Json, JsonObject } from "../values.ts";
import { run } from "./evaluate.ts";
import { parseFilter } from "./parse.ts";
import { FilterError, makeBudget, type Names, type Scope } from "./run_state.ts";

/** What a filter gets and may spend. */
export interface FilterOptions {
  /** Variables: `{ name: … }` is `$name`, all of them `$args`. */
  readonly args?: JsonObject;
  /** Steps it may take; 2,000,000 when absent. */
  readonly steps?: number;
}

/**
 * The outputs of `filter` for `input`, lazily.
 *
 * @throws {Refusal} `invalidArguments` when it does not parse or fails, `tooLarge` past its steps or the stack.
 */
export function* applyFilter(
  filter: string,
  input: Json,
  { args = {}, steps = 2_000_000 }: FilterOptions = {},
): Iterable<Json> {
  const ast = parseFilter(filter);
  let variables: Names<Json> = { name: "args", value: args, next: undefined };
  for (const [name, value] of Object.entries(args)) variables = { name, value, next: variables };
  const scope: Scope = { variables, functions: undefined, depth: 0, budget: makeBudget(steps) };
  try {
    for (const { value } of run(ast, { value: input }, scope)) yield value;
  } catch (error) {
    throw inWords(error);
  }
}

function inWords(error: unknown): unknown {
  if (error instanceof FilterError) {
    return new Refusal("invalidArguments", `The filter failed: ${error.message}`);
  }
  // The engine's own guard: a RangeError or an InternalError, by its words.
  if (error instanceof Error && !(error instanceof Refusal) && /stack/i.test(error.message)) {
    return new Refusal("tooLarge", "Cannot finish the filter: its functions are nested too deep");
  }
  return error;
}
