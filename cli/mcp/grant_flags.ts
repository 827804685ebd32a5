/** `--read --write --net --socket --env --secret --header`: what a server is granted, from flags. @module */
import { Fault, Label, McpEnvName, type McpGrants, McpHost } from "../../contracts/mod.ts";
import { displayText } from "../../text/mod.ts";
import type { Command } from "../command.ts";
import { basename, dirname, join } from "node:path";
import { absolute } from "../disk/places.ts";
import { resolveGrant, resolveSocket } from "./registry/paths.ts";
import type { LockedServer } from "./registry/lock.ts";
import { keepMcpSecret } from "./registry/secrets.ts";

/** What the flags say. */
export interface GrantFlags {
  readonly grants: McpGrants;
  /** Of `grants.write`: changes there are not staged. */
  readonly direct?: readonly string[];
  /** Tools, by the server's names, that only read, and that do not. */
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly secretEnv: readonly string[];
  readonly secretHeaders: readonly string[];
  /** Tokens for what it may ask a model, in each task; absent: as it was. */
  readonly sampling?: number;
  /** The most confidential text that it may be told; absent: as it was. */
  readonly clearance?: Label;
}

const HTTPS = 443;

function wrong(message: string): Fault {
  return new Fault("invalidInput", message);
}

/** Reads `HOST[:PORT]`. Throws Fault `invalidInput`. */
export function parseHost(text: string): string {
  const host = text.includes(":") ? text.toLowerCase() : `${text.toLowerCase()}:${HTTPS}`;
  if (McpHost.safeParse(host).success && Number(host.split(":")[1]) <= 65_535) return host;
  throw wrong(`Cannot grant the network: "${text}" is no HOST or HOST:PORT`);
}

function parseVariable(text: string): string {
  if (McpEnvName.safeParse(text).success) return text;
  throw wrong(
    `Cannot hand over variable "${text}": it is no name, or one that steers programs (PATH, LD_…, …_PROXY)`,
  );
}

function parseHeader(text: string): string {
  const name = text.toLowerCase();
  if (/^[a-z][a-z0-9-]{0,63}$/.test(name)) return name;
  throw wrong(`Cannot use header "${text}": that is no header's name`);
}

const MOST_TOKENS = 10_000_000;

function parseTokens(text: string): number {
  const tokens = /^[0-9]{1,8}$/.test(text) ? Number(text) : MOST_TOKENS + 1;
  if (tokens <= MOST_TOKENS) return tokens;
  throw wrong(`Cannot read --sampling "${text}": it takes tokens, 0 to ${MOST_TOKENS}`);
}

/** What `--clearance` says; undefined without it. Throws Fault `invalidInput`. */
export function clearanceFor({ parsed }: Pick<Command, "parsed">): Label | undefined {
  const label = Label.optional().safeParse(parsed.flags.get("clearance")?.at(-1));
  if (label.success) return label.data;
  throw wrong("Cannot read --clearance: it takes public, internal or secret");
}

/** Whether a server can send on what it is told. */
export function reachesOut({ launch, grants }: Pick<LockedServer, "launch" | "grants">): boolean {
  return launch.kind === "http" || grants.net.length > 0;
}

/** The most confidential text that a server may be told: what a person chose, else by what it can reach. */
function clearanceOf(server: Pick<LockedServer, "launch" | "grants" | "clearanceChosen">): Label {
  return server.clearanceChosen ?? (reachesOut(server) ? "public" : "internal");
}

function variable(command: Command, text: string): readonly [string, string] {
  const at = text.indexOf("=");
  if (at >= 0) return [parseVariable(text.slice(0, at)), text.slice(at + 1)];
  const name = parseVariable(text);
  const value = command.hands.around.env(name);
  if (value !== undefined) return [name, value];
  throw wrong(
    `Cannot hand over variable "${name}": your environment has none; write --env ${name}=VALUE`,
  );
}

const unique = (list: readonly string[]): string[] => [...new Set(list)];

/**
 * A path to be changed. What is not there yet is made, empty, where its folder is: a file, or with a `/` at its end a
 * folder. A server that keeps a file of its own names it before it exists, and only what is there can be bound.
 */
function writable(command: Command, text: string): string {
  const { disk, around, screen } = command.hands;
  try {
    return resolveGrant(command, text);
  } catch (error) {
    const path = absolute(around, text), folder = disk.real(dirname(path));
    if (!(error instanceof Fault) || error.code !== "notFound" || folder === undefined) throw error;
    const isFolder = text.endsWith("/"), made = join(folder, basename(path));
    // Of its owner alone: nobody has said who else may read what comes into it.
    if (isFolder) disk.makeFolder(made, 0o700);
    else disk.write(made, "", { mode: 0o600 });
    const what = isFolder ? "an empty folder" : "an empty file";
    screen.say(`  ${displayText(path, { max: 300 })} was not there: ${what} was made of it`);
    return resolveGrant(command, text);
  }
}

