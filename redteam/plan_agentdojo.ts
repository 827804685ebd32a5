/**
 * Writes a planned program for an AgentDojo task, as a planner would that sees the request alone.
 * The calls are those of the ground truth; each value stands in the request, is found in a result,
 * or is read by a model without tools. docs/redteam.md.
 * @module
 */
import type { Json } from "../contracts/base/json.ts";
import { isList, isObject } from "../contracts/base/json.ts";
import { PLAN_ASK, type PlanProgram } from "../contracts/exchange/planned.ts";
import { canonicalJson } from "../port/mod.ts";
import { makeStandsIn } from "../text/stands_in.ts";
import type { Line } from "./stage.ts";

/** What the planner knows: a task, and the result of each of its calls in a clean environment. */
export interface Planning {
  readonly request: string;
  readonly calls: readonly Line[];
  readonly results: readonly { readonly gives: string; readonly error: boolean }[];
  /** Whether the task wants an answer in words. */
  readonly answers: boolean;
  /** The JSON Schema of a tool's arguments. */
  schemaOf(tool: string): Readonly<Record<string, Json>>;
  /** Returns the tool's name in programs. */
  nameOf(tool: string): string;
  readsOnly(tool: string): boolean;
}

/** A question to a model without tools, for the values of one call or of all calls of a loop. */
export interface Reading {
  /** Title in the schema of the answer; identifies the reading. */
  readonly title: string;
  /** The calls it serves, by position in the ground truth; empty: the task's answer. */
  readonly calls: readonly number[];
  /** Whether the answer is a list of items, one per iteration of a loop. */
  readonly loop: boolean;
  /** Whether the answer also says if the calls are to be made at all. */
  readonly decides: boolean;
  /** By name in the answer: the path of each value in the arguments. */
  readonly slots: ReadonlyMap<string, readonly (string | number)[]>;
}

/** A program, and the origins of its values. */
export interface DojoPlan {
  readonly program: string;
  readonly readings: readonly Reading[];
  /** Number of values in the text, taken from results, and read by a model. */
  readonly values: { readonly said: number; readonly found: number; readonly read: number };
}

/** The date of AgentDojo's workspace, which resolves dates without a year. */
const TODAY = Date.UTC(2024, 4, 15);
/**
 * Matches requests that leave the choice of tools to a third party's text: no program can be
 * written before that is read.
 */
const DEFERS_TOOLS = /\b(?:do the actions specified|do all the tasks|follow the instructions)\b/i;
/** Matches "at 10:00 or at 16:00 if …": which time applies stands in a result. */
const EITHER_TIME = /\d{1,2}:\d\d\s+or\s+(?:at\s+)?\d{1,2}:\d\d/;
const TIMED = /\d{1,2}:\d\d/;
const NAME = /^[A-Za-z_]\w*$/;

/**
 * Judges whether a planner may write a value: it stands in the request, in any case, or the tool's
 * schema names it. A call that only reads may also search for words of the request.
 */
function mayWrite(
  { request }: Pick<Planning, "request">,
): (value: Json, schema: Json | undefined, reads: boolean) => boolean {
  const stands = makeStandsIn([{ text: request, at: TODAY }], { folded: true });
  const words = new Set(request.toLowerCase().match(/[\p{L}\p{N}]+/gu));
  return (value, schema, reads) => {
    if (isObject(value) || isList(value)) return false;
    if (value === null || typeof value === "boolean" || value === "") return true;
    const { enum: choices = null, default: otherwise = null } = isObject(schema ?? null)
      ? schema as { readonly enum?: Json; readonly default?: Json }
      : {};
    if (value === otherwise || (isList(choices) && choices.includes(value))) return true;
    if (stands(value)) return true;
    const parts = typeof value === "string" ? value.toLowerCase().match(/[\p{L}\p{N}]+/gu) : null;
    return reads && parts !== null && parts.every((part) => words.has(part));
  };
}

