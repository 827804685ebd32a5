/** `tool add|list|inspect|remove`: the plugins that the operator took in. Issue 3. @module */
import { EXIT, Fault, PLUGIN_PAGES, type PluginManifest, ToolName } from "../../contracts/mod.ts";
import { sha256Hex } from "../../port/digest.ts";
import { displayText } from "../../text/mod.ts";
import { cell, type Command, printJson, printLines } from "../command.ts";
import { loadConfig } from "../config/files.ts";
import { has } from "../arguments/parse_arguments.ts";
import { absolute, preparePlaces } from "../disk/places.ts";
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
import { checkSignature } from "../plugin/signature.ts";
import { type Candidate, openCandidate } from "../plugin/source.ts";
import { installPlugin, readPluginStore, removePlugin } from "../plugin/store.ts";
import { tableLines } from "../terminal/table.ts";

function toolKeysOf(command: Command): readonly string[] {
  const { hands, places } = command;
  return loadConfig(hands.disk, places, { folder: hands.around.cwd, mounts: [] }).toolKeys;
}

/** Throws `alreadyExists` when a tool of the plugin has the name of one that is there. */
async function checkNames(command: Command, manifest: PluginManifest): Promise<void> {
  const { hands, places } = command;
  const builtIn = (await hands.plugins.builtIn()).plugins;
  const own = builtIn.find((each) => each.manifest.name === manifest.name);
  if (own !== undefined) {
    throw new Fault(
      "alreadyExists",
      `Cannot add plugin "${manifest.name}": Remit has one of that name`,
    );
  }
  const others = [
    ...builtIn,
    ...readPluginStore(hands.disk, places, []).plugins.filter((each) =>
      each.manifest.name !== manifest.name
    ),
  ];
  const taken = new Map<string, string>(hands.plugins.reserved.map((name) => [name, "Remit"]));
  for (const other of others) {
    for (const tool of other.manifest.tools) taken.set(tool.name, other.manifest.name);
  }
  for (const [n, { name }] of manifest.tools.entries()) {
    const owner = manifest.tools.findIndex((each) => each.name === name) < n
      ? manifest.name
      : taken.get(name);
    if (owner !== undefined) {
      throw new Fault(
        "alreadyExists",
        `Cannot add tool "${name}": "${owner}" has one of that name`,
      );
    }
  }
}

async function asked(command: Command, manifest: PluginManifest): Promise<void> {
  if (has(command.parsed, "yes")) return;
  const { keyboard } = command.hands;
  if (keyboard === undefined) {
    throw new Fault(
      "refused",
      `Cannot add plugin "${manifest.name}": nobody is at a terminal to review it; add --yes`,
    );
  }
  const typed = await keyboard.line("  add it? y, or Enter for no › ");
  if (/^y(?:es)?$/i.test(typed?.trim() ?? "")) return;
  throw new Fault("denied", `Cannot add plugin "${manifest.name}": you did not say yes`);
}

/** `tool add FILE.wasm|FOLDER`. */
export async function toolAdd(command: Command): Promise<number> {
  const { hands, places } = command;
  preparePlaces(hands.disk, places, hands.around.uid);
  const candidate = await openCandidate(command, command.parsed.args[0] ?? "");
  const { manifest, findings } = candidate;
  const signature = checkSignature(manifest, toolKeysOf(command));
  if (!command.json) {
    for (const line of reviewLines(hands.screen, candidate, signature)) hands.screen.say(line);
  }
  if (signature === "wrong") {
    throw new Fault("refused", `Cannot add plugin "${manifest.name}": its signature is wrong`);
  }
  const [finding] = findings;
  if (finding !== undefined) {
    throw new Fault(
      "refused",
      `Cannot add plugin "${manifest.name}": the load gate refuses it: ${finding}`,
    );
  }
  await checkNames(command, manifest);
  await asked(command, manifest);
  installPlugin(hands.disk, places, candidate);
  if (command.json) printJson(command, reviewDocument(candidate, signature));
  else {
    printLines(command, [`added ${manifest.name}, pinned as ${manifest.sha256}`]);
    hands.screen.say("A kernel that runs now learns of it when it starts next.");
  }
  return EXIT.success;
}

