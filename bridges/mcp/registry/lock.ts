/** remit.lock, written by Remit: the operator's imported servers as they were reviewed. @module */
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

/** Bytes of a remit.lock, at most: 64 servers of many tools fit. */
export const MAX_LOCK_BYTES = 32 * 1_048_576;

/** A package of a server's tree, with the registry's facts about it. */
export const LockedPackage = z.object({
  name: z.string().min(1).max(214),
  version: z.string().min(1).max(128),
  /** `sha512-…` (npm) or `sha256-…` (Python) of the fetched archive, checked while fetching. */
  integrity: z.string().max(256),
  /** The author's deprecation message. */
  deprecated: z.string().max(1_024).optional(),
  /** The registry's signatures of name, version and integrity, as given. */
  signatures: z.array(
    z.object({ keyid: z.string().max(256), sig: z.string().max(1_024) }).strict(),
  ).max(8).optional(),
  /** URL and kind of a statement about its build: recorded, not verified. */
  attestations: z.object({ url: z.string().max(1_024), predicate: z.string().max(256) }).strict()
    .optional(),
  /** Whether a signature was checked against a known key of the registry. */
  verified: z.boolean(),
}).strict();
/** A parsed {@link LockedPackage}. */
export type LockedPackage = z.infer<typeof LockedPackage>;

/** A tool that a person approved. */
export const LockedTool = z.object({
  /** The server's words at the review: untrusted. */
  words: McpToolWords,
  /** Those words, translated. */
  tool: ImportedTool,
  at: Millis,
  /** The name of the user who approved it. */
  by: z.string().min(1).max(128),
  /** Switched off by a person. */
  off: z.boolean(),
  /** Why it needs another review. */
  suspended: z.string().max(512).optional(),
}).strict();
/** A parsed {@link LockedTool}. */
export type LockedTool = z.infer<typeof LockedTool>;

/** A server in remit.lock. */
export const LockedServer = z.object({
  ...ImportedServer.omit({ tools: true, files: true }).shape,
  /** A person's choice of clearance; absent: it follows from what the server can reach. */
  clearanceChosen: Label.optional(),
  /** Tools that the operator declared as reading only, by the server's names, and as changing something. */
  reads: z.array(McpToolName).max(512).optional(),
  writes: z.array(McpToolName).max(512).optional(),
  state: z.enum(["added", "approved", "revoked"]),
  addedAt: Millis,
  /** Its origin without secrets. Of kind `editor`: only tasks of editors that hand it over get it. */
  from: z.object({
    kind: z.enum(["command", "url", "config", "editor"]),
    text: z.string().max(16_384),
    /** Of kind `config`: the host's file. */
    file: z.string().max(4_096).optional(),
  }).strict(),
  packages: z.array(LockedPackage).max(10_000),
  reviewed: z.array(LockedTool).max(512),
  /** Its own words at the last review: untrusted. */
  seen: z.object({
    name: z.string().max(256),
    version: z.string().max(128),
    protocol: z.string().max(32),
    instructions: Digest.optional(),
  }).strict().optional(),
  /** Sentences for a person. */
  notes: z.array(z.string().max(1_024)).max(64),
}).strict();
/** A parsed {@link LockedServer}. */
export type LockedServer = z.infer<typeof LockedServer>;

const McpLockFile = z.object({
  version: z.literal(1),
  servers: z.array(LockedServer).max(64),
}).strict().refine(({ servers }) =>
  new Set(servers.map(({ name }) => name)).size === servers.length
);

/** Parses remit.lock. Throws `invalidInput` that names the file and its first fault. */
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
    // No `cause`: a parser's message repeats the text.
    throw wrong("it is no JSON");
  }
  if (typeof read === "object" && read !== null && "version" in read && read.version !== 1) {
    throw wrong("it was written by another version of Remit");
  }
  const parsed = McpLockFile.safeParse(read);
  if (parsed.success) return parsed.data.servers;
  const [issue] = parsed.error.issues;
  // The message names keys of the file, never values.
  const at = issue?.path.map(String).join(".") ?? "";
  throw wrong(`it is damaged${at === "" ? "" : ` at "${at.slice(0, 200)}"`}`);
}

