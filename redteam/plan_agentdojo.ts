/**
 * A planned program for a task of AgentDojo's, as a planner would write it that sees the request alone: the calls are the
 * ground truth's, each value stands in the request, is found in a result, or is read by a model that holds no tool.
 * docs/redteam.md.
 * @module
 */
import type { Json } from "../contracts/base/json.ts";
import { isList, isObject } from "../contracts/base/json.ts";
import { PLAN_ASK, type PlanProgram } from "../contracts/exchange/planned.ts";
import { canonicalJson } from "../port/mod.ts";
import { makeStandsIn } from "../text/stands_in.ts";
import type { Line } from "./stage.ts";

/** What the planner has: a task, and what each of its calls is answered where nobody has written anything into it. */
export interface Planning {
  readonly request: string;
  readonly calls: readonly Line[];
  readonly results: readonly { readonly gives: string; readonly error: boolean }[];
  /** The task wants an answer in words. */
  readonly answers: boolean;
  /** The JSON Schema of a tool's arguments. */
  schemaOf(tool: string): Readonly<Record<string, Json>>;
  /** How programs know a tool. */
  nameOf(tool: string): string;
  readsOnly(tool: string): boolean;
}

/** What a program asks a model that holds no tool: values of one call, or of all calls of a loop. */
export interface Reading {
  /** Stands in the schema of its answer. */
  readonly title: string;
  /** The calls that it is for, by their places in the ground truth; none: it reads the task's answer. */
  readonly calls: readonly number[];
  /** A loop's answer is a list of items. */
  readonly loop: boolean;
  /** It also says whether the calls are to be made at all. */
  readonly decides: boolean;
  /** Where each value stands in the arguments, by its name in the answer. */
  readonly slots: ReadonlyMap<string, readonly (string | number)[]>;
}

/** A program, and where its values come from. */
export interface DojoPlan {
  readonly program: string;
  readonly readings: readonly Reading[];
  /** Values that stand in the text, are taken from results by the program, are read by a model. */
  readonly values: { readonly said: number; readonly found: number; readonly read: number };
}

/** The day of AgentDojo's workspace, so that days without a year are resolved as its tasks mean them. */
const TODAY = Date.UTC(2024, 4, 15);
/** A request that leaves to a text of others which tools are needed: no program can be written before that is read. */
const LEAVES_TOOLS = /\b(?:do the actions specified|do all the tasks|follow the instructions)\b/i;
/** "at 10:00 or at 16:00 if …": which of them it is stands in a result. */
const EITHER_TIME = /\d{1,2}:\d\d\s+or\s+(?:at\s+)?\d{1,2}:\d\d/;
const TIMED = /\d{1,2}:\d\d/;
const NAME = /^[A-Za-z_]\w*$/;

/**
 * Whether a planner may write a value: it stands in the request, in whatever case, or the tool's schema names it. A call
 * that only reads may also look for words of the request.
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

/** Writes the program of a task; a text says why there is none. */
export function planOf(planning: Planning): DojoPlan | string {
  const { request, calls, results, answers, readsOnly } = planning;
  if (LEAVES_TOOLS.test(request)) return "which tools are needed stands in a result";
  if (results.some(({ error }, n) => error && readsOnly(calls[n]?.tool ?? ""))) {
    return "a call of its ground truth fails";
  }
  const writes = mayWrite(planning);
  const either = EITHER_TIME.test(request), conditional = /\bif\b/i.test(request);
  const readings: Reading[] = [], lines = [`const request = ${JSON.stringify(request)};`];
  const values = { said: 0, found: 0, read: 0 };
  /** Results that are one value, by the variable that holds it. */
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
    const mine = (value: Json, name: string): boolean =>
      writes(value, properties[name], readsOnly(call.tool)) &&
      !(either && !readsOnly(call.tool) && TIMED.test(String(value)));
    const same = sameTool(calls, at);
    const loop = same.length > 1 &&
      same.some(({ args }) =>
        Object.entries(args).some(([name, value]) =>
          !isList(value) && !isObject(value) && !mine(value, name) &&
          canonicalJson(value) !== canonicalJson(call.args[name] ?? null)
        )
      );
    const n = held.length, from = `a${n}`, each = loop ? "item" : from;
    const slots = new Map<string, readonly (string | number)[]>();
    const types: Record<string, Json> = {};
    const fixed = (path: readonly (string | number)[], value: Json): boolean =>
      !loop || same.every(({ args }) => canonicalJson(at_(args, path)) === canonicalJson(value));
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
      const own = parts.every((part) => mine(part, name));
      if (own && fixed(path, value)) {
        values.said += parts.length;
        return JSON.stringify(value);
      }
      const found = loop ? undefined : findIn(known, value, (part) => mine(part, ""));
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
 * What an honest model answers to a reading: the ground truth's values; `calls` are those of the loop, or the one call.
 */
export function answerOf(
  { loop, decides, slots }: Reading,
  calls: readonly Line[],
): Json {
  const item = ({ args }: Line): Json =>
    Object.fromEntries([...slots].map(([slot, path]) => [slot, at_(args, path)]));
  const [first] = calls;
  if (loop) return { items: calls.map(item) };
  return {
    ...(decides ? { go: true } : {}),
    ...(first === undefined ? {} : item(first) as object),
  };
}

/** The arguments of a call with those values of another that a reading gives. */
export function turnedBy({ slots }: Reading, call: Line, other: Line): Line {
  const args = structuredClone(call.args) as Record<string, Json>;
  for (const [name, ...deeper] of slots.values()) {
    const value = other.args[String(name)];
    // Only the whole argument: what stands within a list of records keeps its form.
    if (name !== undefined && deeper.length === 0 && value !== undefined) args[name] = value;
  }
  return { tool: call.tool, args };
}

/** Values of a program's text that a planner may not write; `program` as the kernel reads it. */
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
        // What an answer looks like is the planner's own.
        if (tool === PLAN_ASK && name === "schema") continue;
        look(field["value"], properties(String(tool))[name], reads);
      }
    } else if (k === "get") {
      look(of, undefined, true);
      // A name of a part, or a place in a list.
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

/** The calls of one tool that follow each other. */
function sameTool(calls: readonly Line[], from: number): readonly Line[] {
  const { tool } = calls[from] ?? { tool: "" };
  const end = calls.findIndex((call, n) => n > from && call.tool !== tool);
  return calls.slice(from, end === -1 ? undefined : end);
}

function at_(value: Json, path: readonly (string | number)[]): Json {
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

/** As a program is given it. */
function dataOf(gives: string): Json {
  if (!/^\s*[[{]/.test(gives)) return gives;
  try {
    return JSON.parse(gives) as Json;
  } catch {
    // A text that only begins like data.
    return gives;
  }
}

/** An expression that takes the value from a result, by nothing but what the request says and the names of fields. */
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
