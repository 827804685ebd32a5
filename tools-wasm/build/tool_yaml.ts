/** Parses a plugin's `tool.yaml`. @module */
import { type Document, parseDocument } from "yaml";
import * as z from "zod";
import { Fault } from "../../contracts/base/fault.ts";
import { PluginManifest } from "../../contracts/tool/plugin.ts";

/** The author's part of a manifest, before its module or script is known. */
export const ToolYaml = PluginManifest.omit({ sha256: true, signature: true }).strict();
export type ToolYaml = z.infer<typeof ToolYaml>;

/** In UTF-16 units. */
const MAX_YAML = 65_536;

/** Schema keywords that the gate's validator does not accept. */
const UNSUPPORTED: ReadonlySet<string> = new Set(["pattern", "format", "uniqueItems"]);

/**
 * Parses the `tool.yaml` of the plugin `name`, which is also its folder's name.
 *
 * @throws Fault `invalidInput` for a syntax error, a key that is unknown, repeated or missing, a
 * name other than the folder's, or a tool that names an argument which its parameters do not have
 */
export function parseToolYaml(text: string, name: string): ToolYaml {
  // The parser compares each key with each: a stranger's million characters would take minutes.
  if (text.length > MAX_YAML) throw bad(name, `it is longer than ${MAX_YAML} characters`);
  const document = parseDocument(text, { uniqueKeys: true, strict: true, logLevel: "error" });
  const broken = document.errors[0];
  if (broken !== undefined) throw bad(name, broken.message.split("\n")[0] ?? "");
  const parsed = ToolYaml.safeParse(plainOf(document, name));
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw bad(name, `${issue?.path.join(".") || "the top"}: ${issue?.message ?? "?"}`);
  }
  const manifest = parsed.data;
  if (manifest.name !== name) throw bad(name, `it calls itself "${manifest.name}"`);
  const seen = new Set<string>();
  for (const tool of manifest.tools) {
    if (seen.has(tool.name)) throw bad(name, `tool "${tool.name}" is there twice`);
    seen.add(tool.name);
    const known = Object.keys(propertiesOf(tool.parameters));
    const named = [
      ...tool.reads,
      ...tool.writes,
      ...(tool.fetches === undefined ? [] : [tool.fetches]),
    ];
    const unknown = named.find((argument) => !known.includes(argument));
    if (unknown !== undefined) throw bad(name, `${tool.name} has no parameter "${unknown}"`);
    const keyword = unsupportedKeyword(tool.parameters);
    if (keyword !== undefined) throw bad(name, `${tool.name} uses the schema keyword "${keyword}"`);
  }
  return manifest;
}

/** Aliases are refused: a few lines of them can stand for a billion values. */
function plainOf(document: Document, name: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    if (error instanceof ReferenceError) throw bad(name, "it has aliases");
    throw error;
  }
}

function bad(name: string, why: string): Fault {
  return new Fault("invalidInput", `Cannot read the tool.yaml of "${name}": ${why}`);
}

function propertiesOf(schema: unknown): Readonly<Record<string, unknown>> {
  if (!isRecord(schema)) return {};
  return isRecord(schema["properties"]) ? schema["properties"] : {};
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A property may be called `pattern`: only keywords of schemas count. */
function unsupportedKeyword(schema: unknown): string | undefined {
  if (!isRecord(schema)) return undefined;
  const keyword = Object.keys(schema).find((key) => UNSUPPORTED.has(key));
  if (keyword !== undefined) return keyword;
  const branches = ["anyOf", "oneOf", "allOf"].flatMap((key) =>
    Array.isArray(schema[key]) ? schema[key] : []
  );
  const below = [
    ...Object.values(propertiesOf(schema)),
    ...branches,
    schema["items"],
    schema["additionalProperties"],
  ];
  for (const inner of below) {
    const found = unsupportedKeyword(inner);
    if (found !== undefined) return found;
  }
  return undefined;
}
