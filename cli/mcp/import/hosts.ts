/** Servers that other programs of this machine know: their configuration files, read and never changed. @module */
import { dirname, join } from "node:path";
import * as z from "zod";
import { Fault, mcpPart, McpServerName } from "../../../contracts/mod.ts";
import { displayText } from "../../../text/mod.ts";
import type { Command } from "../../command.ts";
import { HostEntry, type HostServer, readEntry } from "./entry.ts";
import { type HostForms, plainEntry, readForms } from "./forms.ts";
import { within } from "../../disk/mounts.ts";
import { absolute } from "../../disk/places.ts";

export type { HostInput, HostServer } from "./entry.ts";

/** A program that starts servers. */
export type Host =
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

/** A configuration file that is there. */
export interface HostConfig {
  readonly host: Host;
  /** Absolute. */
  readonly file: string;
}

/** Claude Code keeps its whole history in one file. */
const LONGEST = 64_000_000;
const MOST = 64;

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

/** The files that are there, of this home and this folder. A link that leads out of these is none. */
export function findHostConfigs(command: Pick<Command, "hands">): readonly HostConfig[] {
  const { around, disk } = command.hands;
  const home = around.env("HOME");
  if (home === undefined) return [];
  const config = absolute(around, around.env("XDG_CONFIG_HOME") ?? join(home, ".config"));
  const roots = [home, config, around.cwd].map((path) => disk.real(path) ?? path);
  const seen = new Set<string>();
  return candidates(home, config, around.cwd).filter(({ file }) => {
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

/** Reads the servers of a file. Throws Fault `notFound`, `tooLarge`, `invalidInput`. */
export function readHostConfig(
  command: Pick<Command, "hands">,
  file: string,
  host?: Host,
): readonly HostServer[] {
  const { around, disk } = command.hands;
  const shown = displayText(file, { max: 512 });
  const bytes = disk.read(file, { most: LONGEST });
  if (bytes === undefined) {
    throw new Fault("notFound", `Cannot read "${shown}": there is no such file`);
  }
  if (bytes.length > LONGEST) {
    throw new Fault("tooLarge", `Cannot read "${shown}": it is longer than ${LONGEST} bytes`);
  }
  const read = parseFile(file, shown, new TextDecoder().decode(bytes));
  const inputs = Inputs.safeParse(read.inputs).data ?? [];
  const asked = new Map(
    inputs.map(({ id, description = "", password = false }) =>
      [id, { description, password }] as const
    ),
  );
  const folder = projectOf(file, host) ?? around.cwd;
  const all = read.groups.flatMap(({ folder: at = folder, servers }) =>
    servers.map(({ said, entry }) => ({ at, said, entry: plainEntry(entry) }))
  );
  if (all.length > MOST) {
    throw new Fault("tooLarge", `Cannot read "${shown}": it has more than ${MOST} servers`);
  }
  const taken = new Set<string>(), known = new Set<string>();
  const unnamed = McpServerName.parse("unnamed");
  return all.map(({ at, said, entry }) => {
    const parsed = HostEntry.safeParse(entry);
    const parts = {
      ...{ said, folder: at, asked, home: around.env("HOME") ?? "/", name: unnamed },
      variable: (name: string) => around.env(name),
      isThere: (path: string) => disk.stat(path) !== undefined,
    };
    if (parsed.success) return readEntry(parsed.data, parts);
    return {
      ...readEntry({}, parts),
      wish: { kind: "refused", why: "its entry is of an unknown form" } as const,
    };
  }).filter((server) => {
    // Claude Code repeats a server for each folder.
    const key = JSON.stringify(server);
    if (known.has(key)) return false;
    known.add(key);
    return true;
  }).map((server) => ({ ...server, name: freshName(server.said, taken) }));
}

function parseFile(file: string, shown: string, text: string): HostForms {
  try {
    return readForms(file, text);
  } catch {
    // Without its cause: a parser's message repeats the text, in which keys may be.
    throw new Fault("invalidInput", `Cannot read "${shown}": it is no configuration of servers`);
  }
}

/** The folder that a project's own file speaks of. */
function projectOf(file: string, host: Host | undefined): string | undefined {
  const folder = dirname(file);
  if (/\/\.(?:cursor|vscode|gemini|zed|codex)$/.test(folder)) return dirname(folder);
  return host === "claude-code" && file.endsWith("/.mcp.json") ? folder : undefined;
}

/** A name in the characters of names here, and no other server's of this file. */
function freshName(said: string, taken: Set<string>): McpServerName {
  const letters = said.toLowerCase().replace(/[^a-z0-9_-]+/g, "").replace(/([-_])[-_]+/g, "$1")
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
