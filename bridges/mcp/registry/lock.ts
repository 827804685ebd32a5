/** remit.lock: what the operator imported, as it was reviewed. Written by machine. @module */
import { Digest, Label, Millis } from "../../../contracts/authority/mod.ts";
import { Fault } from "../../../contracts/base/mod.ts";
import {
  ImportedServer,
  ImportedTool,
  isPeer,
  type McpGrants,
  McpHost,
  mcpPart,
  McpServerName,
  McpToolName,
  McpToolWords,
  NO_GRANTS,
} from "../../../contracts/exchange/mod.ts";
import { displayText } from "../../../text/mod.ts";
import { dirname } from "node:path";
import type { DiskRead, DiskWrite } from "../../../launch/disk/machine.ts";
import type { McpStore } from "./store/store.ts";
import type { Places } from "../../../launch/disk/places.ts";
import type { ProvidedLaunch } from "./fetch/npm.ts";
import * as z from "zod";

/** Most bytes of a remit.lock that are read: 64 servers of many tools fit. */
export const LOCK_BYTES = 32 * 1_048_576;

/** A package of a server's tree, as the registry described it. */
export const LockedPackage = z.object({
  name: z.string().min(1).max(214),
  version: z.string().min(1).max(128),
  /** `sha512-…` (npm) or `sha256-…` (Python), of the archive that was fetched and held against it. */
  integrity: z.string().max(256),
  /** What its author says: do not use it. */
  deprecated: z.string().max(1_024).optional(),
  /** The registry's signatures of name, version and integrity, as given. */
  signatures: z.array(
    z.object({ keyid: z.string().max(256), sig: z.string().max(1_024) }).strict(),
  ).max(8).optional(),
  /** Where a statement about its build lies, and of which kind it is: recorded, not verified. */
  attestations: z.object({ url: z.string().max(1_024), predicate: z.string().max(256) }).strict()
    .optional(),
  /** One of `signatures` was checked against a key that the same registry publishes. */
  verified: z.boolean(),
}).strict();
/** See {@link LockedPackage}. */
export type LockedPackage = z.infer<typeof LockedPackage>;

/** A tool that a person approved. */
export const LockedTool = z.object({
  /** What the server said of it when it was reviewed: untrusted. */
  words: McpToolWords,
  /** The same, translated. */
  tool: ImportedTool,
  at: Millis,
  /** Who approved it: a user's name. */
  by: z.string().min(1).max(128),
  /** Switched off by a person. */
  off: z.boolean(),
  /** Why it waits for another review. */
  suspended: z.string().max(512).optional(),
}).strict();
/** See {@link LockedTool}. */
export type LockedTool = z.infer<typeof LockedTool>;

/** A server in remit.lock. */
export const LockedServer = z.object({
  ...ImportedServer.omit({ tools: true, files: true }).shape,
  /** The clearance that a person chose; absent: it follows from what the server can reach. */
  clearanceChosen: Label.optional(),
  /** Tools, by its own names, of which the operator said that they only read, and that they do not. */
  reads: z.array(McpToolName).max(512).optional(),
  writes: z.array(McpToolName).max(512).optional(),
  state: z.enum(["added", "approved", "revoked"]),
  addedAt: Millis,
  /** Where it came from, secrets left out. Of `editor`: it is handed to the tasks of editors that hand it over. */
  from: z.object({
    kind: z.enum(["command", "url", "config", "editor"]),
    text: z.string().max(16_384),
    /** Of `config`: the other host's file. */
    file: z.string().max(4_096).optional(),
  }).strict(),
  packages: z.array(LockedPackage).max(10_000),
  reviewed: z.array(LockedTool).max(512),
  /** What it said of itself at the last review: untrusted. */
  seen: z.object({
    name: z.string().max(256),
    version: z.string().max(128),
    protocol: z.string().max(32),
    instructions: Digest.optional(),
  }).strict().optional(),
  /** What a person should know, a sentence each. */
  notes: z.array(z.string().max(1_024)).max(64),
}).strict();
/** See {@link LockedServer}. */
export type LockedServer = z.infer<typeof LockedServer>;

const McpLockFile = z.object({
  version: z.literal(1),
  servers: z.array(LockedServer).max(64),
}).strict().refine(({ servers }) =>
  new Set(servers.map(({ name }) => name)).size === servers.length
);

