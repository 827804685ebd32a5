/**
 * Runs a plugin host for the command line: a process without permissions, for tests of plugins.
 * @module
 */
import * as z from "zod";
import {
  CHILD_FLAGS,
  Fault,
  type Json,
  type JsonObject,
  toJson,
} from "../../contracts/base/mod.ts";
import { HostFunction, type PluginManifest, type PluginTool } from "../../contracts/tool/mod.ts";
import { LOCAL_FUNCTIONS } from "../../contracts/wire/mod.ts";
import { WIDE_FRAME_BYTES } from "../../contracts/wire/wire_plugin.ts";
import { makePort, type Port } from "../../port/mod.ts";
import type { PluginCode, PluginHost, ServeHost } from "./kit.ts";

const LOAD_MS = 20_000;

const CallAnswer = z.object({
  value: z.json(),
  logs: z.array(z.string()),
  instances: z.number().optional(),
}).strict();

/** The location of a plugin host's program. */
export interface HostProgram {
  readonly bundle: string;
  readonly denoDir: string;
  /** The module that runs scripts; called only for a script. */
  engine(): Promise<{ readonly sha256: string; readonly file: string }>;
}

/** The process at the other end of a port. */
interface Running {
  readonly port: Port;
  /** Waits at most `ms` milliseconds, then ends the process and throws `timedOut`. */
  within<T>(ms: number, what: string, work: Promise<T>): Promise<T>;
  close(): Promise<void>;
}

function start(program: HostProgram, serve: ServeHost): Running {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", ...CHILD_FLAGS, program.bundle],
    cwd: "/",
    clearEnv: true,
    env: { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1", DENO_DIR: program.denoDir },
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const writer = child.stdin.getWriter();
  const port: Port = makePort({
    // The end of its output reports a host that has gone.
    write: (bytes) => void writer.write(bytes).catch(() => undefined),
    limits: { frameBytes: WIDE_FRAME_BYTES },
    handler: {
      ask(op, body): Promise<Json> {
        const { fn, args } = parseHostRequest(op, body);
        return serve(fn, args);
      },
      tell: () => undefined,
    },
  });
  void pump(child.stdout, port);
  const close = async (): Promise<void> => {
    port.close("the test is over");
    try {
      child.kill("SIGKILL");
    } catch (error) {
      // It has ended by itself.
      if (!(error instanceof TypeError)) throw error;
    }
    await child.status;
  };
  const within = async <T>(ms: number, what: string, work: Promise<T>): Promise<T> => {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      late.reject(new Fault("timedOut", `Cannot ${what}: it took longer than ${ms} ms`));
      void close();
    }, ms);
    try {
      return await Promise.race([work, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  };
  return { port, within, close };
}

async function pump(stream: ReadableStream<Uint8Array>, port: Port): Promise<void> {
  for await (const chunk of stream) port.feed(chunk);
  port.close("the plugin host has ended");
}

async function load(running: Running, program: HostProgram, plugin: PluginCode): Promise<void> {
  const { manifest, code } = plugin;
  const { port } = running;
  const script = manifest.engine === "script";
  if (script) {
    const { file, sha256 } = await program.engine();
    const engine = await Deno.readFile(file);
    await running.within(
      LOAD_MS,
      "load the engine",
      port.ask("engine", { sha256, code: engine.toBase64() }),
    );
  }
  const exports = exportsOf(manifest);
  const loaded = port.ask("load", {
    plugin: manifest.name,
    engine: manifest.engine,
    sha256: manifest.sha256,
    code: script ? new TextDecoder().decode(code) : code.toBase64(),
    memoryPages: manifest.memoryPages,
    hostFunctions: manifest.hostFunctions,
    ...(Object.keys(exports).length === 0 ? {} : { exports }),
  });
  await running.within(LOAD_MS, `load plugin "${manifest.name}"`, loaded);
}

function exportsOf({ tools }: PluginManifest): Readonly<Record<string, string>> {
  return Object.fromEntries(
    tools.flatMap((tool) => tool.export === undefined ? [] : [[tool.name, tool.export]]),
  );
}

/** Starts a plugin host without permissions and loads one plugin. Throws the load gate's fault. */
export async function startPluginHost(
  program: HostProgram,
  plugin: PluginCode,
): Promise<PluginHost> {
  const { manifest } = plugin;
  let serving: ServeHost = () => Promise.reject(new Fault("refused", "Cannot serve: no call"));
  const running = start(
    program,
    (fn, args) =>
      manifest.hostFunctions.includes(fn) && !LOCAL_FUNCTIONS.includes(fn)
        ? serving(fn, args)
        : Promise.reject(new Fault("refused", `Cannot use ${fn}: tool.yaml does not ask for it`)),
  );
  try {
    await load(running, program, plugin);
  } catch (error) {
    await running.close();
    throw error;
  }
  let calls = 0;
  return Object.freeze<PluginHost>({
    async call(name, args, serve) {
      const tool = manifest.tools.find((each) => each.name === name);
      if (tool === undefined) throw new Fault("unknownTool", `Cannot call "${name}": no such tool`);
      serving = serve;
      calls += 1;
      const raw = rawInput(tool, args);
      const called = running.port.ask("call", {
        id: `c${calls}`,
        plugin: manifest.name,
        tool: name,
        args,
        bytes: tool.resultBytes,
        ...(raw === undefined ? {} : { raw }),
      });
      const answer = await running.within(tool.deadlineMs, `run "${name}"`, called);
      const { value, logs } = CallAnswer.parse(answer);
      return { value: toJson(value), logs };
    },
    close: running.close,
  });
}

// The frames of the port.

const HostRequest = z.object({
  call: z.string().max(128),
  fn: HostFunction,
  args: z.record(z.string(), z.json()),
}).strict();

/** Parses a `host` request. Throws `badFrame` for any other. */
function parseHostRequest(
  op: string,
  body: Json,
): { readonly fn: HostFunction; readonly args: JsonObject } {
  const parsed = HostRequest.safeParse(body);
  if (op !== "host" || !parsed.success) {
    throw new Fault("badFrame", "Cannot serve the plugin host: it asks for what there is not");
  }
  return parsed.data;
}

/** The input of a tool with its own export (contracts/tool/plugin.ts); undefined for others. */
function rawInput(tool: PluginTool, args: JsonObject): string | undefined {
  if (tool.export === undefined) return undefined;
  const { properties } = tool.parameters;
  const names = typeof properties === "object" && properties !== null
    ? Object.keys(properties)
    : [];
  const { input } = args;
  return names.length === 1 && names[0] === "input" && typeof input === "string"
    ? input
    : JSON.stringify(args);
}
