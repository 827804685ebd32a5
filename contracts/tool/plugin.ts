/** Plugins: tools as WASM modules or scripts, and the host functions they may use. @module */
import * as z from "zod";
import { Colour, EffectClass } from "../authority/colour.ts";
import { Digest, ToolName } from "../authority/ids.ts";

/** Functions that a plugin may call in its host; it has no other access. */
export const HostFunction = z.enum([
  "fs.read",
  "fs.list",
  "fs.write",
  "fs.delete",
  "http.fetch",
  "tool.call",
  "model.complete",
  "memory.query",
  "secret.use",
  "log",
  "clock",
  "random",
  "progress",
]);
export type HostFunction = z.infer<typeof HostFunction>;

/** The gravest effect of each host function; a tool's effect is the gravest of its plugin's functions. */
export const HOST_FUNCTION_EFFECT: Readonly<Record<HostFunction, EffectClass>> = Object.freeze({
  "fs.read": "read",
  "fs.list": "read",
  "fs.write": "stage",
  "fs.delete": "stage",
  "http.fetch": "outboundRead",
  // Each nested call is judged by itself.
  "tool.call": "stage",
  // Inference is judged by label and budget.
  "model.complete": "read",
  "memory.query": "read",
  "secret.use": "read",
  log: "read",
  clock: "read",
  random: "read",
  progress: "read",
});

/** A plugin's name, also of its folder. */
export const PluginName = z.string().regex(/^[a-z][a-z0-9_]{0,31}$/).brand<"PluginName">();
export type PluginName = z.infer<typeof PluginName>;

/** Maximum declared memory of a plugin in pages of 64 KiB: 256 MiB. */
export const PLUGIN_PAGES = 4_096;

const argument = z.string().regex(/^[a-zA-Z][a-zA-Z0-9_]{0,63}$/);

/** One tool of a plugin. */
export const PluginTool = z.object({
  name: ToolName,
  description: z.string().min(1).max(4_096),
  /** JSON Schema of the arguments: an object, without `pattern`, `format` and `uniqueItems`. */
  parameters: z.record(z.string(), z.json()),
  /** JSON Schema of the result's value; any JSON when absent. */
  result: z.record(z.string(), z.json()).optional(),
  /** May only raise the effect of the host functions. */
  effect: EffectClass.optional(),
  /** Arguments that name a workspace path (`MOUNT/relative`), or a list of such, that the call reads. */
  reads: z.array(argument).max(8).default([]),
  /** Arguments that name a workspace path whose change is staged. */
  writes: z.array(argument).max(8).default([]),
  /** The argument that names a web address, whose origin is the only one that `http.fetch` may reach. */
  fetches: argument.optional(),
  /**
   * An export of the module to call in place of `run`, for modules of ordinary Extism kits. Its
   * input is the argument `input` as text if the schema has only that one, else the arguments as
   * JSON; its output is the value, a text.
   */
  export: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/).optional(),
  /** Milliseconds a call may compute; waiting for a person does not count. */
  deadlineMs: z.int().min(10).max(600_000).default(30_000),
  /** The argument that shortens the deadline of a call, milliseconds. */
  deadline: argument.optional(),
  /** Whether a call may be run again after a crash. */
  idempotent: z.boolean().default(true),
  /** Best possible colour of results. */
  colour: Colour.default("BLUE"),
  /** Maximum bytes of a result that are shown. */
  resultBytes: z.int().min(256).max(1_000_000).default(65_536),
}).strict();
export type PluginTool = z.infer<typeof PluginTool>;

/** A plugin's `tool.yaml`. */
export const PluginManifest = z.object({
  name: PluginName,
  version: z.string().regex(/^[0-9]{1,6}\.[0-9]{1,6}\.[0-9]{1,6}$/),
  licence: z.string().min(1).max(64),
  /** `wasm`: an Extism module with an export `run`. `script`: JavaScript run in the `exec` engine. */
  engine: z.enum(["wasm", "script"]),
  /** SHA-256 of the module or script; pinned when a plugin is built or added. */
  sha256: Digest,
  tools: z.array(PluginTool).min(1).max(64),
  hostFunctions: z.array(HostFunction).max(16).default([]),
  /** Maximum memory in pages of 64 KiB; the module may not declare more. */
  memoryPages: z.int().min(1).max(PLUGIN_PAGES),
  /** Ed25519 over `remit plugin\n` and the canonical JSON of the manifest without this field; hex. */
  signature: z.object({
    key: z.string().regex(/^[0-9a-f]{64}$/),
    value: z.string().regex(/^[0-9a-f]{128}$/),
  }).strict().optional(),
}).strict();
export type PluginManifest = z.infer<typeof PluginManifest>;
