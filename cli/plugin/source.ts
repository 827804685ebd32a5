/** Opens a plugin at a path: a module, a folder with sources, or a built folder. @module */
import { basename, dirname, join } from "node:path";
import { Fault } from "../../contracts/base/mod.ts";
import { PLUGIN_PAGES, PluginManifest } from "../../contracts/tool/mod.ts";
import { sha256Hex } from "../../port/digest.ts";
import { displayText } from "../../text/mod.ts";
import type { Command } from "../command.ts";
import { flag } from "../arguments/parse_arguments.ts";
import type { ModuleLook, PluginCode } from "../../tools-wasm/kit/kit.ts";
import { absolute } from "../../launch/disk/places.ts";
import type { Basic } from "../powers.ts";

/** A plugin before it is added. */
export interface Candidate extends PluginCode {
  /** Undefined for a script. */
  readonly look: ModuleLook | undefined;
  /** Reasons of the load gate to refuse it; empty if it is accepted. */
  readonly findings: readonly string[];
  /** Adaptations of the module, for people. Holds untrusted names. */
  readonly notes: readonly string[];
}

/** A manifest before its code is known. */
type Draft = Omit<PluginManifest, "sha256" | "signature">;

const TOOL_YAML = "tool.yaml";
/** Pages of a module that declares no maximum: 16 MiB. */
const USUAL_PAGES = 256;
/** The limit of the load gate. */
const MAX_BYTES = 16 * 1024 * 1024;
const RUN = "run";
const TEXT_PARAMETERS = {
  type: "object",
  properties: { input: { type: "string", description: "the text that it is given" } },
  required: ["input"],
  additionalProperties: false,
};

const wrong = (message: string): Fault => new Fault("invalidInput", message);

function textAt(command: Command, path: string): string | undefined {
  const bytes = command.powers.disk.read(path, { most: MAX_BYTES });
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
}

