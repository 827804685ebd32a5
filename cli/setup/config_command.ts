/** `config get|set|unset|path`: reads and changes single values of a remit.yaml, the operator's own or the folder's. @module */
import { dirname, join } from "node:path";
import { EXIT, Fault } from "../../contracts/base/mod.ts";
import { sha256Hex } from "../../port/digest.ts";
import { displayBlock, displayText } from "../../text/mod.ts";
import { stringify } from "yaml";
import { has } from "../arguments/parse_arguments.ts";
import { type Command, commandText, printJson, printLines } from "../command.ts";
import { CONFIG_NAME, readConfigBytes, readTrusted } from "../../config/files.ts";
import { parseConfigText } from "../../config/text.ts";
import { isTrusted } from "../../config/trust.ts";
import { checkKey, parseKey, parseValue, readKey, withKey } from "./yaml_edit.ts";

/** The remit.yaml of the caller's folder. */
export function folderConfig({ powers, places }: Command): {
  readonly path: string;
  readonly there: boolean;
  readonly trusted: boolean;
} {
  const folder = powers.disk.real(powers.environment.cwd) ?? powers.environment.cwd;
  const path = join(folder, CONFIG_NAME);
  const bytes = readConfigBytes(powers.disk, path);
  const trusted = bytes !== undefined &&
    isTrusted(readTrusted(powers.disk, places), folder, sha256Hex(bytes));
  return { path, there: bytes !== undefined, trusted };
}

/** The file of a command, with links followed, and its text; undefined where there is no file yet. */
function chosen(command: Command): { readonly path: string; readonly text: string | undefined } {
  const { powers, places, parsed } = command;
  const named = has(parsed, "folder") ? folderConfig(command).path : places.config;
  const path = powers.disk.real(named) ?? named;
  const bytes = readConfigBytes(powers.disk, path);
  return { path, text: bytes === undefined ? undefined : new TextDecoder().decode(bytes) };
}

/** `config get [KEY]`: the value in that one file. Exits with 1 where the file does not set it. */
export function configGet(command: Command): Promise<number> {
  const [word] = command.parsed.args;
  const { path, text } = chosen(command);
  const key = word === undefined ? [] : parseKey(word);
  checkKey(key);
  if (text !== undefined) parseConfigText(path, text);
  const value = text === undefined ? undefined : readKey(text, key);
  if (command.json) printJson(command, value ?? null);
  else if (value !== undefined && value !== null) {
    const shown = typeof value === "object" ? stringify(value).trimEnd() : String(value);
    printLines(command, displayBlock(shown, { prefix: "", max: 1_000_000, maxLines: 20_000 }));
  }
  if (value !== undefined && value !== null) return Promise.resolve(EXIT.success);
  command.powers.screen.say(`${displayText(path, { max: 500 })} does not say it`);
  return Promise.resolve(EXIT.failure);
}

/** `config set KEY VALUE` and `config unset KEY`: writes whole or not at all, and only a file that parses. */
export function configSet(command: Command): Promise<number> {
  const { powers, parsed } = command;
  const [word = "", given] = parsed.args;
  const key = parseKey(word);
  checkKey(key);
  const { path, text = "" } = chosen(command);
  // Neither changes a file that does not parse, nor writes one.
  parseConfigText(path, text);
  const trustedBefore = has(parsed, "folder") && folderConfig(command).trusted;
  const value = given === undefined ? undefined : parseValue(given);
  const next = written(path, text, key, value, given);
  powers.disk.makeFolder(dirname(path), 0o700);
  const mode = powers.disk.stat(path)?.mode ?? (has(parsed, "folder") ? 0o644 : 0o600);
  powers.disk.write(path, next, { mode });
  if (command.json) {
    return Promise.resolve(printJson(command, { file: path, key: word, value: value ?? null }));
  }
  const name = displayText(path, { max: 500 });
  return Promise.resolve(printLines(command, [
    given === undefined
      ? `${name}: ${displayText(word, { max: 300 })} is gone`
      : `${name}: ${displayText(`${word}: ${JSON.stringify(value)}`, { max: 1_000 })}`,
    ...(trustedBefore
      ? [
        `  it is no longer what you trusted: "${
          commandText(command, "trust")
        }" accepts it as it is now`,
      ]
      : []),
  ]));
}

/** The checked new text. A value that looks like a number but must be text is written as text. */
function written(
  path: string,
  text: string,
  key: readonly (string | number)[],
  value: unknown,
  given: string | undefined,
): string {
  const next = withKey(text, key, value);
  try {
    parseConfigText(path, next);
    return next;
  } catch (error) {
    if (!(error instanceof Fault) || given === undefined || typeof value === "string") throw error;
    const plain = withKey(text, key, given);
    try {
      parseConfigText(path, plain);
    } catch {
      throw error;
    }
    return plain;
  }
}

/** `config path`: the files that apply here, and what each may do. */
export function configPath(command: Command): Promise<number> {
  const { powers, places } = command;
  const folder = folderConfig(command);
  const own = powers.disk.stat(places.config) !== undefined;
  const ceiling = powers.disk.stat(places.ceiling) !== undefined;
  if (command.json) {
    return Promise.resolve(printJson(command, {
      own: { path: places.config, there: own },
      folder,
      ceiling: { path: places.ceiling, there: ceiling },
    }));
  }
  const line = (name: string, path: string, says: string): string =>
    `${name.padEnd(8)} ${displayText(path, { max: 500 })}  ${says}`;
  const trust = folder.trusted
    ? "trusted as it is"
    : `only narrows; "${commandText(command, "trust")}" accepts it`;
  return Promise.resolve(printLines(
    command,
    [
      line("own", places.config, own ? "" : "(not there)"),
      line("folder", folder.path, folder.there ? trust : "(not there)"),
      line("ceiling", places.ceiling, ceiling ? "only narrows" : "(not there)"),
    ].map((each) => each.trimEnd()),
  ));
}
