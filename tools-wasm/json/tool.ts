/** The plugin `json`: queries, changes and checks structured documents. @module */
import { Fault } from "../../contracts/base/fault.ts";
import { type PartReader, readWhole } from "../../text/whole_file.ts";
import { type Form, formOf, readForm, writeForm } from "./form/forms.ts";
import { FilterError, makeBudget, type Names, type Scope } from "./jq/run_state.ts";
import { checkSchema } from "./schema/check_schema.ts";
import { type Json, type JsonObject, toText } from "./values.ts";
import { run } from "./jq/evaluate.ts";
import { parseFilter } from "./jq/parse.ts";

/** Arguments of json_select, as in tool.yaml. */
interface SelectArgs extends SourceArgs {
  readonly filter?: string;
  readonly args?: JsonObject;
  readonly from?: number;
  readonly limit?: number;
}

/** Arguments of json_transform. */
interface TransformArgs extends SourceArgs {
  readonly filter?: string;
  readonly args?: JsonObject;
  readonly to?: Form;
  readonly out?: string;
}

/** Arguments of json_validate. */
interface ValidateArgs extends SourceArgs {
  readonly schema?: Json;
  readonly schemaPath?: string;
  readonly limit?: number;
}

/** Maximum characters of json_select's results, as JSON. */
const SHOWN = 60_000;

// The tools, by name. The gate has checked the arguments against tool.yaml's schemas.
export const tools = Object.freeze({
  json_select: select,
  json_transform: transform,
  json_validate: validate,
});

async function select(args: SelectArgs, remit: JsonHost) {
  const { value } = await readDocument(args, remit);
  const from = args.from ?? 0;
  const max = args.limit ?? 100;
  const results: Json[] = [];
  let count = 0;
  let shown = 0;
  let more = false;
  for (const result of applyFilter(args.filter ?? ".", value, { args: args.args ?? {} })) {
    count += 1;
    if (count <= from) continue;
    const size = toText(result).length;
    if (results.length === 0 && size > SHOWN) {
      throw new Fault(
        "tooLarge",
        `Cannot show result ${count}: it has ${size} characters. ${howToNarrow(result)}`,
      );
    }
    if (results.length >= max || shown + size > SHOWN) {
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
    throw new Fault("invalidArguments", "Cannot write the result: the filter gave none");
  }
  const to = args.to ?? form;
  // Lines and rows hold many values; other documents hold one.
  const many = to === "jsonl" || to === "csv";
  if (results.length > 1 && !many) {
    throw new Fault(
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
    throw new Fault(
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

// A filter, from text to outputs.

/** A filter's variables and budget. */
interface FilterOptions {
  /** Variables: `{ name: … }` is `$name`, all of them `$args`. */
  readonly args?: JsonObject;
  /** Maximum steps; absent: 2,000,000. */
  readonly steps?: number;
}

/**
 * The outputs of `filter` for `input`, lazily.
 *
 * @throws {Fault} `invalidArguments` when it does not parse or fails, `tooLarge` past its steps or
 * the stack
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
    return new Fault("invalidArguments", `The filter failed: ${error.message}`);
  }
  // The engine's own guard: a RangeError or an InternalError, by its message.
  if (error instanceof Error && !(error instanceof Fault) && /stack/i.test(error.message)) {
    return new Fault("tooLarge", "Cannot finish the filter: its functions are nested too deep");
  }
  return error;
}

// The source of a document: a file of the workspace, or a text in the arguments.

/** The host functions that this plugin uses. */
export interface JsonHost {
  readonly fs: PartReader & {
    write(args: { readonly path: string; readonly text: string }): Promise<unknown>;
  };
}

/** A document's source and format. */
interface SourceArgs {
  readonly path?: string;
  readonly text?: string;
  readonly format?: Form;
  readonly delimiter?: string;
  readonly header?: boolean;
}

/** Maximum bytes of a document: 8 MiB. */
const DOCUMENT_BYTES = 8 * 1024 * 1024;

/** A document: its value and its format. */
interface Document {
  readonly value: Json;
  readonly form: Form;
}

/**
 * Reads the document of the arguments. @throws {Fault} for none or two, or one that does not parse
 */
async function readDocument(args: SourceArgs, host: JsonHost): Promise<Document> {
  const { path, text } = args;
  if ((path === undefined) === (text === undefined)) {
    throw new Fault("invalidArguments", "Cannot read a document: give either `path` or `text`");
  }
  const form = args.format ?? (path === undefined ? "json" : formOf(path));
  if (form === undefined) {
    throw new Fault(
      "invalidArguments",
      `Cannot tell the form of "${path}" by its name: pass \`format\``,
    );
  }
  const whole = text ?? await readWhole(host.fs, path ?? "", DOCUMENT_BYTES);
  const delimiter = args.delimiter ?? (path?.toLowerCase().endsWith(".tsv") === true ? "\t" : ",");
  const value = readForm(form, whole.startsWith("\ufeff") ? whole.slice(1) : whole, {
    delimiter,
    header: args.header ?? true,
  });
  return { value, form };
}
