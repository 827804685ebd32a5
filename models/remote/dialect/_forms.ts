/**
 * The forms in which families of models write calls, each from its published chat template:
 * - Hermes, Qwen 2.5 and 3: `<tool_call>{"name":…,"arguments":{…}}</tool_call>`
 * - Qwen 3 Coder: `<tool_call><function=NAME><parameter=KEY>VALUE</parameter></function></tool_call>`
 * - GLM 4.5 and later: `<tool_call>NAME<arg_key>KEY</arg_key><arg_value>VALUE</arg_value></tool_call>`
 * - Llama 3: `<|python_tag|>{"name":…,"parameters":{…}}` or `NAME.call(…)`, `<function=NAME>{…}</function>`
 * - Llama 4: `<|python_start|>[NAME(KEY=VALUE)]<|python_end|>`
 * - Mistral: `[TOOL_CALLS][{"name":…,"arguments":{…}}]`, and `[TOOL_CALLS]NAME[ARGS]{…}`
 * - DeepSeek R1, V3, V3.1: `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>…`; V3.2: `<｜DSML｜function_calls>`
 * - Kimi K2: `<|tool_calls_section_begin|>…`; MiniMax M2: `<minimax:tool_call><invoke name="NAME">`
 * - Phi 4 and Granite: `<|tool_call|>[{…}]<|/tool_call|>`
 * - Gemma: `<start_function_call>call:NAME{…}<end_function_call>`, `<|tool_call>call:NAME{…}<tool_call|>`
 * - Harmony (gpt-oss): `<|channel|>commentary to=functions.NAME<|message|>{…}<|call|>`.
 *
 * Used by dialect.ts.
 * @module
 */
import type { Json } from "../../../contracts/base/json.ts";
import { hermesCall, jsonCalls, type Out, type TextCall } from "./out.ts";
import { pythonCalls } from "./_python.ts";

/** Whether the schema of a tool says that an argument is a string. */
export type IsText = (tool: string, argument: string) => boolean;

/** Result of parsing a body. A string says why it is no call; undefined: it was not meant as one. */
export type ReadForm = readonly Out[] | string | undefined;

export interface Form {
  readonly open: string;
  /** The first of these closes the call; none: the end of the answer. */
  readonly close: readonly string[];
  /** Whether the text behind the marker can be a call; undefined while undecided. Absent: always. */
  readonly begins?: (start: string) => boolean | undefined;
  readonly read: (body: string, isText: IsText) => ReadForm;
}

const outs = (calls: readonly TextCall[]): readonly Out[] => calls.map((call) => ({ call }));
const NAME = String.raw`[A-Za-z_][\w.:-]{0,127}`;

/** Runs a parser that throws what is wrong. */
function reading(read: () => readonly TextCall[]): ReadForm {
  try {
    return outs(read());
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return error.message;
    throw error;
  }
}

/** JSON of one call, an array of them or several, also within a fence. */
const readJson = (body: string): ReadForm => reading(() => jsonCalls(unfenced(body)));

function unfenced(body: string): string {
  return /^\s*```\w*\s*\n([\s\S]*?)\n?\s*```\s*$/.exec(body)?.[1] ?? body;
}

const python = (body: string): ReadForm =>
  reading(() =>
    pythonCalls(body).map(({ name, args }) => ({
      name: plainName(name),
      arguments: JSON.stringify(args),
    }))
  );

/** `tool.call(…)` is Llama's form for built-in tools; a module before the name is dropped. */
const plainName = (name: string): string => name.replace(/\.call$/, "").replace(/^.*\./, "");