/** Reads a `tool.yaml` that holds the plugin's name. */
async function readDraft(command: Command<Basic | "plugins">, text: string): Promise<Draft> {
  const name = /^name:[ \t]*["']?([a-z][a-z0-9_]{0,31})["']?[ \t]*(?:#.*)?\r?$/m.exec(text)?.[1];
  return await command.powers.plugins.readToolYaml(text, name ?? "");
}

/** Parses `--tool`: `NAME`, or `NAME=EXPORT` for a tool that is an export of its own. */
function parseTool(text: string): { readonly name: string; readonly export?: string } {
  const [name = "", ...rest] = text.split("=");
  return rest.length === 0 ? { name } : { name, export: rest.join("=") };
}

/** Exports that can each be a tool: functions without arguments that return an i32. */
function toolsIn(
  look: ModuleLook,
  name: string,
): readonly { readonly name: string; readonly export?: string }[] {
  const callable = look.exports.filter((each) =>
    each.signature === "-> i32" && !each.name.startsWith("_")
  ).map((each) => each.name);
  if (callable.includes(RUN)) return [{ name }];
  return callable.map((each) => ({ name: toolName(each), export: each }));
}

/** `countVowels` and `count-vowels` become `count_vowels`. */
function toolName(text: string): string {
  return text.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase().replace(/[^a-z0-9_]+/g, "_")
    .slice(0, 64);
}

/** Derives a manifest for a module without `tool.yaml`. */
function deriveDraft(command: Command, file: string, look: ModuleLook): Draft {
  const { parsed } = command;
  const plain = basename(file).replace(/\.wasm$/i, "").toLowerCase().replace(/[^a-z0-9_]+/g, "_");
  const name = flag(parsed, "name") ?? plain.replace(/^[^a-z]+/, "").slice(0, 32);
  const tools = parsed.flags.get("tool")?.map(parseTool) ?? toolsIn(look, name);
  const declared = look.memories[0]?.most;
  const draft = PluginManifest.omit({ sha256: true, signature: true }).strict().safeParse({
    name,
    version: "0.0.0",
    licence: flag(parsed, "licence") ?? "not given",
    engine: "wasm",
    tools: tools.map((each) => ({
      ...each,
      description: flag(parsed, "description") ?? `The tool ${each.name} of an added plugin.`,
      // Exports of ordinary kits take text; modules with our ABI take any arguments.
      parameters: each.export === undefined
        ? { type: "object", additionalProperties: true }
        : TEXT_PARAMETERS,
    })),
    hostFunctions: parsed.flags.get("function") ?? [],
    memoryPages: pagesOf(command) ??
      (declared !== undefined && declared <= PLUGIN_PAGES
        ? Math.max(1, declared)
        : Math.max(USUAL_PAGES, look.memories[0]?.least ?? 0)),
  });
  if (draft.success) return draft.data;
  const [issue] = draft.error.issues;
  const where = issue?.path.map(String).join(".") ?? "";
  throw wrong(`Cannot make a manifest for the module: "${where}": ${issue?.message ?? "?"}`);
}

function pagesOf(command: Command): number | undefined {
  const given = flag(command.parsed, "pages");
  if (given === undefined) return undefined;
  const pages = Number(given);
  if (Number.isInteger(pages) && pages >= 1 && pages <= PLUGIN_PAGES) return pages;
  throw wrong(`Cannot read --pages "${given}": pages of 64 KiB, 1 to ${PLUGIN_PAGES}`);
}

function judged(
  command: Command<Basic | "plugins">,
  plugin: PluginCode,
  notes: readonly string[],
): Candidate {
  if (plugin.manifest.engine === "script") {
    return { ...plugin, look: undefined, findings: [], notes };
  }
  const { plugins } = command.powers;
  return {
    ...plugin,
    look: plugins.look(plugin.code),
    findings: plugins.judge(plugin.code, plugin.manifest),
    notes,
  };
}

/** Adapts a foreign module and pins the result. */
async function adapted(
  command: Command<Basic | "plugins">,
  module: Uint8Array,
  draft: Draft,
): Promise<Candidate> {
  const { module: code, stubs, memory } = await command.powers.plugins.adapt(
    module,
    draft.memoryPages,
  );
  const manifest = PluginManifest.parse({ ...draft, sha256: sha256Hex(code) });
  const notes: string[] = [];
  if (memory.most === null || memory.most > draft.memoryPages) {
    notes.push(
      `a memory maximum of ${draft.memoryPages} pages was written in ` +
        `(it declared ${memory.most === null ? "none" : memory.most})`,
    );
  }
  if (stubs.length > 0) {
    notes.push(
      `stubs that grant nothing stand for ${stubs.map((each) => displayText(each)).join(", ")}`,
    );
  }
  return judged(command, { manifest, code }, notes);
}

async function fromModule(command: Command<Basic | "plugins">, file: string): Promise<Candidate> {
  const module = command.powers.disk.read(file);
  if (module === undefined) throw new Fault("notFound", `Cannot find plugin "${file}"`);
  if (module.length > MAX_BYTES) {
    throw new Fault("tooLarge", `Cannot add "${file}": a module has at most ${MAX_BYTES} bytes`);
  }
  const yaml = textAt(command, join(dirname(file), TOOL_YAML));
  const draft = yaml === undefined
    ? deriveDraft(command, file, command.powers.plugins.look(module))
    : await readDraft(command, yaml);
  if (draft.engine !== "wasm") {
    throw wrong(`Cannot add "${file}": its tool.yaml says engine script`);
  }
  return await adapted(command, module, draft);
}

/** Opens a folder made by `remit tool build` or `remit tool sign`, unchanged. */
function fromPackage(command: Command<Basic | "plugins">, folder: string, json: string): Candidate {
  const { disk } = command.powers;
  const text = textAt(command, join(folder, json)) ?? "";
  let manifest: PluginManifest;
  try {
    manifest = PluginManifest.parse(JSON.parse(text));
  } catch (cause) {
    throw new Fault("invalidInput", `Cannot read "${json}": it is no plugin's manifest`, { cause });
  }
  const file = `${manifest.name}.${manifest.engine === "script" ? "js" : "wasm"}`;
  const code = disk.read(join(folder, file));
  if (code === undefined) throw new Fault("notFound", `Cannot find "${file}" beside "${json}"`);
  if (sha256Hex(code) !== manifest.sha256) {
    throw new Fault("refused", `Cannot take plugin "${manifest.name}": "${file}" has another hash`);
  }
  return judged(command, { manifest, code }, []);
}

/** Whether a folder holds sources that can be built. Throws `refused` for a build of its own. */
function hasSources(command: Command, folder: string): boolean {
  const { disk } = command.powers;
  const there = (path: string): boolean => disk.stat(join(folder, path)) !== undefined;
  if (there("assembly/index.ts") || there("tool.ts")) return true;
  if (!there("build.ts")) return false;
  // Such a build would run with all rights of this process.
  throw new Fault("refused", `Cannot build "${folder}": it brings a build program of its own`);
}

async function fromFolder(command: Command<Basic | "plugins">, folder: string): Promise<Candidate> {
  const { disk, plugins } = command.powers;
  const names = disk.list(folder);
  if (!names.includes(TOOL_YAML)) {
    const manifests = names.filter((name) => /^[a-z][a-z0-9_]{0,31}\.json$/.test(name));
    const [only] = manifests;
    if (only !== undefined && manifests.length === 1) return fromPackage(command, folder, only);
    throw new Fault("notFound", `Cannot find a plugin in "${folder}": it has no ${TOOL_YAML}`);
  }
  if (hasSources(command, folder)) return judged(command, await plugins.build(folder), []);
  const modules = names.filter((name) => name.endsWith(".wasm"));
  const [only] = modules;
  if (only === undefined || modules.length > 1) {
    throw new Fault(
      "notFound",
      `Cannot find a plugin in "${folder}": beside ${TOOL_YAML} there is no tool.ts, no ` +
        "assembly/index.ts, and not exactly one module",
    );
  }
  return await fromModule(command, join(folder, only));
}

/**
 * Opens the plugin at a person's path.
 *
 * @throws Fault `notFound`, `invalidInput` for anything but a plugin, `refused` for a wrong hash
 */
export async function openCandidate(
  command: Command<Basic | "plugins">,
  given: string,
): Promise<Candidate> {
  const { powers } = command;
  const path = absolute(powers.environment, given);
  const real = powers.disk.real(path);
  if (real === undefined) throw new Fault("notFound", `Cannot find plugin "${given}"`);
  return powers.disk.stat(real)?.folder === true
    ? await fromFolder(command, real)
    : await fromModule(command, real);
}
