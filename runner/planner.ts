/**
 * The program `planned`: its model writes one program that makes all calls. The model sees the
 * request and the tools' signatures; of the calls' results it sees only that they exist, never
 * their content. docs/planned_programs.md. Used by worker.ts.
 * @module
 */
import { Fault } from "../contracts/base/fault.ts";
import { isObject, type Json, type JsonObject } from "../contracts/base/json.ts";
import { PLAN_ASK, PLAN_RUN, type PlanProgram, siteCallId } from "../contracts/exchange/planned.ts";
import type { ChatMessage, ToolCall } from "../contracts/model/chat.ts";
import type { Signal } from "../contracts/task/signal.ts";
import type { Outcome, ToolDescriptor, ToolResult, ToolSnapshot } from "../contracts/tool/tool.ts";
import type { StartBody, TurnEnd } from "../contracts/wire/wire_worker.ts";
import { type PlanHost, runProgram, Stopped } from "../planned/run/mod.ts";
import { type Habits, STANDARD_HABITS } from "./habits.ts";
import type { KernelPorts, Program } from "./program.ts";
import { makeStandard } from "./standard.ts";

/** Most calls that one program makes. */
const MAX_CALLS = 1_000;
/** Most UTF-16 code units that one program says to the person. */
const MAX_SAID = 500_000;
/** Signals that end a program before its next call. */
const ENDS: ReadonlySet<Signal> = new Set(["SIGINT", "SIGTERM", "SIGXCPU", "SIGBRAKE", "SIGPIPE"]);

/** Thrown when a call of the program does not succeed, which ends the program. */
class CallFailed extends Error {
  constructor(readonly place: string, readonly outcome: Outcome) {
    super(outcome);
  }
}

type Ports = Pick<KernelPorts, "advertise" | "infer" | "makeRoom" | "call">;

/** Makes the planned program over the kernel's ports. */
export function makePlanner(
  kernel: Ports,
  body: Pick<StartBody, "conversation" | "limits">,
): Program {
  /** The full tool table; the model itself is offered only one tool of it. */
  let all: ToolSnapshot | undefined;
  const provideAll = async (): Promise<ToolSnapshot> => all ??= await kernel.advertise();
  const own = (snapshot: ToolSnapshot): ToolSnapshot => {
    all = snapshot;
    return { ...snapshot, tools: snapshot.tools.filter(({ name }) => name === PLAN_RUN) };
  };
  let said: string[] = [], closing = "", ended = false;
  /** Calls that proposed programs: their order numbers the programs, also after a wait. */
  const proposed = body.conversation.flatMap(programsIn);

  const run = async (snapshot: string, call: ToolCall): Promise<ToolResult> => {
    const taken = await kernel.call(snapshot, call);
    if (taken.outcome !== "ok") return taken;
    said = [];
    closing = "";
    // TRUST: the kernel's own answer.
    const program = JSON.parse(taken.content) as PlanProgram;
    const made = new Map<number, { readonly tool: string; count: number; last: Json }>();
    const host = hostOf({
      ...{ kernel, snapshot: provideAll, plan: proposed.lastIndexOf(call.id) + 1, made },
      refresh: () => void (all = undefined),
      isEnded: () => ended,
      say: (text) => void said.push(text),
    });
    const told = (state: string): string => {
      const texts = said.length === 0 ? [] : [`It told the person ${said.length} texts.`];
      return [state, ...handles(made), ...texts].join("\n");
    };
    const result = { callId: call.id, colour: taken.colour, label: taken.label };
    try {
      const value = await runProgram(program, host);
      if (said.length === 0 && value !== undefined) host.say(value.text, value.mark);
      return { ...result, outcome: "ok", content: told("The program ran to its end.") };
    } catch (error) {
      if (!(error instanceof Stopped || error instanceof CallFailed)) throw error;
      const last = made.size === 0 ? "no call" : `call ${[...made.keys()].at(-1)}`;
      const why = error instanceof CallFailed
        ? `${error.place} came to ${error.outcome}`
        : `${error.message}, after ${last}`;
      return {
        ...result,
        outcome: "executionError",
        content: told("The program ended before its end."),
        error: why,
      };
    }
  };

  const standard = makeStandard(
    {
      advertise: async () => own(await kernel.advertise()),
      infer: kernel.infer,
      makeRoom: kernel.makeRoom,
      // The kernel refuses any call that is not a program.
      call: (snapshot, call) =>
        call.name === PLAN_RUN ? run(snapshot, call) : kernel.call(snapshot, call),
    },
    body,
    habitsOf({
      tools: async () => (await provideAll()).tools,
      heard(message): void {
        proposed.push(...programsIn(message));
        closing = message.content;
      },
    }),
  );

  return Object.freeze<Program>({
    ...standard,
    async turn(message, tools): Promise<TurnEnd> {
      said = [];
      closing = "";
      ended = false;
      const end = await standard.turn(message, tools === undefined ? undefined : own(tools));
      if (said.length === 0) return end;
      const text = [said.join("\n"), closing.trim()].filter((each) => each !== "").join("\n\n");
      return end.stop === "answered" ? { ...end, text } : end;
    },
    capsChanged(): void {
      all = undefined;
      standard.capsChanged();
    },
    told(signal, pressure): void {
      if (ENDS.has(signal)) ended = true;
      if (signal === "SIGCAPDROP") all = undefined;
      standard.told(signal, pressure);
    },
  });
}

