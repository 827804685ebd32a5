/** Shared by the tests of a plugin host: plugins as the host gets them, and a kernel that it calls. */
import { Fault } from "../../../contracts/base/fault.ts";
import type { Json, JsonObject } from "../../../contracts/base/json.ts";
import type { HostFunction } from "../../../contracts/tool/plugin.ts";
import type { Port } from "../../../contracts/base/port.ts";
import type {
  HostFunctionBody,
  LoadPluginBody,
  PluginCallAnswer,
  PluginCallBody,
} from "../../../contracts/wire/wire_plugin.ts";
import { toJson } from "../../../contracts/base/json.ts";
import { assembleFile } from "./assemble.ts";
import { makePluginHost } from "../host.ts";
import { sha256 } from "../host_powers.ts";
import { readShape } from "../module_shape.ts";

/** A module as `load` takes it: every export without arguments is a tool of its name. */
export async function loadBody(
  name: string,
  options: {
    readonly plugin?: string;
    readonly hostFunctions?: readonly HostFunction[];
    readonly memoryPages?: number;
    readonly bytes?: Uint8Array<ArrayBuffer>;
  } = {},
): Promise<LoadPluginBody> {
  const bytes = options.bytes ?? assembleFile(name);
  let exports: Record<string, string> = {};
  try {
    exports = Object.fromEntries(
      readShape(bytes).exports.filter(({ signature }) => signature === "-> i32")
        .map((each) => [each.name, each.name]),
    );
  } catch {
    // Not a module: the gate reports that.
  }
  return {
    plugin: options.plugin ?? name,
    engine: "wasm",
    sha256: await sha256(bytes),
    code: bytes.toBase64(),
    memoryPages: options.memoryPages ?? 16,
    hostFunctions: options.hostFunctions ?? [],
    exports,
  };
}

/** A running or finished call: `value`, or `code` and `message`. */
export interface Told {
  readonly value?: Json;
  readonly logs?: readonly string[];
  readonly code?: string;
  readonly message?: string;
  readonly detail?: JsonObject | undefined;
}

/** Both ways to call: with a raw text, or with an envelope. */
export interface Caller {
  load(name: string, options?: Parameters<typeof loadBody>[1]): Promise<void>;
  /** Calls a tool, `PLUGIN TOOL`, with a raw text. */
  raw(tool: string, input?: string, changes?: Partial<PluginCallBody>): Promise<Told>;
  /** Calls a tool, `PLUGIN TOOL`, whose result is an envelope. */
  call(tool: string, changes?: Partial<PluginCallBody>): Promise<Told>;
}

/** Calls through any end of a port, or a handler. */
export function makeCaller(ask: (op: string, body: Json) => Json | Promise<Json>): Caller {
  let calls = 0;
  const call = async (tool: string, changes: Partial<PluginCallBody>): Promise<Told> => {
    const [plugin = "", name = "run"] = tool.split(" ");
    const body = { id: `call_${++calls}`, plugin, tool: name, args: {}, bytes: 65_536, ...changes };
    try {
      const answer = await ask("call", toJson(body)) as unknown as PluginCallAnswer;
      // The number of instances so far is no part of a call's outcome.
      const { value, logs } = answer;
      return { value, logs };
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return { code: error.code, message: error.message, detail: error.detail };
    }
  };
  return {
    async load(name, options): Promise<void> {
      await ask("load", toJson(await loadBody(name, options)));
    },
    raw: (tool, input = "", changes = {}) => call(tool, { raw: input, ...changes }),
    call: (tool, changes = {}) => call(tool, changes),
  };
}

/** A kernel that records its requests and answers with `answer`. */
export interface Kernel {
  readonly asked: readonly HostFunctionBody[];
  /** Resolves when it has received this many requests. */
  until(count: number): Promise<void>;
  readonly handler: { ask(op: string, body: Json): Json | Promise<Json>; tell(): void };
}

export function makeKernel(
  answer: (asked: HostFunctionBody) => Json | Promise<Json> = () => ({ text: "alpha" }),
): Kernel {
  const asked: HostFunctionBody[] = [];
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  return {
    asked,
    until: (count) =>
      asked.length >= count
        ? Promise.resolve()
        : new Promise((resolve) => waiting.push({ count, resolve })),
    handler: {
      ask(op, body): Json | Promise<Json> {
        if (op !== "host") throw new Fault("badFrame", `Cannot serve "${op}": unknown`);
        const question = body as unknown as HostFunctionBody;
        asked.push(question);
        for (const { count, resolve } of waiting) if (asked.length >= count) resolve();
        return answer(question);
      },
      tell: () => undefined,
    },
  };
}

/** A host in this process, with a clock that stands at 1 and constant randomness. */
export function makeHere(kernel: Kernel = makeKernel()): Caller & {
  ask(op: string, body: Json): Promise<Json>;
  tell(op: string, body: Json): void;
} {
  const port: Pick<Port, "ask"> = {
    ask: async (op, body) => toJson(await kernel.handler.ask(op, body)),
  };
  const powers = { now: () => 1, random: (bytes: number) => "A".repeat(bytes), sha256 };
  const host = makePluginHost(port, powers);
  const ask = async (op: string, body: Json): Promise<Json> => await host.ask(op, body);
  return { ...makeCaller(ask), ask, tell: (op, body) => host.tell(op, body) };
}
