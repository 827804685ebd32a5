/** `tool add|list|remove`: plugins of the operator. @module */
import { graverEffect } from "../../contracts/authority/mod.ts";
import { EXIT, Fault } from "../../contracts/base/mod.ts";
import type { PluginManifest } from "../../contracts/tool/mod.ts";
import { displayText } from "../../text/mod.ts";
import { cell, type Command, printJson, printLines } from "../command.ts";
import { loadConfig } from "../../config/files.ts";
import { has } from "../arguments/parse_arguments.ts";
import { preparePlaces } from "../../launch/disk/places.ts";
import { effectOf, reviewDocument, reviewLines } from "../plugin/review.ts";
import type { OwnTool } from "../../tools-wasm/kit/kit.ts";
import { checkSignature } from "../../tools-wasm/kit/signature.ts";
import { openCandidate } from "../plugin/source.ts";
import { installPlugin, readPluginStore, removePlugin } from "../../tools-wasm/kit/store.ts";
import { tableLines } from "../terminal/table.ts";
import { needOf } from "../../tools-wasm/kit/tool_needs.ts";
import type { Basic } from "../powers.ts";

/** The keys of remit.yaml whose plugins are trusted as Remit's own. */
export function toolKeysOf(command: Command): readonly string[] {
  const { powers, places } = command;
  return loadConfig(powers.disk, places, { folder: powers.environment.cwd, mounts: [] }).toolKeys;
}

/** Throws `alreadyExists` when one of the plugin's tools has the name of an existing tool. */
async function checkNames(
  command: Command<Basic | "plugins">,
  manifest: PluginManifest,
): Promise<void> {
  const { powers, places } = command;
  const builtIn = (await powers.plugins.builtIn()).plugins;
  const own = builtIn.find((each) => each.manifest.name === manifest.name);
  if (own !== undefined) {
    throw new Fault(
      "alreadyExists",
      `Cannot add plugin "${manifest.name}": Remit has one of that name`,
    );
  }
  const others = [
    ...builtIn,
    ...readPluginStore(powers.disk, places, []).plugins.filter((each) =>
      each.manifest.name !== manifest.name
    ),
  ];
  const taken = new Map<string, string>(powers.plugins.reserved.map((name) => [name, "Remit"]));
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

async function asked(
  command: Command<Basic | "keyboard">,
  manifest: PluginManifest,
): Promise<void> {
  if (has(command.parsed, "yes")) return;
  const { keyboard } = command.powers;
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
export async function toolAdd(command: Command<Basic | "keyboard" | "plugins">): Promise<number> {
  const { powers, places } = command;
  preparePlaces(powers.disk, places, powers.environment.uid);
  const candidate = await openCandidate(command, command.parsed.args[0] ?? "");
  const { manifest, findings } = candidate;
  const signature = checkSignature(manifest, toolKeysOf(command));
  if (!command.json) {
    for (const line of reviewLines(powers.screen, candidate, signature)) powers.screen.say(line);
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
  installPlugin(powers.disk, places, candidate);
  if (command.json) printJson(command, reviewDocument(candidate, signature));
  else {
    printLines(command, [`added ${manifest.name}, pinned as ${manifest.sha256}`]);
    powers.screen.say("A kernel that runs now learns of it when it starts next.");
  }
  return EXIT.success;
}

/** `tool remove NAME`. */
export function toolRemove(command: Command): Promise<number> {
  const name = command.parsed.args[0] ?? "";
  removePlugin(command.powers.disk, command.places, name);
  if (command.json) printJson(command, { removed: name });
  else printLines(command, [`removed ${name}`]);
  return Promise.resolve(EXIT.success);
}

/** `tool list`. */
export async function toolList(command: Command<Basic | "plugins">): Promise<number> {
  const { powers, places } = command;
  const { plugins, refused } = readPluginStore(powers.disk, places, toolKeysOf(command));
  const row = (manifest: PluginManifest, from: string): Record<string, unknown> => ({
    name: manifest.name,
    version: manifest.version,
    from,
    engine: manifest.engine,
    tools: manifest.tools.map((tool) => tool.name),
    hostFunctions: manifest.hostFunctions,
    effect: effectOf(manifest, {}),
  });
  const rows: Record<string, unknown>[] = [
    ...(await powers.plugins.builtIn()).plugins.map(({ manifest }) => row(manifest, "Remit")),
    ...plugins.map(({ manifest, signed }) => row(manifest, signed ? "added, signed" : "added")),
    ...refused.map(({ name, why }) => ({ name, from: "refused", why })),
  ];
  rows.push(...ownRows(await powers.plugins.ownTools()));
  if (command.json) {
    printJson(command, rows);
    return EXIT.success;
  }
  printLines(
    command,
    tableLines(
      ["PLUGIN", "VERSION", "FROM", "EFFECT", "TOOLS"],
      rows.map((each) => {
        const { name, version, from, effect, tools, why, needs } = each;
        const last = Array.isArray(tools)
          ? `${tools.join(" ")}${needs === undefined ? "" : ` (${needs})`}`
          : String(why);
        return [name, version, from, effect].map((value) =>
          cell(value === undefined ? "" : String(value))
        )
          .concat(displayText(last, { max: 400 }));
      }),
      powers.screen.outWidth ?? 2_000,
    ),
  );
  return EXIT.success;
}

/** Remit's own tools that belong to no plugin: a row for each group, after those of plugins. */
function ownRows(tools: readonly OwnTool[]): readonly Record<string, unknown>[] {
  const groups = [...new Set(tools.map(({ group }) => group))];
  return groups.map((name) => {
    const some = tools.filter(({ group }) => group === name);
    const names = some.map(({ descriptor }) => descriptor.name);
    const needs = needOf(names[0] ?? "");
    return {
      ...{ name, from: "Remit", tools: names },
      effect: some.map(({ effect }) => effect).reduce(graverEffect),
      ...(needs === undefined ? {} : { needs }),
    };
  });
}