function programsIn({ toolCalls = [] }: ChatMessage): readonly string[] {
  return toolCalls.filter(({ name }) => name === PLAN_RUN).map(({ id }) => id);
}

/** Makes what a program reaches: tool calls through the kernel, and texts to the person. */
function hostOf(
  { kernel, snapshot, plan, made, refresh, isEnded, say }: {
    readonly kernel: Pick<KernelPorts, "call">;
    snapshot(): Promise<Pick<ToolSnapshot, "id">>;
    readonly plan: number;
    readonly made: Map<number, { readonly tool: string; count: number; last: Json }>;
    refresh(): void;
    isEnded(): boolean;
    say(text: string): void;
  },
): PlanHost {
  let calls = 0, units = 0;
  return {
    async call({ site, tool, args }) {
      if (++calls > MAX_CALLS) throw new Stopped(`it makes more than ${MAX_CALLS} calls`);
      if (isEnded()) {
        throw new Fault("cancelled", "Cannot go on with the program: it was interrupted");
      }
      const before = made.get(site) ?? { tool, count: 0, last: null };
      const nth = ++before.count;
      made.delete(site);
      made.set(site, before);
      const call = {
        id: siteCallId(plan, site, nth),
        name: tool,
        arguments: JSON.stringify(args),
      } as ToolCall;
      let result = await kernel.call((await snapshot()).id, call);
      if (result.outcome === "unknownTool") {
        // The table changed meanwhile. A call refused as unknown had no effect, so retrying is
        // safe.
        refresh();
        result = await kernel.call((await snapshot()).id, call);
      }
      if (result.outcome !== "ok") throw new CallFailed(`call ${site} (${tool})`, result.outcome);
      const value = valueOf(tool, result.content);
      before.last = value;
      return { value, mark: { colour: result.colour, label: result.label } };
    },
    say(text): void {
      units += text.length;
      if (units > MAX_SAID) throw new Stopped("it says too much");
      say(text);
    },
  };
}

