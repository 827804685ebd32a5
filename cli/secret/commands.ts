/** `secret set|list|remove`. Values are typed or piped in, and never shown. @module */
import { EXIT, Fault, toJson } from "../../contracts/base/mod.ts";
import { displayText } from "../../text/mod.ts";
import { type Command, printJson, printLines } from "../command.ts";
import { flag } from "../arguments/parse_arguments.ts";
import { preparePlaces } from "../../launch/disk/places.ts";
import { openSecretKeep, type SecretKeep } from "../../config/secret/keep.ts";
import {
  parseKeptName,
  parseSecretHeader,
  parseSecretName,
  parseSecretOrigin,
  parseSecretPrefix,
  parseSecretValue,
} from "../../config/secret/rules.ts";
import { tableLines } from "../terminal/table.ts";
import type { Basic } from "../powers.ts";

function openKeep(command: Command): SecretKeep {
  const { powers, places } = command;
  preparePlaces(powers.disk, places, powers.environment.uid);
  return openSecretKeep(powers.disk, places);
}

function needFlag(command: Command, name: string, example: string): string {
  const given = flag(command.parsed, name);
  if (given !== undefined) return given;
  throw new Fault("invalidInput", `Cannot set a secret: give --${name}, such as ${example}`);
}

async function readValue(command: Command<Basic | "keyboard" | "readInput">): Promise<string> {
  const { powers } = command;
  if (powers.keyboard === undefined) return await powers.readInput();
  const typed = await powers.keyboard.line("  value (not shown) › ", { echo: false });
  if (typed === undefined) throw new Fault("cancelled", "Cannot read the value: cancelled");
  return typed;
}

/** Sends the current secrets to a running kernel, so that later uses find them. */
async function tellKernel(command: Command, keep: SecretKeep): Promise<void> {
  const link = await command.powers.kernels(command.places).find();
  if (link === undefined) return;
  try {
    const digest = keep.digest();
    if (link.secrets === digest) return;
    await link.ask("secrets", toJson({ digest, secrets: keep.load() }));
    if (!command.json) command.powers.screen.say("The kernel that runs has it from now on.");
  } catch (error) {
    // A kernel of another version, or one that just ended: the next one reads the secrets at its start.
    if (!(error instanceof Fault)) throw error;
    if (!command.json) command.powers.screen.say("The next kernel has it.");
  } finally {
    link.close();
  }
}

/** `secret set NAME --origin ORIGIN --header HEADER [--prefix TEXT]`. */
export async function secretSet(
  command: Command<Basic | "keyboard" | "readInput">,
): Promise<number> {
  const name = parseSecretName(command.parsed.args[0] ?? "");
  const origin = parseSecretOrigin(needFlag(command, "origin", "https://api.example.org"));
  const header = parseSecretHeader(needFlag(command, "header", "authorization"));
  const prefix = parseSecretPrefix(flag(command.parsed, "prefix") ?? "");
  const keep = openKeep(command);
  const value = parseSecretValue(await readValue(command));
  const done = keep.set({ name, origin, header, prefix, value });
  if (command.json) printJson(command, { name, origin, header, prefix, done });
  else printLines(command, [`${done} ${name}: header ${header} of ${origin}, nowhere else`]);
  await tellKernel(command, keep);
  return EXIT.success;
}

/** `secret list`. */
export function secretList(command: Command): Promise<number> {
  const kept = openKeep(command).list();
  if (command.json) printJson(command, kept);
  else if (kept.length === 0) {
    command.powers.screen.say(
      'There are no secrets; "remit secret set --help" says how to keep one.',
    );
  } else {
    const rows = kept.map((each) => [
      each.name,
      each.origin,
      displayText(each.header),
      each.prefix === "" ? "" : displayText(JSON.stringify(each.prefix)),
    ]);
    const { outWidth } = command.powers.screen;
    printLines(
      command,
      tableLines(["NAME", "ORIGIN", "HEADER", "PREFIX"], rows, outWidth ?? 2_000),
    );
  }
  return Promise.resolve(EXIT.success);
}

/** `secret remove NAME`. */
export async function secretRemove(command: Command): Promise<number> {
  const name = parseKeptName(command.parsed.args[0] ?? "");
  const keep = openKeep(command);
  keep.remove(name);
  if (command.json) printJson(command, { removed: name });
  else printLines(command, [`removed ${name}`]);
  await tellKernel(command, keep);
  return EXIT.success;
}