/** The text of a remit.lock. Throws `tooLarge` and `invalidInput` beyond its limits. */
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
  if (new TextEncoder().encode(text).length <= MAX_LOCK_BYTES) return text;
  throw new Fault(
    "tooLarge",
    `Cannot keep another MCP server: remit.lock would be longer than ${
      MAX_LOCK_BYTES / 1_048_576
    } MiB`,
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

/** The command family for a server: `mcp`, or `a2a` for a peer. */
export function familyOf({ launch }: Pick<LockedServer, "launch">): "mcp" | "a2a" {
  return isPeer(launch) ? "a2a" : "mcp";
}

/** The noun for a server: `MCP server`, or `peer`. */
export function nounOf({ launch }: Pick<LockedServer, "launch">): string {
  return isPeer(launch) ? "peer" : "MCP server";
}

/** The operator's servers in remit.lock. */
export interface McpLock {
  /** Absolute path. */
  readonly file: string;
  /** Sorted by name. Throws `invalidInput` for a damaged file, `refused` for one that others may write. */
  list(): readonly LockedServer[];
  find(name: McpServerName): LockedServer | undefined;
  /** Throws `notFound`. */
  need(name: McpServerName): LockedServer;
  /** Adds a server. Throws `alreadyExists`. */
  add(server: LockedServer): void;
  /** Replaces a server by the result of `change` and returns it. Throws `notFound`. */
  change(name: McpServerName, change: (server: LockedServer) => LockedServer): LockedServer;
  /** Removes a server and returns it. Throws `notFound`. */
  remove(name: McpServerName): LockedServer;
}

interface McpLockParts {
  readonly disk: DiskRead & DiskWrite;
  readonly store: Pick<McpStore, "exclusively">;
  readonly places: Pick<Places, "mcpLock" | "sharedMcpLock">;
}

const OTHERS_WRITE = 0o022;

/** Opens remit.lock. Every call reads the file, since other commands may change it. */
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
    if (bytes.length > MAX_LOCK_BYTES) {
      throw new Fault(
        "tooLarge",
        `Cannot read "${file}": it is longer than ${MAX_LOCK_BYTES} bytes`,
      );
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

/** Grants to be added to a server. */
export interface MoreGrants {
  readonly grants: McpGrants;
  /** Paths of `grants.write` whose changes are not staged. */
  readonly direct?: readonly string[];
  /** Tools that only read, by the server's names, and tools that change something. */
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly secretEnv: readonly string[];
  readonly secretHeaders: readonly string[];
  /** Tokens of sampling in each task; absent: unchanged. */
  readonly sampling?: number;
  /** The most confidential text that it may get; absent: unchanged. */
  readonly clearance?: Label;
}

const HTTPS = 443;

/** Reads `HOST[:PORT]`. Throws Fault `invalidInput`. */
export function parseHost(text: string): string {
  const host = text.includes(":") ? text.toLowerCase() : `${text.toLowerCase()}:${HTTPS}`;
  if (McpHost.safeParse(host).success && Number(host.split(":")[1]) <= 65_535) return host;
  throw new Fault("invalidInput", `Cannot grant the network: "${text}" is no HOST or HOST:PORT`);
}

/** Whether a server can send texts on. */
export function reachesOut({ launch, grants }: Pick<LockedServer, "launch" | "grants">): boolean {
  return launch.kind === "http" || grants.net.length > 0;
}

/** A server's clearance: a person's choice, else by what it can reach. */
function clearanceOf(server: Pick<LockedServer, "launch" | "grants" | "clearanceChosen">): Label {
  return server.clearanceChosen ?? (reachesOut(server) ? "public" : "internal");
}

/** The list without duplicates, in the order of first occurrence. */
export const unique = (list: readonly string[]): string[] => [...new Set(list)];

/** A new server: nothing granted, no tool approved. */
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
 * Adds grants to a server. A writable folder is not listed as readable, too. A clearance that a
 * person chose holds for the hosts of that time: a new host resets it.
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
  // The latest declaration about a path or a tool wins.
  const kept = (list: readonly string[] = [], gone: readonly string[]): string[] =>
    list.filter((each) => !gone.includes(each));
  const declared = {
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
    ...declared,
    ...{ grants, env, samplingTokens: more.sampling ?? server.samplingTokens },
    clearance: clearanceOf({ launch: server.launch, grants, ...clearanceChosen }),
    secretEnv: unique([...server.secretEnv, ...more.secretEnv]).filter((name) =>
      more.env[name] === undefined
    ),
    secretHeaders: unique([...server.secretHeaders, ...more.secretHeaders]),
  };
}
