/** Reads the MCP servers in other programs' configuration files. @module */
import { dirname, join } from "node:path";
import { Fault } from "../../../contracts/base/mod.ts";
import { mcpPart, McpServerName } from "../../../contracts/exchange/mod.ts";
import { displayText } from "../../../text/mod.ts";
import type { Command } from "../../command.ts";
import { HostEntry, type HostServer, readEntry } from "./entry.ts";
import { absolute, within } from "../../../launch/disk/places.ts";
import { parse as parseToml } from "smol-toml";
import { parse as parseYaml } from "yaml";
import * as z from "zod";

type Host =
  | "claude-desktop"
  | "claude-code"
  | "cursor"
  | "vscode"
  | "windsurf"
  | "gemini"
  | "zed"
  | "codex"
  | "opencode"
  | "cline"
  | "goose";

interface HostConfig {
  readonly host: Host;
  readonly file: string;
}

/** Bytes; Claude Code keeps its whole history in its configuration file. */
const MAX_FILE_BYTES = 64_000_000;
const MAX_SERVERS = 64;

function candidates(home: string, config: string, cwd: string): readonly HostConfig[] {
  const library = join(home, "Library", "Application Support");
  const list: readonly (readonly [Host, readonly string[]])[] = [
    ["claude-desktop", [
      join(config, "Claude", "claude_desktop_config.json"),
      join(library, "Claude", "claude_desktop_config.json"),
    ]],
    ["claude-code", [join(home, ".claude.json"), join(cwd, ".mcp.json")]],
    ["cursor", [join(home, ".cursor", "mcp.json"), join(cwd, ".cursor", "mcp.json")]],
    ["vscode", [
      join(cwd, ".vscode", "mcp.json"),
      ...[join(config, "Code"), join(library, "Code")].flatMap((folder) => [
        join(folder, "User", "mcp.json"),
        join(folder, "User", "settings.json"),
      ]),
    ]],
    ["windsurf", [join(home, ".codeium", "windsurf", "mcp_config.json")]],
    ["gemini", [join(home, ".gemini", "settings.json"), join(cwd, ".gemini", "settings.json")]],
    ["zed", [join(config, "zed", "settings.json"), join(cwd, ".zed", "settings.json")]],
    ["codex", [join(home, ".codex", "config.toml"), join(cwd, ".codex", "config.toml")]],
    ["opencode", [
      ...["opencode.json", "opencode.jsonc"].flatMap((name) => [
        join(config, "opencode", name),
        join(cwd, name),
      ]),
    ]],
    ["cline", [
      join(config, "Code", "User", "globalStorage", "saoudrizwan.claude-dev", "settings") +
      "/cline_mcp_settings.json",
    ]],
    ["goose", [join(config, "goose", "config.yaml")]],
  ];
  return list.flatMap(([host, files]) => files.map((file) => ({ host, file })));
}

/** Configuration files of this home and this folder; a link that leads out of both is left out. */
export function findHostConfigs(command: Pick<Command, "powers">): readonly HostConfig[] {
  const { environment, disk } = command.powers;
  const home = environment.env("HOME");
  if (home === undefined) return [];
  const config = absolute(environment, environment.env("XDG_CONFIG_HOME") ?? join(home, ".config"));
  const roots = [home, config, environment.cwd].map((path) => disk.real(path) ?? path);
  const seen = new Set<string>();
  return candidates(home, config, environment.cwd).filter(({ file }) => {
    const real = disk.real(file);
    if (real === undefined || seen.has(real) || disk.stat(real)?.folder === true) return false;
    seen.add(real);
    return roots.some((root) => within(real, root));
  });
}

const Inputs = z.array(z.looseObject({
  id: z.string().max(256),
  description: z.string().max(1_024).optional(),
  password: z.boolean().optional(),
})).max(256);

/** Reads the servers of a file, in any host's form. Throws `notFound`, `tooLarge`, `invalidInput`. */
export function readHostConfig(
  command: Pick<Command, "powers">,
  file: string,
  host?: Host,
): readonly HostServer[] {
  const { environment, disk } = command.powers;
  const shown = displayText(file, { max: 512 });
  const bytes = disk.read(file, { most: MAX_FILE_BYTES });
  if (bytes === undefined) {
    throw new Fault("notFound", `Cannot read "${shown}": there is no such file`);
  }
  if (bytes.length > MAX_FILE_BYTES) {
    throw new Fault(
      "tooLarge",
      `Cannot read "${shown}": it is longer than ${MAX_FILE_BYTES} bytes`,
    );
  }
  const read = readForms(file, new TextDecoder().decode(bytes));
  if (read === undefined) {
    throw new Fault("invalidInput", `Cannot read "${shown}": it is no configuration of servers`);
  }
  const inputs = Inputs.safeParse(read.inputs).data ?? [];
  const asked = new Map(
    inputs.map(({ id, description = "", password = false }) =>
      [id, { description, password }] as const
    ),
  );
  const folder = projectOf(file, host) ?? environment.cwd;
  const all = read.groups.flatMap(({ folder: at = folder, servers }) =>
    servers.map(({ originalName, entry }) => ({ at, originalName, entry: plainEntry(entry) }))
  );
  if (all.length > MAX_SERVERS) {
    throw new Fault("tooLarge", `Cannot read "${shown}": it has more than ${MAX_SERVERS} servers`);
  }
  const taken = new Set<string>(), known = new Set<string>();
  const unnamed = McpServerName.parse("unnamed");
  return all.map(({ at, originalName, entry }) => {
    const parsed = HostEntry.safeParse(entry);
    const parts = {
      ...{
        originalName,
        folder: at,
        asked,
        home: environment.env("HOME") ?? "/",
        name: unnamed,
      },
      variable: (name: string) => environment.env(name),
      exists: (path: string) => disk.stat(path) !== undefined,
    };
    if (parsed.success) return readEntry(parsed.data, parts);
    return {
      ...readEntry({}, parts),
      wish: { kind: "refused", why: "its entry is of an unknown form" } as const,
    };
  }).filter((server) => {
    // Claude Code repeats a server for each project.
    const key = JSON.stringify(server);
    if (known.has(key)) return false;
    known.add(key);
    return true;
  }).map((server) => ({ ...server, name: freshName(server.originalName, taken) }));
}

