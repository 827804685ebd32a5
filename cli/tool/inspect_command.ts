/** `tool inspect`: shows a plugin with its requests and powers, or a tool with its arguments. @module */
import { type EffectClass, ToolName } from "../../contracts/authority/mod.ts";
import { EXIT, Fault } from "../../contracts/base/mod.ts";
import { PLUGIN_PAGES, type PluginManifest } from "../../contracts/tool/mod.ts";
import { sha256Hex } from "../../port/digest.ts";
import { type Command, printJson, printLines } from "../command.ts";
import { absolute } from "../../launch/disk/places.ts";
import {
  effectOf,
  fieldLines,
  gateWords,
  lookDocument,
  lookFields,
  reviewDocument,
  reviewLines,
  type Vouched,
} from "../plugin/review.ts";
import { checkSignature } from "../../tools-wasm/kit/signature.ts";
import { type Candidate, openCandidate } from "../plugin/source.ts";
import { readPluginStore } from "../../tools-wasm/kit/store.ts";
import { toolKeysOf } from "./commands.ts";
import { displayBlock, displayText } from "../../text/mod.ts";
import { needOf } from "../../tools-wasm/kit/tool_needs.ts";
import type { Basic } from "../powers.ts";

/** The plugin with this name or tool, added or Remit's own; undefined without one. */
async function findPlugin(
  command: Command<Basic | "plugins">,
  name: string,
  toolKeys: readonly string[],
): Promise<Candidate & { readonly vouched: Vouched } | undefined> {
  const { powers, places } = command;
  if (!ToolName.safeParse(name).success) return undefined;
  const { plugins, refused } = readPluginStore(powers.disk, places, toolKeys);
  const bad = refused.find((each) => each.name === name);
  if (bad !== undefined) {
    throw new Fault("refused", `Cannot use plugin "${name}": ${bad.why}`);
  }
  const all = [
    ...plugins.map((each) => ({ ...each, vouched: checkSignature(each.manifest, toolKeys) })),
    ...(await powers.plugins.builtIn()).plugins.map((each) => ({
      ...each,
      vouched: "own" as const,
    })),
  ];
  const found = all.find(({ manifest }) => manifest.name === name) ??
    all.find(({ manifest }) => manifest.tools.some((tool) => tool.name === name));
  const code = found === undefined ? undefined : powers.disk.read(found.file);
  if (found === undefined || code === undefined) return undefined;
  const script = found.manifest.engine === "script";
  return {
    manifest: found.manifest,
    vouched: found.vouched,
    code,
    look: script ? undefined : powers.plugins.look(code),
    findings: script ? [] : powers.plugins.judge(code, found.manifest),
    notes: [],
  };
}

function moduleAt(
  command: Command,
  given: string,
): { readonly bytes: Uint8Array; readonly sha256: string } | undefined {
  const bytes = command.powers.disk.read(absolute(command.powers.environment, given));
  return bytes === undefined ? undefined : { bytes, sha256: sha256Hex(bytes) };
}

/** Inspects a module without a manifest, and writes nothing into it. */
function inspectModule(
  command: Command<Basic | "plugins">,
  module: Uint8Array,
  sha256: string,
): number {
  const { plugins, screen } = command.powers;
  const look = plugins.look(module);
  const pages = look.memories[0]?.most ?? PLUGIN_PAGES;
  const findings = plugins.judge(module, { memoryPages: Math.min(pages, PLUGIN_PAGES), tools: [] });
  if (command.json) {
    printJson(command, {
      sha256,
      bytes: module.length,
      ...lookDocument(look),
      loadGate: { passes: findings.length === 0, findings },
    });
  } else {
    printLines(
      command,
      fieldLines(screen, [
        ["module", [`${module.length} bytes`]],
        ["sha256", [sha256]],
        ...lookFields(look),
        ["gate", gateWords(findings)],
      ]),
    );
  }
  return EXIT.success;
}

