/** The ten largest tool schemas as grammars, against the compiler of their validators. @module */
import { Ajv2020 } from "ajv/dist/2020.js";
import { LARGE_SCHEMAS } from "../models/grammar/_fixture/large_schemas.ts";
import { ownTools } from "../models/grammar/_fixture/own_tools.ts";
import { schemaGrammar, toolGrammar } from "../models/grammar/mod.ts";
import { median } from "./quantile.ts";
import { atMost, type Row } from "./row.ts";

const TEN = 10;
const ROUNDS = 30;
/** It comes once for a table of tools, before an inference: half of what their validators took already. */
const MAX = 0.5;

/** Gives the rows of the line on grammars. */
export function grammarBench(): Row[] {
  const schemas = [
    ...Object.entries(LARGE_SCHEMAS).map(([name, schema]) =>
      [name, JSON.stringify(schema)] as const
    ),
    ...ownTools().map(({ name, paramSchema }) => [name, paramSchema] as const),
  ];
  const ten = schemas.toSorted(([, a], [, b]) => b.length - a.length).slice(0, TEN);
  const grammar = ten.map(([, schema]) => timeOf(() => schemaGrammar(schema)));
  const validator = ten.map(([, schema]) => timeOf(() => compile(schema)));
  const slowest = Math.max(...grammar);
  const [name, schema] = ten[grammar.indexOf(slowest)] ?? ["", ""];
  const tools = ten.map(([name, paramSchema]) => ({ name, paramSchema }));
  const size = (text: string): string => `${(text.length / 1_024).toFixed(1)} KB`;
  return [
    row(`grammar of a large tool schema, median of ${TEN}`, median(grammar), median(validator)),
    row(
      `grammar of the slowest of them: ${name}, ${size(schema)} to ${size(schemaGrammar(schema))}`,
      slowest,
      validator[grammar.indexOf(slowest)] ?? NaN,
    ),
    row(
      `grammar of all ${TEN} in one table of tools`,
      timeOf(() => toolGrammar(tools)),
      sum(validator),
    ),
  ];
}

const sum = (values: readonly number[]): number => values.reduce((all, each) => all + each, 0);

function compile(schema: string): void {
  new Ajv2020({ strict: false, validateFormats: false }).compile(JSON.parse(schema));
}

/** Median milliseconds. */
function timeOf(work: () => void): number {
  const times: number[] = [];
  for (let round = -3; round < ROUNDS; round++) {
    const from = performance.now();
    work();
    if (round >= 0) times.push(performance.now() - from);
  }
  return median(times);
}

function row(name: string, value: number, baseline: number): Row {
  return atMost({ name, value, unit: "ms", baseline }, MAX, "compiling the validator");
}