/** The servers of a file's text, sorted by name. Throws Fault `invalidInput` that names the file and the first fault in it. */
export function parseMcpLock(file: string, text: string): readonly LockedServer[] {
  const wrong = (why: string): Fault =>
    new Fault(
      "invalidInput",
      `Cannot read "${file}": ${why}; it is written by "remit mcp", restore it or remove it and add the servers again`,
    );
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    // Without its cause: a parser's message repeats the text.
    throw wrong("it is no JSON");
  }
  if (typeof read === "object" && read !== null && "version" in read && read.version !== 1) {
    throw wrong("it was written by another version of Remit");
  }
  const parsed = McpLockFile.safeParse(read);
  if (parsed.success) return parsed.data.servers;
  const [issue] = parsed.error.issues;
  // Keys of the file are shown, values never.
  const at = issue?.path.map(String).join(".") ?? "";
  throw wrong(`it is damaged${at === "" ? "" : ` at "${at.slice(0, 200)}"`}`);
}

/** The text of a file that holds these servers. Throws Fault `tooLarge`, `invalidInput` for more than one may have. */
export function mcpLockText(servers: readonly LockedServer[]): string {
  const sorted = [...servers].sort((a, b) => a.name < b.name ? -1 : 1);
  if (sorted.length > 64) {
    throw new Fault("tooLarge", "Cannot keep another MCP server: there are 64 already");
  }
  const parsed = McpLockFile.safeParse({ version: 1, servers: sorted });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Fault(
      "invalidInput",
      `Cannot keep the MCP server: remit.lock holds no such "${
        issue?.path.slice(2).map(String).join(".") ?? ""
      }"`,
    );
  }
  const text = `${JSON.stringify(parsed.data, null, 2)}\n`;
  if (new TextEncoder().encode(text).length <= LOCK_BYTES) return text;
  throw new Fault(
    "tooLarge",
    `Cannot keep another MCP server: remit.lock would be longer than ${LOCK_BYTES / 1_048_576} MiB`,
  );
}

/** Parses a server's name. Throws Fault `invalidInput`. */
export function parseMcpName(text: string): McpServerName {
  const name = McpServerName.safeParse(text);
  if (name.success) return name.data;
  throw new Fault(
    "invalidInput",
    `Cannot name an MCP server "${
      displayText(text, { max: 64 })
    }": a name is a letter a-z, then at most 23 of a-z and 0-9, with single - and _ between them`,
  );
}

/** The command that is about such a server: `mcp`, or `a2a` of a peer. */
export function familyOf({ launch }: Pick<LockedServer, "launch">): "mcp" | "a2a" {
  return isPeer(launch) ? "a2a" : "mcp";
}

/** What it is called: `MCP server`, or `peer`. */
export function nounOf({ launch }: Pick<LockedServer, "launch">): string {
  return isPeer(launch) ? "peer" : "MCP server";
}

/** The servers of this operator. */
export interface McpLock {
  /** Absolute path. */
  readonly file: string;
  /** By name. Throws `invalidInput` for a damaged file, `refused` for one that others may write. */
  list(): readonly LockedServer[];
  find(name: McpServerName): LockedServer | undefined;
  /** Throws `notFound`. */
  need(name: McpServerName): LockedServer;
  /** Adds a server. Throws `alreadyExists`. */
  add(server: LockedServer): void;
  /** Replaces a server by what `change` makes of it, and gives that. Throws `notFound`. */
  change(name: McpServerName, change: (server: LockedServer) => LockedServer): LockedServer;
  /** Takes a server out, and gives it. Throws `notFound`. */
  remove(name: McpServerName): LockedServer;
}

interface McpLockParts {
  readonly disk: DiskRead & DiskWrite;
  readonly store: Pick<McpStore, "exclusively">;
  readonly places: Pick<Places, "mcpLock" | "sharedMcpLock">;
}

const OTHERS_WRITE = 0o022;

