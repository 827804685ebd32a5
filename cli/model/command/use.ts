/** `model use NAME`: writes the model into the operator's own remit.yaml, with its comments kept. @module */
import { diffLines } from "diff";
import { dirname } from "node:path";
import { type Document, isMap, isScalar, parseDocument, stringify } from "yaml";
import { EXIT, Fault } from "../../../contracts/base/mod.ts";
import { displayText } from "../../../text/mod.ts";
import { type Command, printJson, printLines } from "../../command.ts";
import { loadConfig } from "../../../config/files.ts";
import { parseConfigText } from "../../../config/text.ts";
import { followAliases } from "../alias.ts";
import { isThisMachine, parseModelName } from "../name.ts";
import { namesNoModel } from "../part_provider.ts";
import { absolute } from "../../../launch/disk/places.ts";
import { findWeights } from "../../../models/weights/mod.ts";

/** The text of remit.yaml with another `model:`; the rest stays as written. */
function withModelLine(text: string, model: string): string {
  const document: Document = parseDocument(text === "" ? "version: 1\n" : text);
  if (!isMap(document.contents)) {
    throw new Fault("invalidInput", "Cannot change remit.yaml: it is no map of settings");
  }
  const { contents } = document;
  const old = document.get("model", true);
  if (contents.flow !== true && document.has("version") && text.endsWith("\n")) {
    const word = stringify(model, { lineWidth: 0 }).trimEnd();
    const range = isScalar(old) && old.type === "PLAIN" ? old.range : undefined;
    // Replace the word alone, so that the person's spaces, quotes and comments stay.
    const after = range
      ? `${text.slice(0, range[0])}${word}${text.slice(range[1])}`
      : document.has("model")
      ? ""
      : `${text}model: ${word}\n`;
    if (saysModel(after, model)) return after;
  }
  if (!document.has("version")) document.set("version", 1);
  document.set("model", model);
  return document.toString({ lineWidth: 0 });
}

function saysModel(text: string, model: string): boolean {
  const document = parseDocument(text);
  return document.errors.length === 0 && isMap(document.contents) &&
    document.get("model") === model;
}

/** The value to write for a name: files by absolute path, so that it means the same everywhere. */
function written(command: Command, text: string): string {
  const { powers, places } = command;
  const { models } = loadConfig(powers.disk, places, {
    folder: powers.environment.cwd,
    mounts: [],
  });
  const { ref } = followAliases(text, models);
  const name = parseModelName(ref);
  if (name.kind === "stored" && findWeights(powers.disk, places, name.name) === undefined) {
    throw new Fault(
      "notFound",
      `Cannot use "${text}": there is no model of that name; "remit model list" shows what there is`,
    );
  }
  // A URL without a model works for servers on this machine alone, which are asked at each start.
  if ("url" in name && name.model === undefined && !isThisMachine(name.url)) {
    throw namesNoModel(text, name);
  }
  const file = name.kind === "scripted"
    ? name.file
    : name.kind === "gguf" && findWeights(powers.disk, places, name.what) === undefined
    ? name.what
    : undefined;
  if (file === undefined) return text;
  const path = absolute(powers.environment, file);
  if (powers.disk.stat(path)?.folder !== false) {
    throw new Fault(
      "notFound",
      `Cannot use "${text}": there is no file "${path}"; "remit model list" shows what there is`,
    );
  }
  return ref === text ? `${name.kind}:${path}` : text;
}

/** `model use`. */
export function modelUse(command: Command): Promise<number> {
  const { powers, places, parsed } = command;
  const { disk } = powers;
  const model = written(command, parsed.args[0] ?? "");
  const path = disk.real(places.config) ?? places.config;
  const bytes = disk.read(path);
  const before = bytes === undefined ? "" : new TextDecoder().decode(bytes);
  // Refuse to change a file that does not parse.
  if (bytes !== undefined) parseConfigText(path, before);
  const after = withModelLine(before, model);
  parseConfigText(path, after);
  disk.makeFolder(dirname(path), 0o700);
  disk.write(path, after, { mode: disk.stat(path)?.mode ?? 0o600 });
  if (command.json) printJson(command, { model, file: path });
  else {
    const changes = diffLines(before, after).flatMap(({ added, removed, value }) => {
      if (!added && !removed) return [];
      const lines = value.split("\n").filter((line) => line !== "");
      return lines.map((line) => `${added ? "+" : "-"} ${displayText(line, { max: 500 })}`);
    });
    printLines(command, [
      displayText(path, { max: 500 }),
      ...(changes.length === 0 ? ["  it says so already"] : changes.map((line) => `  ${line}`)),
    ]);
  }
  return Promise.resolve(EXIT.success);
}