/** A parameter value in XML forms: a string as it is, anything else as JSON. */
function valueOf(text: string, isText: boolean): Json {
  if (isText) return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function named(
  name: string,
  pairs: Iterable<RegExpMatchArray>,
  isText: IsText,
): TextCall {
  const entries = [...pairs].map(([, key = "", value = ""]) =>
    [key, valueOf(value, isText(name, key))] as const
  );
  return { name, arguments: JSON.stringify(Object.fromEntries(entries)) };
}

/** Qwen 3 Coder, and Llama's `<function=NAME>{…}`. */
function readFunction(body: string, isText: IsText): ReadForm {
  const all = [
    ...body.matchAll(new RegExp(`<function=(${NAME})>([\\s\\S]*?)(?:</function>|$)`, "g")),
  ];
  if (all.length === 0) return "it has no <function=NAME>";
  return reading(() =>
    all.map(([, name = "", inner = ""]) => {
      if (inner.trimStart().startsWith("{")) {
        const args: unknown = JSON.parse(inner);
        return { name, arguments: JSON.stringify(args) };
      }
      const opened = inner.split("<parameter=").length - 1;
      const pairs = [
        ...inner.matchAll(/<parameter=([^>\n]{1,128})>\n?([\s\S]*?)\n?<\/parameter>/g),
      ];
      if (pairs.length !== opened) throw new SyntaxError("a <parameter=…> has no </parameter>");
      return named(name, pairs, isText);
    })
  );
}

/** GLM: the name, then keys and values. */
function readKeys(body: string, isText: IsText): ReadForm {
  const name = new RegExp(`^\\s*(${NAME})`).exec(body)?.[1] ?? "";
  const pairs = [
    ...body.matchAll(/<arg_key>([\s\S]*?)<\/arg_key>\s*<arg_value>([\s\S]*?)<\/arg_value>/g),
  ];
  if (pairs.length !== body.split("<arg_key>").length - 1) {
    return "an <arg_key> has no <arg_value> that is closed";
  }
  return outs([named(name, pairs, isText)]);
}

/** `<tool_call>`: three families use it with different bodies. */
function readTagged(body: string, isText: IsText): ReadForm {
  const start = body.trimStart();
  if (/^[[{`]/.test(start)) return readJson(body);
  return start.startsWith("<function=") ? readFunction(body, isText) : readKeys(body, isText);
}

/** Whether text behind `<tool_call>` is a call rather than prose about the tag. */
function beginsTagged(start: string): boolean | undefined {
  const said = start.trimStart();
  if (start.length - said.length > 64) return false;
  if (said === "") return undefined;
  if (/^[[{]|^```/.test(said)) return true;
  for (const mark of ["<function=", "```"]) {
    if (said.startsWith(mark)) return true;
    if (mark.startsWith(said)) return undefined;
  }
  const name = new RegExp(`^${NAME}`).exec(said)?.[0];
  if (name === undefined) return false;
  const after = said.slice(name.length).trimStart();
  if (after === "") return said.length > 200 ? false : undefined;
  return after.startsWith("<arg_key>") || after.startsWith("</tool_call>")
    ? true
    : "<arg_key>".startsWith(after) || "</tool_call>".startsWith(after)
    ? undefined
    : false;
}

/** `<invoke name="…">` with named parameters: DeepSeek 3.2 (with its marker before each word) and MiniMax. */
function readInvoke(body: string, isText: IsText): ReadForm {
  const plain = body.replaceAll("｜DSML｜", "");
  const all = [...plain.matchAll(/<invoke name="([^"]{1,128})">([\s\S]*?)<\/invoke>/g)];
  if (all.length === 0 || all.length !== plain.split("<invoke ").length - 1) {
    return "an <invoke> has no name or no end";
  }
  return reading(() =>
    all.map(([, name = "", inner = ""]) => {
      const pairs = [
        ...inner.matchAll(
          /<parameter name="([^"]{1,128})"(?: string="(true|false)")?>\n?([\s\S]*?)\n?<\/parameter>/g,
        ),
      ];
      if (pairs.length !== inner.split("<parameter ").length - 1) {
        throw new SyntaxError("a <parameter> has no name or no end");
      }
      const entries = pairs.map(([, key = "", text, value = ""]) =>
        [key, valueOf(value, text === "true" || (text === undefined && isText(name, key)))] as const
      );
      return { name, arguments: JSON.stringify(Object.fromEntries(entries)) };
    })
  );
}

/** DeepSeek R1 and V3 (`function<sep>NAME` and a fence), and V3.1 (`NAME<sep>{…}`). */
function readDeepseek(body: string): ReadForm {
  const items = body.split("<｜tool▁call▁begin｜>").slice(1);
  if (items.length === 0) return "it has no <｜tool▁call▁begin｜>";
  return reading(() =>
    items.map((item) => {
      const [head = "", rest] = (item.split("<｜tool▁call▁end｜>", 1)[0] ?? "").split(
        "<｜tool▁sep｜>",
        2,
      );
      if (rest === undefined) throw new SyntaxError("it has no <｜tool▁sep｜>");
      const [line = "", ...lines] = rest.split("\n");
      const typed = head.trim() === "function" && !line.trimStart().startsWith("{");
      const text = unfenced(typed ? lines.join("\n") : rest);
      return argued((typed ? line : head).trim(), text);
    })
  );
}

/** Kimi: `functions.NAME:0`, a marker, JSON. */
function readKimi(body: string): ReadForm {
  const items = body.split("<|tool_call_begin|>").slice(1);
  if (items.length === 0) return "it has no <|tool_call_begin|>";
  return reading(() =>
    items.map((item) => {
      const whole = item.split("<|tool_call_end|>", 1)[0] ?? "";
      const [id = "", json] = whole.split("<|tool_call_argument_begin|>", 2);
      if (json === undefined) throw new SyntaxError("it has no <|tool_call_argument_begin|>");
      return argued(id.trim().replace(/^functions\./, "").replace(/:\d+$/, ""), json);
    })
  );
}

/** Mistral: an array of calls, or names with arguments in sequence. */
function readMistral(body: string): ReadForm {
  const text = body.replace(/<\/s>\s*$/, "");
  if (/^\s*[[{]/.test(text)) return readJson(text);
  return reading(() =>
    text.split("[TOOL_CALLS]").map((item) => {
      const found = /^\s*([\w.-]{1,128})(?:\[CALL_ID\][\w-]*)?\s*(?:\[ARGS\])?\s*(\{[\s\S]*)$/.exec(
        item,
      );
      if (found === null) throw new SyntaxError("it has no NAME[ARGS]{…}");
      return argued(found[1] ?? "", found[2] ?? "");
    })
  );
}

function argued(name: string, json: string): TextCall {
  const args: unknown = json.trim() === "" ? {} : JSON.parse(json);
  if (typeof args !== "object" || args === null || Array.isArray(args)) {
    throw new SyntaxError("its arguments are no object");
  }
  if (name === "") throw new SyntaxError("it has no name");
  return { name, arguments: JSON.stringify(args) };
}

/** Gemma: `call:NAME{key:<mark>text<mark>,n:5}`; its markers replace quotes. */
function readGemma(body: string): ReadForm {
  const found = new RegExp(`^\\s*call:(${NAME}?)(\\{[\\s\\S]*\\})\\s*$`).exec(body);
  if (found === null) return "it is not call:NAME{…}";
  const json = (found[2] ?? "").split(/<\|"\|>|<escape>/).map((part, at) =>
    at % 2 === 1
      ? JSON.stringify(part)
      : part.replaceAll(/([{,]\s*)([A-Za-z_][\w.-]*)\s*:/g, '$1"$2":')
  ).join("");
  return reading(() => [argued(found[1] ?? "", json)]);
}

/** A Harmony message: channel, recipient, content. */
function readHarmony(body: string): ReadForm {
  const at = body.indexOf("<|message|>");
  if (at < 0) return "it has no <|message|>";
  const head = body.slice(0, at);
  const said = body.slice(at + "<|message|>".length);
  const to = /\bto=(?:functions\.)?([\w.-]{1,128})/.exec(head)?.[1];
  if (to !== undefined && to !== "user") return reading(() => [argued(to, said)]);
  if (/analysis/.test(head)) return [{ rationale: said }];
  return [{ text: said }];
}

/** Llama behind its marker: JSON, several separated by `;`, or Python. */
function readLlama(body: string): ReadForm {
  const text = body.replace(/<\|eo[mt]_id\|>\s*$/, "");
  return /^\s*\{/.test(text) ? readJson(text) : python(text);
}

/** All forms with a marker. */
export const FORMS: readonly Form[] = [
  { open: "<tool_call>", close: ["</tool_call>"], begins: beginsTagged, read: readTagged },
  {
    open: "<function=",
    close: ["</function>"],
    read: (body, isText) => readFunction(`<function=${body}</function>`, isText),
  },
  { open: "[TOOL_CALLS]", close: ["</s>"], read: readMistral },
  { open: "<｜tool▁calls▁begin｜>", close: ["<｜tool▁calls▁end｜>"], read: readDeepseek },
  { open: "<｜DSML｜function_calls>", close: ["</｜DSML｜function_calls>"], read: readInvoke },
  { open: "<minimax:tool_call>", close: ["</minimax:tool_call>"], read: readInvoke },
  { open: "<|tool_calls_section_begin|>", close: ["<|tool_calls_section_end|>"], read: readKimi },
  { open: "<|tool_call|>", close: ["<|/tool_call|>"], read: readJson },
  { open: "<|tool_call>", close: ["<tool_call|>"], read: readGemma },
  { open: "<start_function_call>", close: ["<end_function_call>"], read: readGemma },
  { open: "<|python_tag|>", close: ["<|eom_id|>", "<|eot_id|>"], read: readLlama },
  { open: "<|python_start|>", close: ["<|python_end|>"], read: readLlama },
  { open: "<|start|>", close: ["<|end|>", "<|call|>", "<|return|>"], read: readHarmony },
  { open: "<|channel|>", close: ["<|end|>", "<|call|>", "<|return|>"], read: readHarmony },
];

/** An answer that consists only of calls of advertised tools: Llama's JSON, or Python. */
export function readBare(text: string, advertised: ReadonlySet<string>): ReadForm {
  const trimmed = text.trim();
  const read = trimmed.startsWith("{") || /^\[\s*\{/.test(trimmed)
    ? readJson(trimmed)
    : python(trimmed);
  if (typeof read === "object") {
    return read.every((out) => "call" in out && advertised.has(out.call.name)) ? read : undefined;
  }
  const meant = [...advertised].some((name) =>
    trimmed.includes(`"${name}"`) && /"(?:parameters|arguments)"\s*:/.test(trimmed) ||
    new RegExp(`^\\[?\\s*${RegExp.escape(name)}\\s*\\(`).test(trimmed)
  );
  return meant ? read : undefined;
}

/** The content of a fence `json`, `tool_call` or `tool_code`. */
export function readFence(
  kind: string,
  body: string,
  advertised: ReadonlySet<string>,
): ReadForm {
  if (kind === "tool_code") {
    const read = python(body);
    const known = [...advertised].some((name) =>
      new RegExp(`\\b${RegExp.escape(name)}\\s*\\(`).test(body)
    );
    return known ? read : undefined;
  }
  if (kind === "tool_call") return readJson(body);
  const call = hermesCall(body, advertised);
  if (call !== undefined) return [{ call }];
  const read = readJson(body);
  const meant = typeof read === "string" &&
    [...advertised].some((name) => body.includes(`"${name}"`)) &&
    /["'](?:arguments|parameters|args)["']\s*:/.test(body);
  return meant ? read : undefined;
}
