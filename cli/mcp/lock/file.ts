/** remit.lock on the disk: read whole, changed under a lock, written whole or not at all. @module */
import { dirname } from "node:path";
import { Fault, mcpPart, type McpServerName } from "../../../contracts/mod.ts";
import type { DiskRead, DiskWrite } from "../../hands.ts";
import { LOCK_BYTES, type LockedServer, mcpLockText, parseMcpLock } from "./lock.ts";
import type { Places } from "../../disk/places.ts";

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

/** What it is opened with. */
export interface McpLockParts {
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