/** Opens it. Nothing is read before it is asked for, and nothing is kept: another command may change it. */
export function openMcpLock({ disk, store, places }: McpLockParts): McpLock {
  const { mcpLock: file, sharedMcpLock } = places;
  const list = (): readonly LockedServer[] => {
    const own = listOf(file);
    return own ?? (sharedMcpLock === undefined ? undefined : listOf(sharedMcpLock)) ?? [];
  };
  const listOf = (file: string): readonly LockedServer[] | undefined => {
    const bytes = disk.read(file);
    if (bytes === undefined) return undefined;
    if (((disk.stat(file)?.mode ?? 0) & OTHERS_WRITE) !== 0) {
      throw new Fault("refused", `Cannot use "${file}": others can write it; make it 0600`);
    }
    if (bytes.length > LOCK_BYTES) {
      throw new Fault("tooLarge", `Cannot read "${file}": it is longer than ${LOCK_BYTES} bytes`);
    }
    return parseMcpLock(file, new TextDecoder().decode(bytes));
  };
  const needIn = (servers: readonly LockedServer[], name: McpServerName): LockedServer => {
    const found = servers.find((each) => each.name === name);
    if (found !== undefined) return found;
    throw new Fault(
      "notFound",
      `Cannot find MCP server "${name}": there is none of that name; see "remit mcp list"`,
    );
  };
  const rewrite = <T>(
    work: (servers: readonly LockedServer[]) => readonly [readonly LockedServer[], T],
  ): T => {
    disk.makeFolder(dirname(file), 0o700);
    return store.exclusively(dirname(file), () => {
      const [servers, result] = work(list());
      disk.write(file, mcpLockText(servers), { mode: 0o600 });
      return result;
    });
  };
  return Object.freeze<McpLock>({
    file,
    list,
    find: (name) => list().find((each) => each.name === name),
    need: (name) => needIn(list(), name),
    add: (server) =>
      rewrite((servers) => {
        const taken = servers.find(({ name }) => mcpPart(name) === mcpPart(server.name));
        if (taken !== undefined) {
          throw new Fault(
            "alreadyExists",
            `Cannot add MCP server "${server.name}": there is ${
              taken.name === server.name
                ? "one of that name"
                : `"${taken.name}", and their tools would have the same names`
            }; remove it first, or give another name`,
          );
        }
        return [[...servers, server], undefined];
      }),
    change: (name, change) =>
      rewrite((servers) => {
        const changed = change(needIn(servers, name));
        return [servers.map((each) => each.name === name ? changed : each), changed];
      }),
    remove: (name) =>
      rewrite((servers) => {
        const found = needIn(servers, name);
        return [servers.filter((each) => each !== found), found];
      }),
  });
}

/** What a person grants. */
export interface MoreGrants {
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

/** Reads `HOST[:PORT]`. Throws Fault `invalidInput`. */
export function parseHost(text: string): string {
  const host = text.includes(":") ? text.toLowerCase() : `${text.toLowerCase()}:${HTTPS}`;
  if (McpHost.safeParse(host).success && Number(host.split(":")[1]) <= 65_535) return host;
  throw new Fault("invalidInput", `Cannot grant the network: "${text}" is no HOST or HOST:PORT`);
}

/** Whether a server can send on what it is told. */
export function reachesOut({ launch, grants }: Pick<LockedServer, "launch" | "grants">): boolean {
  return launch.kind === "http" || grants.net.length > 0;
}

/** The most confidential text that a server may be told: what a person chose, else by what it can reach. */
function clearanceOf(server: Pick<LockedServer, "launch" | "grants" | "clearanceChosen">): Label {
  return server.clearanceChosen ?? (reachesOut(server) ? "public" : "internal");
}

/** Each once, in the order of the first. */
export const unique = (list: readonly string[]): string[] => [...new Set(list)];

/** A server with nothing granted, and none of its tools approved. */
export function freshServer(
  name: LockedServer["name"],
  provided: ProvidedLaunch,
  more: Pick<LockedServer, "from" | "addedAt">,
): LockedServer {
  const { launch, packages, notes } = provided;
  return {
    ...{ name, launch, ...more },
    grants: { read: [...NO_GRANTS.read], write: [...NO_GRANTS.write], net: [...NO_GRANTS.net] },
    ...{ env: {}, secretEnv: [], secretHeaders: [], offers: { resources: false, prompts: false } },
    ...{ samplingTokens: 0, elicitation: true, clearance: "internal", state: "added" },
    packages: [...packages],
    reviewed: [],
    notes: [...notes],
  };
}

/**
 * A server with these grants, too. A folder that it may change is not listed as one to read. A clearance was chosen for
 * the hosts that the server reached then: with another host it is chosen anew.
 */
export function withGrants(server: LockedServer, more: MoreGrants): LockedServer {
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