/** Writes the program of a task; a text result says why there is none. */
export function planOf(planning: Planning): DojoPlan | string {
  const { request, calls, results, answers, readsOnly } = planning;
  if (DEFERS_TOOLS.test(request)) return "which tools are needed stands in a result";
  if (results.some(({ error }, n) => error && readsOnly(calls[n]?.tool ?? ""))) {
    return "a call of its ground truth fails";
  }
  const writes = mayWrite(planning);
  const either = EITHER_TIME.test(request), conditional = /\bif\b/i.test(request);
  const readings: Reading[] = [], lines = [`const request = ${JSON.stringify(request)};`];
  const values = { said: 0, found: 0, read: 0 };
  /** Results that are one value, by the variable that holds them. */
  const known = new Map<string, Json>(), held: string[] = [];
  const ask = (reading: Omit<Reading, "title">, properties: Readonly<Record<string, Json>>) => {
    const title = `reading ${readings.length + 1}`;
    readings.push({ ...reading, title });
    const item: Json = { type: "object", properties, required: Object.keys(properties) };
    const schema: Json = {
      ...{ title, type: "object" },
      ...(reading.loop ? { properties: { items: { type: "array", items: item } } } : item),
    };
    return `ask(JSON.stringify({ request, read: [${held.join(", ")}] }), ${
      JSON.stringify(reading.loop ? { ...schema, required: ["items"] } : schema)
    })`;
  };

  for (let at = 0; at < calls.length;) {
    const call = calls[at];
    if (call === undefined) break;
    const properties = planning.schemaOf(call.tool);
    const mayBeWritten = (value: Json, name: string): boolean =>
      writes(value, properties[name], readsOnly(call.tool)) &&
      !(either && !readsOnly(call.tool) && TIMED.test(String(value)));
    const same = sameTool(calls, at);
    const loop = same.length > 1 &&
      same.some(({ args }) =>
        Object.entries(args).some(([name, value]) =>
          !isList(value) && !isObject(value) && !mayBeWritten(value, name) &&
          canonicalJson(value) !== canonicalJson(call.args[name] ?? null)
        )
      );
    const n = held.length, from = `a${n}`, each = loop ? "item" : from;
    const slots = new Map<string, readonly (string | number)[]>();
    const types: Record<string, Json> = {};
    const fixed = (path: readonly (string | number)[], value: Json): boolean =>
      !loop ||
      same.every(({ args }) => canonicalJson(valueAt(args, path)) === canonicalJson(value));
    const write = (value: Json, path: readonly (string | number)[]): string => {
      const name = String(path[0]);
      if (isObject(value)) {
        return `{ ${
          Object.entries(value).map(([key, part]) =>
            `${JSON.stringify(key)}: ${write(part, [...path, key])}`
          ).join(", ")
        } }`;
      }
      const parts = isList(value) ? value : [value];
      const own = parts.every((part) => mayBeWritten(part, name));
      if (own && fixed(path, value)) {
        values.said += parts.length;
        return JSON.stringify(value);
      }
      const found = loop ? undefined : findIn(known, value, (part) => mayBeWritten(part, ""));
      if (found !== undefined) {
        values.found++;
        return found;
      }
      if (isList(value) && value.some((part) => isObject(part))) {
        return `[${value.map((part, i) => write(part, [...path, i])).join(", ")}]`;
      }
      values.read++;
      const slot = path.join("_");
      slots.set(slot, path);
      types[slot] = typeOf(value);
      return `${each}.${slot}`;
    };
    const made = `tools.${planning.nameOf(call.tool)}({ ${
      Object.entries(call.args).map(([name, value]) => `${name}: ${write(value, [name])}`)
        .join(", ")
    } })`;
    const decides = conditional && !readsOnly(call.tool) && n > 0 && !loop;
    const reading = { calls: same.map((_, i) => at + i).slice(0, loop ? undefined : 1), loop };
    if (slots.size > 0 || decides) {
      const all = { ...(decides ? { go: { type: "boolean" } } : {}), ...types };
      lines.push(`const ${from} = ${ask({ ...reading, decides, slots }, all)};`);
    }
    if (loop) {
      lines.push(`const r${n} = [];`, `for (const item of ${from}.items) r${n}.push(${made});`);
    } else if (decides) lines.push(`const r${n} = [];`, `if (${from}.go) r${n}.push(${made});`);
    else {
      lines.push(`const r${n} = ${made};`);
      known.set(`r${n}`, dataOf(results[at]?.gives ?? ""));
    }
    held.push(`r${n}`);
    at += loop ? same.length : 1;
  }
  if (answers) {
    const slots = new Map([["answer", []]]);
    const said = ask({ calls: [], loop: false, decides: false, slots }, {
      answer: { type: "string" },
    });
    lines.push(`say(${said}.answer);`);
  }
  return { program: `${lines.join("\n")}\n`, readings, values };
}

/**
 * Returns an honest model's answer to a reading: the ground truth's values. `calls`: the calls of
 * the loop, or the one call.
 */
export function answerOf(
  { loop, decides, slots }: Reading,
  calls: readonly Line[],
): Json {
  const item = ({ args }: Line): Json =>
    Object.fromEntries([...slots].map(([slot, path]) => [slot, valueAt(args, path)]));
  const [first] = calls;
  if (loop) return { items: calls.map(item) };
  return {
    ...(decides ? { go: true } : {}),
    ...(first === undefined ? {} : item(first) as object),
  };
}

/** The arguments of a call, with a reading's values replaced by another call's. */
export function turnedBy({ slots }: Reading, call: Line, other: Line): Line {
  const args = structuredClone(call.args) as Record<string, Json>;
  for (const [name, ...deeper] of slots.values()) {
    const value = other.args[String(name)];
    // Only whole arguments are replaced: parts of a list of records keep their form.
    if (name !== undefined && deeper.length === 0 && value !== undefined) args[name] = value;
  }
  return { tool: call.tool, args };
}

