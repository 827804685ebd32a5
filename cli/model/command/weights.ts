/** `model pull|add|verify|remove`: what is in the store of weights. @module */
import { EXIT, Fault } from "../../../contracts/base/mod.ts";
import { displayText } from "../../../text/mod.ts";
import { findEntry, pullWeights, readCatalogue } from "../../../models/weights/pull/mod.ts";
import { type Command, printJson, printLines } from "../../command.ts";
import { loadConfig } from "../../../config/files.ts";
import { flag, has } from "../../arguments/parse_arguments.ts";
import { absolute, preparePlaces } from "../../../launch/disk/places.ts";
import {
  addWeights,
  bytesText,
  checkWeights,
  dropWeights,
  findWeights,
  listWeights,
  progress,
  type StoredWeights,
  WeightsName,
  type WeightsParts,
  weightsPath,
  WeightsSignature,
  type WeightsSigned,
} from "../../../models/weights/mod.ts";
import type { Basic, Powers } from "../../powers.ts";

function modelKeysOf({ powers, places }: Command): readonly string[] {
  return loadConfig(powers.disk, places, { folder: powers.environment.cwd, mounts: [] }).modelKeys;
}

function weightsParts(
  command: Command<Basic | "models">,
): WeightsParts & { readonly models: Powers["models"] } {
  const { powers, places } = command;
  preparePlaces(powers.disk, places, powers.environment.uid);
  const { disk, models, environment, screen } = powers;
  return { disk, models, environment, screen, places, modelKeys: modelKeysOf(command) };
}

/** Asks before something that the operator must say; `--yes` says it. Throws `refused`, `denied`. */
export async function asked(
  command: Command<Basic | "keyboard">,
  what: string,
  prompt: string,
): Promise<void> {
  if (has(command.parsed, "yes")) return;
  const { keyboard } = command.powers;
  if (keyboard === undefined) {
    throw new Fault("refused", `Cannot ${what}: nobody is at a terminal to say yes; add --yes`);
  }
  const typed = await keyboard.line(`  ${prompt} y, or Enter for no › `);
  if (/^y(?:es)?$/i.test(typed?.trim() ?? "")) return;
  throw new Fault("denied", `Cannot ${what}: you did not say yes`);
}

/** Weights in the store, by name. Throws `notFound` listing all. */
function needWeights({ powers, places }: Command, verb: string, name: string): StoredWeights {
  const found = findWeights(powers.disk, places, name);
  if (found !== undefined) return found;
  const all = listWeights(powers.disk, places).map((each) => each.name).join(", ");
  throw new Fault(
    "notFound",
    `Cannot ${verb} "${name}": the store has ${all === "" ? "no weights" : all}`,
  );
}

const SIGNED: Readonly<Record<WeightsSigned, string>> = {
  none: "not signed",
  known: "signed by a key of yours",
  unknown: "signed by a key that remit.yaml does not name",
  wrong: "signature WRONG",
};

function showTaken(command: Command, entry: StoredWeights, embeds = false): void {
  if (command.json) return void printJson(command, entry);
  const remit = command.powers.environment.command;
  printLines(command, [
    `${entry.name}: ${bytesText(entry.bytes)}, licence ${displayText(entry.licence, { max: 80 })}`,
    `  sha256 ${entry.sha256}`,
    embeds
      ? `  it makes vectors: "${remit} config set embedder gguf:${entry.name}", then "${remit} wiki embed"`
      : `  use it with --model ${entry.name}, or "${remit} model use ${entry.name}"`,
  ]);
}

/** `model pull NAME`. */
export async function modelPull(
  command: Command<Basic | "interrupts" | "keyboard" | "models">,
): Promise<number> {
  const { powers, parsed } = command;
  const entry = findEntry(
    readCatalogue(powers.disk, powers.environment.home),
    parsed.args[0] ?? "",
  );
  const parts = weightsParts(command);
  const { say, paint } = powers.screen;
  say(`${paint.bold(entry.name)}  ${displayText(entry.title, { max: 120 })}`);
  say(`  from     ${displayText(entry.url, { max: 500 })}`);
  say(
    `  size     ${entry.bytes === undefined ? "about " : ""}${
      bytesText(entry.bytes ?? entry.about)
    }`,
  );
  say(`  licence  ${displayText(entry.licence, { max: 120 })}`);
  say(
    entry.sha256 === undefined
      ? "  digest   unpinned: what comes now is pinned by you, and checked ever after"
      : `  digest   ${entry.sha256}`,
  );
  const unsigned = entry.signature === undefined && parts.modelKeys.length > 0;
  if (unsigned) say("  signed   no, although remit.yaml names keys that sign weights");
  const unpinned = entry.sha256 === undefined;
  if (unsigned || unpinned) {
    const what = unpinned ? "pin what comes now?" : "pin it yourself?";
    await asked(command, `pull "${entry.name}"${unpinned ? ", which is unpinned" : ""}`, what);
  }
  const abort = new AbortController();
  const stop = powers.interrupts.listen(() => abort.abort());
  try {
    const taken = await pullWeights(parts, entry, abort.signal);
    showTaken(command, taken, entry.embeds);
  } finally {
    stop();
  }
  return EXIT.success;
}

