/** The plugin `json`: asks, changes and checks structured documents. @module */
import { type Form, writeForm } from "./form/forms.ts";
import { applyFilter } from "./jq/filter.ts";
import { makeBudget } from "./jq/run_state.ts";
import { Refusal } from "./refusal.ts";
import { checkSchema } from "./schema/check_schema.ts";
import { type JsonHost, readDocument, type SourceArgs } from "./source.ts";
import { type Json, type JsonObject, toText } from "./values.ts";

/** Arguments of json_select, as tool.yaml describes them. */
export interface SelectArgs extends SourceArgs {
  readonly filter?: string;
  readonly args?: JsonObject;
  readonly from?: number;
  readonly limit?: number;
}

/** Arguments of json_transform. */
export interface TransformArgs extends SourceArgs {
  readonly filter?: string;
  readonly args?: JsonObject;
  readonly to?: Form;
  readonly out?: string;
}

/** Arguments of json_validate. */
export interface ValidateArgs extends SourceArgs {
  readonly schema?: Json;
  readonly schemaPath?: string;
  readonly limit?: number;
}

/** Characters of results that json_select gives at most, written as JSON. */
const SHOWN = 60_000;

// The gate has checked the arguments against tool.yaml's schemas.
/** The tools, by name. */
export const tools = Object.freeze({
  json_select: select,
  json_transform: transform,
  json_validate: validate,
});

async function select(args: SelectArgs, remit: JsonHost) {
  const { value } = await readDocument(args, remit);
  const from = args.from ?? 0;
  const most = args.limit ?? 100;
  const results: Json[] = [];
  let count = 0;
  let shown = 0;
  let more = false;
  for (const result of applyFilter(args.filter ?? ".", value, { args: args.args ?? {} })) {
    count += 1;
    if (count <= from) continue;
    const size = toText(result).length;
    if (results.length === 0 && size > SHOWN) {
      throw new Refusal(
        "tooLarge",
        `Cannot show result ${count}: it has ${size} characters. ${howToNarrow(result)}`,
      );
    }
    if (results.length >= most || shown + size > SHOWN) {
      more = true;
      break;
    }
    shown += size;
    results.push(result);
  }
  return { results, more, ...(more ? { next: from + results.length } : {}) };
}

function howToNarrow(value: Json): string {
  if (Array.isArray(value)) {
    return `It is an array of ${value.length}: ask for .[] with from and limit, or a slice .[0:20]`;
  }
  if (typeof value === "object" && value !== null) {
    return `Its keys: ${toText(Object.keys(value)).slice(0, 400)}`;
  }
  return "Ask for a slice of it: .[0:1000]";
}

async function transform(args: TransformArgs, remit: JsonHost) {
  const { value, form } = await readDocument(args, remit);
  const results = [...applyFilter(args.filter ?? ".", value, { args: args.args ?? {} })];
  const [first] = results;
  if (first === undefined) {
    throw new Refusal("invalidArguments", "Cannot write the result: the filter gave none");
  }
  const to = args.to ?? form;
  // Lines and rows hold many values; other documents hold one.
  const many = to === "jsonl" || to === "csv";
  if (results.length > 1 && !many) {
    throw new Refusal(
      "invalidArguments",
      `Cannot write ${results.length} results as one ${to} document: wrap the filter in [ ]`,
    );
  }
  const whole = many && (results.length > 1 || !Array.isArray(first)) ? results : first;
  const text = writeForm(to, whole, {
    delimiter: args.delimiter ?? ",",
    header: args.header ?? true,
  });
  if (args.out === undefined) return { format: to, text };
  await remit.fs.write({ path: args.out, text });
  return { format: to, staged: args.out, characters: text.length };
}

async function validate(args: ValidateArgs, remit: JsonHost) {
  if ((args.schema === undefined) === (args.schemaPath === undefined)) {
    throw new Refusal(
      "invalidArguments",
      "Cannot check the document: give either `schema` or `schemaPath`",
    );
  }
  const schema = args.schemaPath === undefined
    ? args.schema ?? true
    : (await readDocument({ path: args.schemaPath }, remit)).value;
  const { value } = await readDocument(args, remit);
  const errors = checkSchema(schema, value, makeBudget(2_000_000));
  const limit = args.limit ?? 50;
  return { valid: errors.length === 0, errors: errors.slice(0, limit), count: errors.length };
}