/** Reads the flags. Throws Fault `invalidInput`, and `refused` for folders that no server is granted. */
export function readGrantFlags(command: Command): GrantFlags {
  const all = (name: string): readonly string[] => command.parsed.flags.get(name) ?? [];
  const direct = unique(all("direct").map((path) => writable(command, path)));
  const write = unique([
    ...all("write").map((path) => writable(command, path)),
    ...direct,
  ]);
  const tools = (name: string): string[] => unique(all(name).flatMap((text) => text.split(",")));
  const reads = tools("reads"), writes = tools("writes");
  const both = reads.find((tool) => writes.includes(tool));
  if (both !== undefined) {
    throw wrong(`Cannot say both of "${displayText(both, { max: 64 })}": it reads, or it writes`);
  }
  const read = unique(all("read").map((path) => resolveGrant(command, path)));
  const sampling = all("sampling").at(-1), clearance = clearanceFor(command);
  return {
    grants: {
      read: read.filter((path) => !write.includes(path)),
      write,
      net: unique([
        ...all("net").map(parseHost),
        ...all("socket").map((path) => `unix:${resolveSocket(command, path)}`),
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

/**
 * A server with these grants, too. A folder that it may change is not listed as one to read. A clearance was chosen for
 * the hosts that the server reached then: with another host it is chosen anew.
 */
export function withGrants(
  server: LockedServer,
  more: GrantFlags,
): LockedServer {
  const write = unique([...server.grants.write, ...more.grants.write]);
  const grants: McpGrants = {
    write,
    read: unique([...server.grants.read, ...more.grants.read]).filter((path) =>
      !write.includes(path)
    ),
    net: unique([...server.grants.net, ...more.grants.net]),
  };
  const { direct = [], reads = [], writes = [] } = more;
  // What was said last of a path, or of a tool, holds.
  const kept = (list: readonly string[] = [], gone: readonly string[]): string[] =>
    list.filter((each) => !gone.includes(each));
  const said = {
    ...(write.length === 0 ? {} : {
      direct: unique([...kept(server.direct, more.grants.write), ...direct]),
    }),
    ...(reads.length + writes.length === 0 ? {} : {
      reads: unique([...kept(server.reads, writes), ...reads]),
      writes: unique([...kept(server.writes, reads), ...writes]),
    }),
  };
  const env = { ...server.env, ...more.env };
  for (const name of more.secretEnv) delete env[name];
  const wider = grants.net.some((host) => !server.grants.net.includes(host));
  const { clearanceChosen: before, ...rest } = server;
  const chosen = more.clearance ?? (wider ? undefined : before);
  const clearanceChosen = chosen === undefined ? {} : { clearanceChosen: chosen };
  return {
    ...{ ...rest, ...clearanceChosen },
    ...said,
    ...{ grants, env, samplingTokens: more.sampling ?? server.samplingTokens },
    clearance: clearanceOf({ launch: server.launch, grants, ...clearanceChosen }),
    secretEnv: unique([...server.secretEnv, ...more.secretEnv]).filter((name) =>
      more.env[name] === undefined
    ),
    secretHeaders: unique([...server.secretHeaders, ...more.secretHeaders]),
  };
}

/** Reads the values of secrets, typed without being shown or piped in a line each, and keeps them. */
export async function takeSecrets(
  command: Command,
  name: LockedServer["name"],
  flags: Pick<GrantFlags, "secretEnv" | "secretHeaders">,
): Promise<void> {
  const { keyboard } = command.hands;
  const wanted = [
    ...flags.secretEnv.map((env) => ({ label: env, place: { env } })),
    ...flags.secretHeaders.map((header) => ({
      label: `header ${header}`,
      place: { header },
    })),
  ];
  if (wanted.length === 0) return;
  const piped = keyboard === undefined ? (await command.hands.readInput()).split("\n") : [];
  for (const { label, place } of wanted) {
    const value = keyboard === undefined
      ? piped.shift()?.replace(/\r$/, "")
      : await keyboard.line(`  value of ${displayText(label)} (not shown) › `, { echo: false });
    if (value === undefined || value === "") {
      throw wrong(
        `Cannot keep the secret "${label}": no value was given; type it, or pipe the values in, a line each`,
      );
    }
    keepMcpSecret(command, name, place, value);
  }
}
