/** How the hosts write their servers: each form becomes one list of names and entries. @module */
import { parse as parseToml } from "smol-toml";
import { parse as parseYaml } from "yaml";
import * as z from "zod";
import { parseJsonc } from "./json.ts";

/** Servers of one file, or of one folder in it, as the host wrote them. */
export interface HostGroup {
  /** The folder that they are for; absent: the file's own. */
  readonly folder?: string;
  readonly servers: readonly { readonly said: string; readonly entry: unknown }[];
}

/** What a file holds. */
export interface HostForms {
  readonly groups: readonly HostGroup[];
  /** VS Code's. */
  readonly inputs: unknown;
}

const Named = z.string().max(512);
const Entries = z.union([
  z.record(Named, z.unknown()),
  // Continue writes a list, the name within each.
  z.array(z.looseObject({ name: Named })).min(1),
]);
const Nested = z.looseObject({ servers: Entries.optional(), inputs: z.unknown().optional() });
const File = z.looseObject({
  /** Claude, Cursor, Windsurf, Gemini, Cline and most others. */
  mcpServers: Entries.optional(),
  /** VS Code. */
  servers: Entries.optional(),
  /** VS Code's settings.json has `servers` in it; opencode and Crush have the entries themselves. */
  mcp: z.record(z.string(), z.unknown()).optional(),
  /** Zed. */
  context_servers: Entries.optional(),
  /** Codex. */
  mcp_servers: Entries.optional(),
  /** goose. */
  extensions: z.unknown().optional(),
  /** Claude Code's projects, by folder. */
  projects: z.record(z.string().max(4_096), z.unknown()).optional(),
  inputs: z.unknown().optional(),
});
const Project = z.looseObject({ mcpServers: Entries.optional() });

/** Reads a file's text, by its ending. Throws an Error for what is none of the forms; its message may hold the text. */
export function readForms(file: string, text: string): HostForms {
  const read = File.parse(parse(file, text));
  const nested = Nested.safeParse(read.mcp ?? {}).data;
  const groups: readonly HostGroup[] = [
    { servers: listOf(read.mcpServers) },
    { servers: listOf(read.servers) },
    { servers: listOf(nested?.servers) },
    // Beside them stand settings, as which of the servers are allowed.
    { servers: listOf(nested?.servers === undefined ? read.mcp : undefined).filter(isServer) },
    { servers: listOf(read.context_servers) },
    { servers: listOf(read.mcp_servers) },
    // What is built into goose is no server.
    { servers: listOf(Entries.safeParse(read.extensions).data).filter(isServer) },
    ...Object.entries(read.projects ?? {}).map(([folder, project]) => ({
      folder,
      servers: listOf(Project.safeParse(project).data?.mcpServers),
    })),
  ];
  return { groups, inputs: read.inputs ?? nested?.inputs };
}

function parse(file: string, text: string): unknown {
  if (/\.toml$/i.test(file)) return parseToml(text);
  // Aliases that name each other would grow without end.
  if (/\.ya?ml$/i.test(file)) return parseYaml(text, { maxAliasCount: 100 });
  return parseJsonc(text);
}

function listOf(entries: z.infer<typeof Entries> | undefined): HostGroup["servers"] {
  if (Array.isArray(entries)) return entries.map((entry) => ({ said: entry.name, entry }));
  return Object.entries(entries ?? {}).map(([said, entry]) => ({ said, entry }));
}

function isServer({ entry }: { readonly entry: unknown }): boolean {
  const { command, cmd, url, uri } = fields(entry);
  return [command, cmd, url, uri].some((each) => each !== undefined);
}

function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? value as Readonly<Record<string, unknown>>
    : {};
}

/** An entry in the words of most hosts: those of the others are put in their place. */
export function plainEntry(entry: unknown): unknown {
  if (typeof entry !== "object" || entry === null || Array.isArray(entry)) return entry;
  const { cmd, uri, serverUrl, httpUrl, environment, envs, env_keys: keys, ...rest } = fields(
    entry,
  );
  const { command, args, ...own } = rest;
  const { path, ...inner } = fields(command);
  const line: readonly unknown[] = Array.isArray(command)
    ? [command[0], [...command.slice(1), ...(Array.isArray(args) ? args : [])]]
    : path !== undefined
    ? [path, inner["args"] ?? args]
    : [command ?? cmd, args];
  const env = {
    ...fields(inner["env"]),
    ...fields(envs),
    ...fields(environment),
    ...fields(own["env"]),
    // Kept by the host under these names, not in the file.
    ...asked(Array.isArray(keys) ? keys : []),
  };
  const headers = {
    ...fields(own["http_headers"]),
    ...fields(own["headers"]),
    ...Object.fromEntries(
      Object.entries(fields(own["env_http_headers"])).map(([name, from]) => [name, `\${${from}}`]),
    ),
    ...(typeof own["bearer_token_env_var"] === "string"
      ? { authorization: `Bearer \${${own["bearer_token_env_var"]}}` }
      : {}),
  };
  return withVariables({
    ...own,
    command: line[0],
    args: line[1],
    url: httpUrl ?? own["url"] ?? serverUrl ?? uri,
    ...(Object.keys(env).length === 0 ? {} : { env }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
  });
}

function asked(names: readonly unknown[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [String(name), `\${${name}}`]));
}

/** opencode's `{env:NAME}` as the others write it; what has no value is absent. */
function withVariables(entry: Readonly<Record<string, unknown>>): unknown {
  return JSON.parse(
    JSON.stringify(
      entry,
      (_key, value: unknown) =>
        typeof value === "string"
          ? value.replace(/(^|[^$])\{env:([A-Za-z_][A-Za-z0-9_]*)\}/g, "$1${$2}")
          : value,
    ),
  );
}