/** Values of a parsed program's text that a planner may not write. */
export function strayLiterals(
  program: PlanProgram,
  { request, tools }: {
    readonly request: string;
    /** By the names of the program. */
    tools(name: string): { readonly properties: Planning["schemaOf"]; readonly reads: boolean };
  },
): readonly Json[] {
  const writes = mayWrite({ request });
  const stray: Json[] = [];
  const look = (node: unknown, schema: Json | undefined, reads: boolean): void => {
    if (Array.isArray(node)) {
      for (const each of node) look(each, schema, reads);
      return;
    }
    if (typeof node !== "object" || node === null) return;
    const { k, value, tool, args, of, key, texts } = node as Readonly<Record<string, Json>>;
    if (k === "template" && isList(texts ?? null)) {
      stray.push(...(texts as readonly Json[]).filter((text) => !writes(text, schema, reads)));
    }
    if (k === "literal") {
      const said = value ?? null;
      if (said !== request && !writes(said, schema, reads)) stray.push(said);
    } else if (k === "tool" && isObject(args ?? null)) {
      const { fields } = args as { readonly fields: readonly Record<string, Json>[] };
      const { properties, reads } = tools(String(tool));
      for (const field of fields) {
        const name = String((field["key"] as { readonly value?: Json } | undefined)?.value);
        // The shape of an answer is the planner's own choice.
        if (tool === PLAN_ASK && name === "schema") continue;
        look(field["value"], properties(String(tool))[name], reads);
      }
    } else if (k === "get") {
      look(of, undefined, true);
      // A literal key is a field's name or a list position.
      if (isObject(key ?? null) && (key as { readonly k?: Json }).k !== "literal") {
        look(key, undefined, true);
      }
    } else if (k === "record") {
      const { fields } = node as { readonly fields: readonly { readonly value: Json }[] };
      for (const field of fields) look(field.value, schema, reads);
    } else for (const part of Object.values(node)) look(part, schema, reads);
  };
  look(program.functions, undefined, true);
  return stray;
}

/** Returns the consecutive calls of the same tool, from a position on. */
function sameTool(calls: readonly Line[], from: number): readonly Line[] {
  const { tool } = calls[from] ?? { tool: "" };
  const end = calls.findIndex((call, n) => n > from && call.tool !== tool);
  return calls.slice(from, end === -1 ? undefined : end);
}

function valueAt(value: Json, path: readonly (string | number)[]): Json {
  return path.reduce<Json>(
    (of, key) =>
      isList(of) ? of[Number(key)] ?? null : isObject(of) ? of[String(key)] ?? null : null,
    value,
  );
}

function typeOf(value: Json): Json {
  if (!isList(value)) return { type: typeof value };
  return { type: "array", items: { type: typeof value[0] } };
}

/** Converts a result as the interpreter does. */
function dataOf(gives: string): Json {
  if (!/^\s*[[{]/.test(gives)) return gives;
  try {
    return JSON.parse(gives) as Json;
  } catch {
    // A text that only looks like JSON.
    return gives;
  }
}

/** An expression that takes a value from a result by words of the request and field names. */
function findIn(
  known: ReadonlyMap<string, Json>,
  value: Json,
  mine: (part: Json) => boolean,
): string | undefined {
  const wanted = canonicalJson(value);
  const member = (name: string): string | undefined =>
    NAME.test(name) ? `.${name}` : mine(name) ? `[${JSON.stringify(name)}]` : undefined;
  for (const [variable, result] of [...known].reverse()) {
    if (canonicalJson(result) === wanted) return variable;
    if (isObject(result)) {
      const name = Object.keys(result).find((key) => canonicalJson(result[key] ?? null) === wanted);
      const part = name === undefined ? undefined : member(name);
      if (part !== undefined) return `${variable}${part}`;
    }
    if (!isList(result) || !result.every((each) => isObject(each))) continue;
    const records = result as readonly Readonly<Record<string, Json>>[];
    for (const [n, record] of records.entries()) {
      const name = Object.keys(record).find((key) => canonicalJson(record[key] ?? null) === wanted);
      const part = name === undefined ? undefined : member(name);
      if (part === undefined) continue;
      if (records.length === 1) return `${variable}[0]${part}`;
      for (const [key, by] of Object.entries(record)) {
        if (key === name || !NAME.test(key) || typeof by !== "string" || !mine(by)) continue;
        const fold = (each: Readonly<Record<string, Json>>): string =>
          String(each[key]).toLowerCase();
        if (records.findIndex((each) => fold(each) === fold(record)) !== n) continue;
        if (!records.every((each) => typeof each[key] === "string")) continue;
        return `${variable}.find((each) => each.${key}.toLowerCase() === ${
          JSON.stringify(by.toLowerCase())
        })${part}`;
      }
    }
  }
  return undefined;
}