/** Parses a result: JSON where it looks like a record or list, else plain text. */
function valueOf(tool: string, content: string): Json {
  if (tool !== PLAN_ASK && !/^\s*[[{]/.test(content)) return content;
  const whole = jsonOf(content);
  return whole === undefined ? jsonOf(withoutMarks(content)) ?? content : whole;
}

function jsonOf(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Cuts off the kernel's notes for models at the end: `⟨written into the folder: …⟩`. */
function withoutMarks(content: string): string {
  let end = content.length;
  while (end > 0) {
    const from = content.lastIndexOf("\n", end - 1);
    if (from < 0 || content[from + 1] !== "⟨" || content[end - 1] !== "⟩") break;
    end = from;
  }
  return content.slice(0, end);
}

/** Describes the results that exist, by size and type but not by content. */
function handles(
  made: ReadonlyMap<number, { readonly tool: string; readonly count: number; readonly last: Json }>,
): readonly string[] {
  return [...made].sort(([a], [b]) => a - b).map(([site, { tool, count, last }]) => {
    const what = Array.isArray(last)
      ? `${last.length} items`
      : isObject(last)
      ? `a record of ${Object.keys(last).length} fields`
      : typeof last === "string"
      ? `a text of ${last.length} characters`
      : "a value";
    return `$${site}: result of ${tool}, ${what}${count === 1 ? "" : `, the last of ${count}`}`;
  });
}

const SOURCE = "tools of programs";

/**
 * Tells the model which tools its program may call: at the start, and again whenever that changes.
 */
function habitsOf(
  { tools, heard }: {
    tools(): Promise<readonly ToolDescriptor[]>;
    heard(message: ChatMessage): void;
  },
): Habits {
  return Object.freeze<Habits>({
    ...STANDARD_HABITS,
    begin(initial) {
      const [system, ...rest] = initial;
      if (rest.length > 0 || system === undefined) return [initial, initial.length];
      return [[{ ...system, content: `${system.content}\n\n${LANGUAGE}` }], 0];
    },
    async before(messages): Promise<readonly ChatMessage[]> {
      const content = `Your program may call:\n\n${
        (await tools()).flatMap(signatureOf).join("\n")
      }`;
      const last = messages.findLast(({ provenance: { source } }) => source === SOURCE);
      if (last?.content === content) return [];
      const provenance = {
        origin: "kernel",
        source: SOURCE,
        colour: "BLUE",
        label: "public",
      } as const;
      return [{ role: "user", content, provenance }];
    },
    heard(message) {
      heard(message);
      return message;
    },
  });
}

const LANGUAGE =
  `You plan: you write ONE program and hand it to ${PLAN_RUN}. The program makes all calls; you make none, and you never see what they bring. A person sees your program's calls and agrees to them once, so write the values that the request names into it word for word, and make no call that the request does not need.

The program is a small subset of JavaScript:
- const, let, if, for (const x of list), while, functions, arrow functions, template strings, destructuring, spread, ?., ??, ternaries.
- const r = tools.NAME({ name: value, … }) makes a call and gives its result: a record or list where the result is JSON, else a text. Arguments are written as a record with every name spelled out.
- const v = ask(text, schema) asks a model that holds no tool to read a text and to answer by a JSON Schema (a record): use it for what split, includes and the like cannot find. It sees nothing but the text.
- say(text) tells the person. Say what was asked for: it is the answer.
- Texts: ${"length, slice, split, includes, indexOf, startsWith, endsWith, trim, replace, replaceAll, toLowerCase, toUpperCase, padStart"}. Lists: length, map, filter, find, findIndex, some, every, reduce, flatMap, sort, slice, includes, indexOf, join, concat, reverse, at, push. Also Object.keys/values/entries/fromEntries, JSON.parse/stringify, Math.min/max/abs/round/floor/ceil, Number, String.
- There are no classes, no try, no regular expressions, no Date, no imports, no random numbers. A call that fails ends the program.`;

const HIDDEN: ReadonlySet<string> = new Set([
  PLAN_RUN,
  PLAN_ASK,
  "tool_search",
  "tool_describe",
  "tools_declare",
  "patch_apply",
]);

/** A tool's signature in the program's language; empty if programs may not call it. */
function signatureOf(
  { name, description, paramSchema, permission }: ToolDescriptor,
): readonly string[] {
  if (HIDDEN.has(name) || permission === "forbidden") return [];
  // TRUST: a descriptor's schema was parsed when it was reviewed.
  const schema = JSON.parse(paramSchema) as JsonObject;
  return [
    `tools.${name}(${typeOf(schema, 0)}): ${description.replaceAll(/\s+/g, " ").slice(0, 600)}`,
  ];
}

function typeOf(schema: Json | undefined, depth: number): string {
  if (!isObject(schema) || depth > 4) return "any";
  const { type, properties, required, items, enum: choices } = schema;
  if (Array.isArray(choices)) {
    return choices.slice(0, 30).map((each) => JSON.stringify(each)).join(" | ");
  }
  if (isObject(properties)) {
    const needed = Array.isArray(required) ? required : [];
    const fields = Object.entries(properties).map(([name, each]) =>
      `${name}${needed.includes(name) ? "" : "?"}: ${typeOf(each, depth + 1)}`
    );
    return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
  }
  if (type === "array") return `${typeOf(items, depth + 1)}[]`;
  if (type === "integer") return "number";
  return typeof type === "string" ? type : Array.isArray(type) ? type.join(" | ") : "any";
}