/** `tool remove NAME`. */
export function toolRemove(command: Command): Promise<number> {
  const name = command.parsed.args[0] ?? "";
  removePlugin(command.hands.disk, command.places, name);
  if (command.json) printJson(command, { removed: name });
  else printLines(command, [`removed ${name}`]);
  return Promise.resolve(EXIT.success);
}

/** `tool list`. */
export async function toolList(command: Command): Promise<number> {
  const { hands, places } = command;
  const { plugins, refused } = readPluginStore(hands.disk, places, toolKeysOf(command));
  const row = (manifest: PluginManifest, from: string): Record<string, unknown> => ({
    name: manifest.name,
    version: manifest.version,
    from,
    engine: manifest.engine,
    tools: manifest.tools.map((tool) => tool.name),
    hostFunctions: manifest.hostFunctions,
    effect: effectOf(manifest, {}),
  });
  const rows = [
    ...(await hands.plugins.builtIn()).plugins.map(({ manifest }) => row(manifest, "Remit")),
    ...plugins.map(({ manifest, signed }) => row(manifest, signed ? "added, signed" : "added")),
    ...refused.map(({ name, why }) => ({ name, from: "refused", why })),
  ];
  if (command.json) {
    printJson(command, rows);
    return EXIT.success;
  }
  printLines(
    command,
    tableLines(
      ["PLUGIN", "VERSION", "FROM", "EFFECT", "TOOLS"],
      rows.map((each) => {
        const { name, version, from, effect, tools, why } = each as Record<string, unknown>;
        const last = Array.isArray(tools) ? tools.join(" ") : String(why);
        return [name, version, from, effect].map((value) =>
          cell(value === undefined ? "" : String(value))
        )
          .concat(displayText(last, { max: 400 }));
      }),
      hands.screen.outWidth ?? 2_000,
    ),
  );
  return EXIT.success;
}

/** The plugin of that name or with that tool, added or Remit's own; undefined when there is none. */
async function findPlugin(
  command: Command,
  name: string,
  toolKeys: readonly string[],
): Promise<Candidate & { readonly vouched: Vouched } | undefined> {
  const { hands, places } = command;
  if (!ToolName.safeParse(name).success) return undefined;
  const { plugins, refused } = readPluginStore(hands.disk, places, toolKeys);
  const bad = refused.find((each) => each.name === name);
  if (bad !== undefined) {
    throw new Fault("refused", `Cannot use plugin "${name}": ${bad.why}`);
  }
  const all = [
    ...plugins.map((each) => ({ ...each, vouched: checkSignature(each.manifest, toolKeys) })),
    ...(await hands.plugins.builtIn()).plugins.map((each) => ({
      ...each,
      vouched: "own" as const,
    })),
  ];
  const found = all.find(({ manifest }) => manifest.name === name) ??
    all.find(({ manifest }) => manifest.tools.some((tool) => tool.name === name));
  const code = found === undefined ? undefined : hands.disk.read(found.file);
  if (found === undefined || code === undefined) return undefined;
  const script = found.manifest.engine === "script";
  return {
    manifest: found.manifest,
    vouched: found.vouched,
    code,
    look: script ? undefined : hands.plugins.look(code),
    findings: script ? [] : hands.plugins.judge(code, found.manifest),
    notes: [],
  };
}

function moduleAt(
  command: Command,
  given: string,
): { readonly bytes: Uint8Array; readonly sha256: string } | undefined {
  const bytes = command.hands.disk.read(absolute(command.hands.around, given));
  return bytes === undefined ? undefined : { bytes, sha256: sha256Hex(bytes) };
}

/** A module without a manifest, as it is: nothing is written into it. */
function inspectModule(command: Command, module: Uint8Array, sha256: string): number {
  const { plugins, screen } = command.hands;
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
export async function toolInspect(command: Command): Promise<number> {
  const { hands } = command;
  const given = command.parsed.args[0] ?? "";
  const file = given.endsWith(".wasm") ? moduleAt(command, given) : undefined;
  if (file !== undefined) return inspectModule(command, file.bytes, file.sha256);
  const toolKeys = toolKeysOf(command);
  const kept = await findPlugin(command, given, toolKeys);
  const found = kept ?? await openCandidate(command, given);
  const vouched = kept?.vouched ?? checkSignature(found.manifest, toolKeys);
  if (command.json) printJson(command, reviewDocument(found, vouched));
  else printLines(command, reviewLines(hands.screen, found, vouched));
  return EXIT.success;
}