function readSignature(command: Command): WeightsSignature | undefined {
  const file = flag(command.parsed, "signature");
  if (file === undefined) return undefined;
  const bytes = command.powers.disk.read(absolute(command.powers.environment, file));
  if (bytes === undefined) {
    throw new Fault("notFound", `Cannot read the signature: there is no file "${file}"`);
  }
  try {
    return WeightsSignature.parse(JSON.parse(new TextDecoder().decode(bytes)));
  } catch (cause) {
    throw new Fault(
      "invalidInput",
      `Cannot read the signature "${file}": it is JSON with "key" (64 hex digits) and "value" (128), ` +
        'Ed25519 over "remit-weights-v1", the sha256 and the size, each with a line end',
      { cause },
    );
  }
}

/** `model add FILE.gguf [--name NAME]`. */
export async function modelAdd(command: Command<Basic | "models">): Promise<number> {
  const { powers, parsed } = command;
  const name = flag(parsed, "name");
  if (name !== undefined && !WeightsName.safeParse(name).success) {
    throw new Fault(
      "invalidInput",
      `Cannot name weights "${name}": a name is letters, digits, ".", "_" and "-", at most 64`,
    );
  }
  const parts = weightsParts(command);
  if (name !== undefined && findWeights(parts.disk, parts.places, name) !== undefined) {
    throw new Fault(
      "alreadyExists",
      `Cannot add weights "${name}": the store has some of that name; ` +
        `give another --name, or "remit model remove ${name}" first`,
    );
  }
  const { entry, added, header } = await addWeights(
    parts,
    absolute(powers.environment, parsed.args[0] ?? ""),
    {
      name,
      licence: flag(parsed, "licence"),
      signature: readSignature(command),
    },
  );
  if (!added && !command.json) powers.screen.say(`The store has them already, as "${entry.name}".`);
  showTaken(command, entry);
  if (header.chatTemplate === undefined && !command.json) {
    powers.screen.say(
      "  a base model (or an embedder): it brings no chat template, so agents refuse it; for one that was " +
        `taught a form, name it in remit.yaml: models: ${entry.name}: {ref: "gguf:${entry.name}", template: chatml}`,
    );
  }
  return EXIT.success;
}

/** `model verify [NAME]`. */
export async function modelVerify(command: Command<Basic | "models">): Promise<number> {
  const { powers, places, parsed } = command;
  const [name] = parsed.args;
  const entries = name === undefined
    ? listWeights(powers.disk, places)
    : [needWeights(command, "verify", name)];
  const keys = modelKeysOf(command);
  const rows: { name: string; sha256: string; ok: boolean; says: string }[] = [];
  for (const entry of entries) {
    const path = weightsPath(places, entry.sha256);
    const found = powers.models.weights.stat(path);
    const signed = checkWeights(entry, keys);
    const sha256 = found === undefined ? undefined : await powers.models.weights.hash(path, {
      onBytes: progress(powers.screen, `reading ${entry.name}`, found.bytes),
    });
    powers.screen.hint("");
    const whole = sha256 === entry.sha256;
    const says = sha256 === undefined
      ? "its file is gone"
      : whole
      ? `its bytes are what was pinned, ${SIGNED[signed]}`
      : `CHANGED on the disk: its sha256 is ${sha256}`;
    const ok = whole && (signed === "none" || signed === "known");
    rows.push({ name: entry.name, sha256: entry.sha256, ok, says });
  }
  if (command.json) printJson(command, rows);
  else if (rows.length === 0) powers.screen.say("The store has no weights.");
  else {
    const { paint } = powers.screen;
    printLines(
      command,
      rows.map((row) => `${row.ok ? paint.green("✓") : paint.red("✗")} ${row.name}  ${row.says}`),
    );
    for (const { name: bad } of rows.filter((row) => !row.ok)) {
      powers.screen.say(`  "remit model remove ${bad}", and pull or add it again`);
    }
  }
  return rows.every(({ ok }) => ok) ? EXIT.success : EXIT.failure;
}

/** `model remove NAME`. */
export function modelRemove(command: Command): Promise<number> {
  const { powers, places, parsed } = command;
  const entry = needWeights(command, "remove", parsed.args[0] ?? "");
  dropWeights(powers.disk, places, entry);
  const { name, sha256, bytes } = entry;
  if (command.json) printJson(command, { removed: name, sha256, bytes });
  else printLines(command, [`removed ${name}, ${bytesText(bytes)}`]);
  return Promise.resolve(EXIT.success);
}