/** The project's folder, for a configuration file inside a project. */
function projectOf(file: string, host: Host | undefined): string | undefined {
  const folder = dirname(file);
  if (/\/\.(?:cursor|vscode|gemini|zed|codex)$/.test(folder)) return dirname(folder);
  return host === "claude-code" && file.endsWith("/.mcp.json") ? folder : undefined;
}

/** A valid name made of `originalName`, unlike those in `taken`, to which it is added. */
export function freshName(originalName: string, taken: Set<string>): McpServerName {
  const letters = originalName.toLowerCase().replace(/[^a-z0-9_-]+/g, "").replace(
    /([-_])[-_]+/g,
    "$1",
  )
    .replace(/^[-_0-9]+/, "");
  const stem = letters === "" ? "server" : letters;
  for (let n = 1;; n++) {
    const end = n === 1 ? "" : String(n);
    const name = stem.slice(0, 24 - end.length).replace(/[-_]$/, "") + end;
    if (taken.has(mcpPart(name))) continue;
    taken.add(mcpPart(name));
    return McpServerName.parse(name);
  }
}

/** Servers of one section of a file, as the host wrote them. */
interface HostGroup {
  /** The project folder that they are for; absent: the file's own. */
  readonly folder?: string;
  readonly servers: readonly { readonly originalName: string; readonly entry: unknown }[];
}

interface HostForms {
  readonly groups: readonly HostGroup[];
  /** VS Code's `inputs`. */
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
  /** VS Code's settings.json has `servers` in it; opencode and Crush the entries. */
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

/** Parses a file by its ending; undefined for one of no known form. */
function readForms(file: string, text: string): HostForms | undefined {
  const read = File.safeParse(parse(file, text)).data;
  if (read === undefined) return undefined;
  const nested = Nested.safeParse(read.mcp ?? {}).data;
  const own = [read.mcpServers, read.servers, nested?.servers, read.context_servers];
  const groups: readonly HostGroup[] = [
    ...[...own, read.mcp_servers].map((entries) => ({ servers: listOf(entries) })),
    // Without `servers`, the entries stand beside settings, such as a list of allowed servers.
    { servers: listOf(nested?.servers === undefined ? read.mcp : undefined).filter(isServer) },
    // goose lists its built-in extensions, too; they are no servers.
    { servers: listOf(Entries.safeParse(read.extensions).data).filter(isServer) },
    ...Object.entries(read.projects ?? {}).map(([folder, project]) => ({
      folder,
      servers: listOf(Project.safeParse(project).data?.mcpServers),
    })),
  ];
  return { groups, inputs: read.inputs ?? nested?.inputs };
}

function parse(file: string, text: string): unknown {
  try {
    if (/\.toml$/i.test(file)) return parseToml(text);
    // Nested aliases would expand without end.
    if (/\.ya?ml$/i.test(file)) return parseYaml(text, { maxAliasCount: 100 });
    return parseJsonc(text);
  } catch {
    // The error is dropped: a parser's message repeats the text, which may hold keys.
    return undefined;
  }
}

function listOf(entries: z.infer<typeof Entries> | undefined): HostGroup["servers"] {
  if (Array.isArray(entries)) return entries.map((entry) => ({ originalName: entry.name, entry }));
  return Object.entries(entries ?? {}).map(([originalName, entry]) => ({ originalName, entry }));
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

/** An entry with the field names of most hosts; other hosts' fields are renamed. */
function plainEntry(entry: unknown): unknown {
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
    // goose keeps these values in a keyring; the file has their names alone.
    ...variablesFor(Array.isArray(keys) ? keys : []),
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

function variablesFor(names: readonly unknown[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [String(name), `\${${name}}`]));
}

/** Rewrites opencode's `{env:NAME}` as `${NAME}`; drops fields without a value. */
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

/**
 * Parses JSON with comments and trailing commas. Throws SyntaxError.
 *
 * @example
 * ```ts
 * import { parseJsonc } from "./hosts.ts";
 * const read = parseJsonc('{ "a": [1, 2,], // two\n }');
 * if (JSON.stringify(read) !== '{"a":[1,2]}') throw new Error("not read");
 * ```
 */
export function parseJsonc(text: string): unknown {
  // Strings are matched first, so that no comment or comma inside one is removed.
  const plain = text.replace(/^\ufeff/, "").replace(
    /"(?:[^"\\]|\\.)*"|\/\/[^\n]*|\/\*[^]*?\*\//g,
    (part) => part.startsWith("/") ? " " : part,
  );
  return JSON.parse(plain.replace(
    /"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])/g,
    (part) => part === "," ? "" : part,
  ));
}
