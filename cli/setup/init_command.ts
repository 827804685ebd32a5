/** `init [DIR]`: writes a first remit.yaml, where there is none. @module */
import { dirname, join } from "node:path";
import { Fault } from "../../contracts/base/mod.ts";
import { displayText } from "../../text/mod.ts";
import { has } from "../arguments/parse_arguments.ts";
import { type Command, commandText, printJson, printLines } from "../command.ts";
import { CONFIG_NAME } from "../../config/files.ts";
import { parseConfigText } from "../../config/text.ts";
import { absolute } from "../../launch/disk/places.ts";

const OWN = `# Your own settings: they hold in every folder.
version: 1

# The model that runs where nobody names one: "remit model list" shows what there is.
# model: ollama:qwen3

# models:
#   strong:
#     ref: anthropic:NAME
#     price: { input: 3, output: 15 } # US dollars a million tokens

# Folders that every agent sees. ro: reads; stage: changes wait for your review; rw: each write is decided by itself.
# mounts:
#   notes: { dir: ~/notes, mode: stage }

# The most that one task may use.
# limits:
#   money: 1 # US dollars
#   toolCalls: 500

# Paths that no tool reads or writes, beside the built-in ones (keys, passwords, tokens).
# never:
#   - "**/private/**"
`;

const FOLDER =
  `# Settings of this folder. Until you "remit trust" it, and after each change of it, it can only make Remit stricter.
version: 1

# Who can write here? What an agent reads below is believed less, or shown to fewer.
# marks:
#   - path: inbox/**
#     colour: RED # a stranger's word
#   - path: contracts/**
#     label: secret

# Calls that are forbidden, or asked about, or allowed without a question; the first rule that fits decides.
# rules:
#   - name: this folder stays offline
#     tool: http_fetch
#     mode: forbidden
#     why: nothing here needs the network

# Paths that no tool reads or writes, beside the built-in ones (keys, passwords, tokens).
# never:
#   - "drafts/**"
`;

/** `init [DIR]`. */
export function initCommand(command: Command): Promise<number> {
  const { powers, places, parsed } = command;
  const own = has(parsed, "own");
  const folder = absolute(powers.environment, parsed.args[0] ?? ".");
  if (own && parsed.args.length > 0) {
    throw new Fault(
      "invalidInput",
      "Cannot write your own remit.yaml into a folder: it has its place",
    );
  }
  if (!own && powers.disk.stat(folder)?.folder !== true) {
    throw new Fault("notFound", `Cannot write a remit.yaml: "${folder}" is no folder`);
  }
  const path = own ? places.config : join(folder, CONFIG_NAME);
  const schema = join(powers.environment.home, "schema/remit.json");
  const text = `# yaml-language-server: $schema=${schema}\n${own ? OWN : FOLDER}`;
  parseConfigText(path, text);
  if (powers.disk.stat(path) !== undefined) {
    throw new Fault(
      "alreadyExists",
      `Cannot write "${path}": it is there; "remit config set" changes one value of it`,
    );
  }
  if (own) powers.disk.makeFolder(dirname(path), 0o700);
  // A file made by another process meanwhile stays.
  powers.disk.write(path, text, { mode: own ? 0o600 : 0o644, fresh: true });
  return Promise.resolve(
    command.json ? printJson(command, { file: path }) : printLines(command, [
      displayText(path, { max: 500 }),
      "  every setting in it is a comment: take the # away where you want one",
      ...(own ? [] : [`  "${commandText(command, "trust")}" lets it widen what runs here, too`]),
    ]),
  );
}
