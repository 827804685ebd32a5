/** The plugin host's answers to the kernel; contracts/wire/wire_plugin.ts. @module */
import { Fault, unreachable } from "../../contracts/base/fault.ts";
import type { Json, JsonObject } from "../../contracts/base/json.ts";
import type { Port, PortHandler } from "../../contracts/base/port.ts";
import type {
  LoadEngineBody,
  LoadPluginBody,
  PluginCallBody,
  PluginCancel,
} from "../../contracts/wire/wire_plugin.ts";
import type { LiveCall } from "./live_call.ts";
import { makeLoader } from "./loader.ts";
import type { LocalPowers } from "./local_functions.ts";
import type { Plugin } from "./plugin.ts";

/** The powers of a plugin host. */
export interface PluginHostPowers extends LocalPowers {
  /** SHA-256 in hex. */
  readonly sha256: (bytes: Uint8Array<ArrayBuffer>) => Promise<string>;
}

/** The handler of one plugin host's port. */
export interface PluginHost extends PortHandler {
  /** Always true: a plugin has no clock, and makes one request at a time. */
  still(): boolean;
  /** Does work ahead of the next request; does nothing during a call. */
  idle(): void;
}

/**
 * Makes the handler of one plugin host's port. Besides the contract's ops it answers `usage` with
 * `{instances, calls, wasmBytes}`: instances made and calls begun since the start, and bytes of
 * retained WASM memory. The kernel uses them to decide when to replace the host.
 */
export function makePluginHost(port: Pick<Port, "ask">, powers: PluginHostPowers): PluginHost {
  const plugins = new Map<string, Plugin>();
  const live = new Map<string, LiveCall>();
  let instances = 0;
  let calls = 0;
  const loader = makeLoader({
    sha256: powers.sha256,
    powers: {
      now: powers.now,
      random: powers.random,
      ask: (call, fn, args) => port.ask("host", { call, fn, args }),
    },
    onInstance: () => void instances++,
    onCall(id, call): void {
      if (call === undefined) live.delete(id);
      else live.set(id, call);
    },
  });

  async function load(body: LoadPluginBody): Promise<null> {
    const { plugin } = body;
    if (plugins.has(plugin)) {
      throw new Fault("alreadyExists", `Cannot load plugin "${plugin}": it is loaded`);
    }
    plugins.set(plugin, await loader.plugin(body));
    return null;
  }

  async function call(body: PluginCallBody): Promise<JsonObject> {
    const plugin = plugins.get(body.plugin);
    if (plugin === undefined) {
      throw new Fault("notFound", `Cannot call plugin "${body.plugin}": it is not loaded`);
    }
    if (live.has(body.id)) throw new Fault("badFrame", "Cannot call a plugin: the id is in use");
    calls++;
    const { value, logs } = await plugin.call(body);
    return { value, logs, instances };
  }

  function usage(): JsonObject {
    let wasmBytes = 0;
    for (const plugin of plugins.values()) wasmBytes += plugin.wasmBytes();
    return { instances, calls, wasmBytes };
  }

  return Object.freeze({
    ask(op: string, body: Json): Json | Promise<Json> {
      const request = parseRequest(op, body);
      switch (request.op) {
        case "load":
          return load(request.body);
        case "engine":
          return loader.engine(request.body).then(() => null);
        case "call":
          return call(request.body);
        case "usage":
          return usage();
        case "cancel":
          throw new Fault("badFrame", `Cannot serve "cancel": it is an event`);
        default:
          return unreachable(request);
      }
    },
    tell(op: string, body: Json): void {
      const request = parseRequest(op, body);
      if (request.op !== "cancel") throw new Fault("badFrame", `Cannot take "${op}": no event`);
      const found = live.get(request.body.id);
      if (found !== undefined) found.cancelled = true;
    },
    still: () => true,
    idle(): void {
      if (live.size > 0) return;
      for (const plugin of plugins.values()) plugin.prepare();
    },
  });
}

// The kernel's requests to a plugin host. The kernel is trusted: only their shape is checked.

/** A request with its body, or an event. */
type HostRequest =
  | { readonly op: "load"; readonly body: LoadPluginBody }
  | { readonly op: "engine"; readonly body: LoadEngineBody }
  | { readonly op: "call"; readonly body: PluginCallBody }
  | { readonly op: "cancel"; readonly body: PluginCancel }
  | { readonly op: "usage" };

const TEXTS: Readonly<Record<string, readonly string[]>> = {
  load: ["plugin", "engine", "sha256", "code"],
  engine: ["sha256", "code"],
  call: ["id", "plugin", "tool"],
  cancel: ["id"],
  usage: [],
};

/** Parses a request. @throws {Fault} `badFrame` */
function parseRequest(op: string, body: Json): HostRequest {
  const texts = Object.hasOwn(TEXTS, op) ? TEXTS[op] : undefined;
  if (texts === undefined) throw new Fault("badFrame", `Cannot serve "${op}": unknown`);
  for (const name of texts) {
    const value = typeof body === "object" && body !== null ? Reflect.get(body, name) : undefined;
    if (typeof value !== "string") throw new Fault("badFrame", `Cannot serve "${op}": no ${name}`);
  }
  // TRUST: the kernel built this from its own types.
  return { op, body } as unknown as HostRequest;
}