/** `tool inspect NAME|FILE|FOLDER`. */
export async function toolInspect(command: Command<Basic | "plugins">): Promise<number> {
  const { powers } = command;
  const given = command.parsed.args[0] ?? "";
  const file = given.endsWith(".wasm") ? moduleAt(command, given) : undefined;
  if (file !== undefined) return inspectModule(command, file.bytes, file.sha256);
  const toolKeys = toolKeysOf(command);
  const kept = await findPlugin(command, given, toolKeys);
  const tool = await findTool(command, given, kept?.manifest);
  if (tool !== undefined && tool.plugin !== given) {
    if (command.json) printJson(command, toolDocument(tool));
    else printLines(command, fieldLines(powers.screen, toolFields(tool)));
    return EXIT.success;
  }
  const found = kept ?? await openCandidate(command, given);
  const vouched = kept?.vouched ?? checkSignature(found.manifest, toolKeys);
  if (command.json) printJson(command, reviewDocument(found, vouched));
  else {
    const last = tool === undefined ? [] : fieldLines(powers.screen, toolFields(tool));
    printLines(command, [...reviewLines(powers.screen, found, vouched), ...last]);
  }
  return EXIT.success;
}

/** The tool with this name, of `plugin` if given, else Remit's own; undefined without one. */
async function findTool(
  command: Command<Basic | "plugins">,
  name: string,
  plugin: PluginManifest | undefined,
): Promise<ShownTool | undefined> {
  const tool = plugin?.tools.find((each) => each.name === name);
  if (plugin !== undefined && tool !== undefined) {
    const { description, parameters } = tool;
    return { name, description, parameters, effect: effectOf(plugin, tool), plugin: plugin.name };
  }
  if (plugin !== undefined) return undefined;
  const own = (await command.powers.plugins.ownTools()).find((each) =>
    each.descriptor.name === name
  );
  if (own === undefined) return undefined;
  const { description, paramSchema } = own.descriptor;
  return { name, description, effect: own.effect, parameters: JSON.parse(paramSchema) };
}

// Shows a tool for its callers: what it does and what it takes.

/** A tool, of a plugin or Remit's own. Descriptions of added plugins are untrusted text. */
interface ShownTool {
  readonly name: string;
  readonly description: string;
  readonly effect: EffectClass;
  /** JSON Schema of its arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Its plugin; absent for Remit's own tools without one. */
  readonly plugin?: string;
}

/** The facts, for programs. */
function toolDocument(tool: ShownTool): Record<string, unknown> {
  const needs = needOf(tool.name);
  return { ...tool, ...(needs === undefined ? {} : { needs }) };
}

/** The facts for people: names with lines of values. */
function toolFields(tool: ShownTool): readonly (readonly [string, readonly string[]])[] {
  const needs = needOf(tool.name);
  const takes = parameterWords(tool.parameters);
  return [
    ["tool", [`${tool.name}, effect ${tool.effect}`]],
    ["of", [tool.plugin === undefined ? "Remit itself" : `plugin ${displayText(tool.plugin)}`]],
    ...(needs === undefined ? [] : [["needs", [needs]] as const]),
    ["says", displayBlock(tool.description.trim(), { prefix: "", columns: 4_000 })],
    ["takes", takes.length === 0 ? ["nothing"] : takes],
  ];
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
  return value as Readonly<Record<string, unknown>>;
}

/** A line for each argument: name, kind, whether it is required, bounds, description. */
function parameterWords(schema: Readonly<Record<string, unknown>>): readonly string[] {
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  return Object.entries(record(schema["properties"])).map(([name, each]) => {
    const rule = record(each);
    const { description } = rule;
    const words = [kindOf(rule), ...(required.includes(name) ? ["required"] : []), ...bounds(rule)];
    const told = typeof description === "string" ? `; ${description.replaceAll(/\s+/g, " ")}` : "";
    return displayText(`${name}: ${words.join(", ")}${told}`, { max: 600 });
  });
}

function kindOf(rule: Readonly<Record<string, unknown>>): string {
  const { type, enum: values, anyOf, items } = rule;
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(" or ");
  if (Array.isArray(anyOf)) return anyOf.map((each) => kindOf(record(each))).join(" or ");
  if (type === "array") return `list of ${kindOf(record(items))}`;
  return [type ?? "any value"].flat().join(" or ");
}

function bounds(rule: Readonly<Record<string, unknown>>): readonly string[] {
  const [least, most] = [rule["minimum"], rule["maximum"]];
  const longest = rule["maxLength"];
  return [
    ...(typeof least === "number" && typeof most === "number" ? [`${least} to ${most}`] : []),
    ...(typeof longest === "number" ? [`at most ${longest} characters`] : []),
  ];
}
