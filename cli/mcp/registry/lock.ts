/** remit.lock: what the operator imported, as it was reviewed. Written by machine. @module */
import {
  Digest,
  Fault,
  ImportedServer,
  ImportedTool,
  Label,
  mcpPart,
  McpServerName,
  McpToolName,
  McpToolWords,
  Millis,
} from "../../../contracts/mod.ts";
import { displayText } from "../../../text/mod.ts";
import { dirname } from "node:path";
import type { DiskRead, DiskWrite } from "../../hands.ts";
import type { Places } from "../../disk/places.ts";
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
  /** Where it came from, secrets left out. */
  from: z.object({
    kind: z.enum(["command", "url", "config"]),
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

/** The text of a file that holds these servers. Throws Fault `tooLarge`. */
export function mcpLockText(servers: readonly LockedServer[]): string {
  const sorted = [...servers].sort((a, b) => a.name < b.name ? -1 : 1);
  if (sorted.length > 64) {
    throw new Fault("tooLarge", "Cannot keep another MCP server: there are 64 already");
  }
  const text = `${JSON.stringify(McpLockFile.parse({ version: 1, servers: sorted }), null, 2)}\n`;
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
  /** Runs `work` while no other process is in there; waits for its turn. */
  readonly exclusively: <T>(folder: string, work: () => T) => T;
  readonly places: Pick<Places, "mcpLock" | "sharedMcpLock">;
}

const OTHERS_WRITE = 0o022;

/** Opens it. Nothing is read before it is asked for, and nothing is kept: another command may change it. */
export function openMcpLock({ disk, exclusively, places }: McpLockParts): McpLock {
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
    return exclusively(dirname(file), () => {
      const [servers, result] = work(list());
      disk.write(file, mcpLockText(servers), { mode: 0o600 });
      return result;
    });
  };
  return Object.freeze({
    file,
    list,
    find: (name: McpServerName) => list().find((each) => each.name === name),
    need: (name: McpServerName) => needIn(list(), name),
    add: (server: LockedServer) =>
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
    change: (name: McpServerName, change: (server: LockedServer) => LockedServer) =>
      rewrite((servers) => {
        const changed = change(needIn(servers, name));
        return [servers.map((each) => each.name === name ? changed : each), changed];
      }),
    remove: (name: McpServerName) =>
      rewrite((servers) => {
        const found = needIn(servers, name);
        return [servers.filter((each) => each !== found), found];
      }),
  });
}
