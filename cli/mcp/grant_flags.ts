/** Reads a server's grants from flags such as `--read`, `--net` and `--secret`. @module */
import { Label } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import { McpEnvName } from "../../contracts/exchange/mod.ts";
import { displayText } from "../../text/mod.ts";
import type { Command } from "../command.ts";
import { basename, dirname, join } from "node:path";
import { absolute } from "../../launch/disk/places.ts";
import {
  type LockedServer,
  type MoreGrants,
  parseHost,
  unique,
} from "../../bridges/mcp/registry/lock.ts";
import { resolveGrant, resolveSocket } from "../../bridges/mcp/registry/paths.ts";
import { keepMcpSecret } from "../../bridges/mcp/registry/secrets.ts";
import { registryOf } from "./work.ts";
import type { Basic } from "../powers.ts";

function invalid(message: string): Fault {
  return new Fault("invalidInput", message);
}

function parseVariable(text: string): string {
  if (McpEnvName.safeParse(text).success) return text;
  throw invalid(
    `Cannot hand over variable "${text}": it is no name, or one that steers programs (PATH, LD_…, …_PROXY)`,
  );
}

function parseHeader(text: string): string {
  const name = text.toLowerCase();
  if (/^[a-z][a-z0-9-]{0,63}$/.test(name)) return name;
  throw invalid(`Cannot use header "${text}": that is no header's name`);
}

const MAX_SAMPLING_TOKENS = 10_000_000;

function parseTokens(text: string): number {
  const tokens = /^[0-9]{1,8}$/.test(text) ? Number(text) : MAX_SAMPLING_TOKENS + 1;
  if (tokens <= MAX_SAMPLING_TOKENS) return tokens;
  throw invalid(`Cannot read --sampling "${text}": it takes tokens, 0 to ${MAX_SAMPLING_TOKENS}`);
}

/** The value of `--clearance`; undefined without the flag. Throws `invalidInput`. */
export function clearanceFor({ parsed }: Pick<Command, "parsed">): Label | undefined {
  const label = Label.optional().safeParse(parsed.flags.get("clearance")?.at(-1));
  if (label.success) return label.data;
  throw invalid("Cannot read --clearance: it takes public, internal or secret");
}

function variable(command: Command, text: string): readonly [string, string] {
  const at = text.indexOf("=");
  if (at >= 0) return [parseVariable(text.slice(0, at)), text.slice(at + 1)];
  const name = parseVariable(text);
  const value = command.powers.environment.env(name);
  if (value !== undefined) return [name, value];
  throw invalid(
    `Cannot hand over variable "${name}": your environment has none; write --env ${name}=VALUE`,
  );
}

/**
 * A path that a server may change. A missing one is made, empty: a folder if it ends with `/`, else
 * a file; a server's own file is granted before it exists, and only what exists can be bound.
 */
function writable(command: Command<Basic | "mcpStore">, text: string): string {
  const { disk, environment, screen } = command.powers;
  try {
    return resolveGrant(registryOf(command), text);
  } catch (error) {
    const path = absolute(environment, text), folder = disk.real(dirname(path));
    if (!(error instanceof Fault) || error.code !== "notFound" || folder === undefined) throw error;
    const isFolder = text.endsWith("/"), made = join(folder, basename(path));
    // Private to the user: nobody has said who else may read what the server writes.
    if (isFolder) disk.makeFolder(made, 0o700);
    else disk.write(made, "", { mode: 0o600 });
    const what = isFolder ? "an empty folder" : "an empty file";
    screen.say(`  ${displayText(path, { max: 300 })} was not there: ${what} was made of it`);
    return resolveGrant(registryOf(command), text);
  }
}

/** Reads the flags. Throws `invalidInput`, and `refused` for folders that no server may get. */
export function readGrantFlags(command: Command<Basic | "mcpStore">): MoreGrants {
  const all = (name: string): readonly string[] => command.parsed.flags.get(name) ?? [];
  const direct = unique(all("direct").map((path) => writable(command, path)));
  const write = unique([...all("write").map((path) => writable(command, path)), ...direct]);
  const tools = (name: string): string[] => unique(all(name).flatMap((text) => text.split(",")));
  const reads = tools("reads"), writes = tools("writes");
  const both = reads.find((tool) => writes.includes(tool));
  if (both !== undefined) {
    throw invalid(`Cannot say both of "${displayText(both, { max: 64 })}": it reads, or it writes`);
  }
  const read = unique(all("read").map((path) => resolveGrant(registryOf(command), path)));
  const sampling = all("sampling").at(-1), clearance = clearanceFor(command);
  return {
    grants: {
      read: read.filter((path) => !write.includes(path)),
      write,
      net: unique([
        ...all("net").map(parseHost),
        ...all("socket").map((path) => `unix:${resolveSocket(registryOf(command), path)}`),
      ]),
    },
    ...{ direct, reads, writes },
    env: Object.fromEntries(all("env").map((text) => variable(command, text))),
    secretEnv: unique(all("secret").map(parseVariable)),
    secretHeaders: unique(all("header").map(parseHeader)),
    ...(sampling === undefined ? {} : { sampling: parseTokens(sampling) }),
    ...(clearance === undefined ? {} : { clearance }),
  };
}

/** Keeps secrets, typed without echo or piped in one a line. Throws `invalidInput`. */
export async function takeSecrets(
  command: Command<Basic | "keyboard" | "mcpStore" | "readInput">,
  name: LockedServer["name"],
  flags: Pick<MoreGrants, "secretEnv" | "secretHeaders">,
): Promise<void> {
  const { keyboard } = command.powers;
  const wanted = [
    ...flags.secretEnv.map((env) => ({ label: env, place: { env } })),
    ...flags.secretHeaders.map((header) => ({ label: `header ${header}`, place: { header } })),
  ];
  if (wanted.length === 0) return;
  const piped = keyboard === undefined ? (await command.powers.readInput()).split("\n") : [];
  for (const { label, place } of wanted) {
    const value = keyboard === undefined
      ? piped.shift()?.replace(/\r$/, "")
      : await keyboard.line(`  value of ${displayText(label)} (not shown) › `, { echo: false });
    if (value === undefined || value === "") {
      throw invalid(
        `Cannot keep the secret "${label}": no value was given; type it, or pipe the values in, a line each`,
      );
    }
    keepMcpSecret(registryOf(command), name, place, value);
  }
}
