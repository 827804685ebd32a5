/**
 * Copies of folders for imported servers: a server that may change files works on a copy, which
 * shows the agent's staged state; its changes are staged once its process has ended. The same
 * copies as those of granted commands. docs/decision/0034.
 * @module
 */
import { cleared } from "../../../contracts/authority/colour.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import type { Label, TaskId } from "../../../contracts/authority/mod.ts";
import type { Powers } from "../../../contracts/task/mod.ts";
import type { Collected, StagedChange } from "../../../contracts/tool/mod.ts";
import { beneath, type GrantPlace } from "../../core/lease/scope.ts";
import { type CopyPlace, makeCopyPlaces } from "../command/places.ts";
import { kept, setup, watchWeight } from "../command/copies.ts";
import type { McpPlace } from "./calls.ts";
import type { TaskFolders } from "../toolhost/toolhosts.ts";

/** Files and bytes that one call may add. */
const CALL_FILES = 2_000;
const CALL_BYTES = 64 * 1_048_576;
/** Milliseconds that copying, and collecting, may take. */
const COPY_MS = 60_000;

/** The changes of a call. */
export interface ServerChanges extends Pick<Collected, "staged" | "unstaged" | "left"> {
  readonly writtenBytes: number;
  /** Files that the server was not shown. */
  readonly withheld: number;
  /** The label of everything that the server was shown. */
  readonly label: Label;
}

/** Copies in use by one server. */
export interface ServerCopies {
  /** The copy's path on the machine, by granted path. */
  readonly from: Readonly<Record<string, string>>;
  /** Calls `onTooMuch` when more is written than one call may write, until the returned function is called. */
  watch(onTooMuch: (fault: Fault) => void): () => void;
  /** Collects the changes, after all processes that could write have ended. Rejects like the copy service. */
  collect(label: Label): Promise<ServerChanges>;
  /** Gives the copies up, or keeps settled ones for the next call. Idempotent. */
  close(): Promise<void>;
}

/** The copies of all tasks' servers. */
export interface McpCopies {
  /** Identifies the staged changes within a server's write grants: a different text means a different view. Empty where nothing is staged. */
  staged(at: McpPlace): string;
  /** Makes copies; undefined where the server may change nothing. Rejects with `tooLarge`, `gone`, `refused`. */
  provide(at: McpPlace): Promise<ServerCopies | undefined>;
  osPids(task: TaskId): readonly number[];
  /** Deletes copies that are not in use. */
  clear(task: TaskId): Promise<void>;
}

/** The copy services, and the folders of tasks. */
export interface McpCopiesParts extends Omit<Parameters<typeof makeCopyPlaces>[0], "powers"> {
  readonly powers: Pick<Powers, "now" | "after" | "token">;
  folders(task: TaskId): TaskFolders | undefined;
}

/** Makes the copies of a kernel; no process runs yet. */
export function makeMcpCopies(parts: McpCopiesParts): McpCopies {
  const { powers } = parts;
  const places = makeCopyPlaces(parts);

  const stagedIn = (
    folders: TaskFolders,
    granted: readonly GrantPlace[],
  ): readonly StagedChange[] =>
    folders.overlay().filter((change) => granted.some(({ path }) => beneath(path, change.path)));

  const within = async <T>(place: CopyPlace, work: Promise<T>): Promise<T> => {
    let late = false;
    const cancel = powers.after(COPY_MS, () => {
      late = true;
      void place.close();
    });
    try {
      return await work;
    } catch (error) {
      if (!late) throw error;
      throw new Fault("timedOut", `Cannot copy a server's files: not done in ${COPY_MS} ms`);
    } finally {
      cancel();
    }
  };

  return Object.freeze<McpCopies>({
    staged({ task, server }): string {
      const folders = parts.folders(task), granted = folders?.grants?.of(server) ?? [];
      if (folders === undefined || granted.length === 0) return "";
      return stagedIn(folders, granted).map(({ path, next }) => `${path}\0${next ?? ""}`).join(
        "\n",
      );
    },
    async provide({ task, server }): Promise<ServerCopies | undefined> {
      const folders = parts.folders(task);
      if (folders === undefined) {
        throw new Fault("gone", `Cannot ask "${server.name}": the task has ended`);
      }
      const granted = folders.grants?.of(server) ?? [];
      if (granted.length === 0) return undefined;
      const staged = stagedIn(folders, granted);
      const above = server.grants.net.length === 0
        ? undefined
        : staged.find(({ label }) => !cleared(label, server.clearance));
      if (above !== undefined) {
        throw new Fault(
          "refused",
          `Cannot ask "${server.name}": ${
            JSON.stringify(above.path)
          } is staged and ${above.label}, ` +
            `and the server, which can send it on, is cleared for ${server.clearance}`,
        );
      }
      await folders.prepare();
      const mounts = [...new Set(granted.map(({ mount }) => String(mount)))].sort();
      const paths = granted.map(({ path }) => path);
      const only = [...new Set(paths)].filter((path) =>
        !paths.some((other) => other !== path && beneath(other, path))
      ).sort();
      const before = new Map(folders.overlay().map((change) => [change.path, change]));
      const place = await places.provide(task, { folders, mounts, only });
      const [cwd = ""] = mounts;
      try {
        const { prepared, work } = await within(
          place,
          place.prepare({ setup: setup(folders, mounts), cwd }),
        );
        let settled = false;
        return Object.freeze<ServerCopies>({
          from: Object.fromEntries(granted.map(({ grant, path }) => [grant, `${work}/${path}`])),
          watch: (onTooMuch) =>
            watchWeight({
              ...{ service: place.service, powers, name: `a call of "${server.name}"` },
              most: {
                // Folders are counted, too.
                files: 2 * prepared.files + CALL_FILES,
                bytes: prepared.bytes + CALL_BYTES,
              },
            }, onTooMuch),
          async collect(label): Promise<ServerChanges> {
            const collected = await within(place, place.service.collect({ colour: "RED", label }));
            const made = collected.staged.filter(({ base }) => base === undefined).length;
            if (made > CALL_FILES || collected.writtenBytes > CALL_BYTES) {
              throw new Fault(
                "tooLarge",
                `Cannot keep what "${server.name}" wrote: ${made} new files and ` +
                  `${collected.writtenBytes} bytes, and a call may write ${CALL_FILES} and ${CALL_BYTES}`,
              );
            }
            settled = true;
            place.rest(collected.untouched ? undefined : { setup: setup(folders, mounts), cwd });
            return {
              ...kept(collected, before, folders),
              ...{ withheld: prepared.withheld, label: prepared.label },
            };
          },
          // Uncollected copies may hold anything, so they are deleted.
          close: () => settled ? Promise.resolve() : place.close(),
        });
      } catch (error) {
        await place.close();
        throw error;
      }
    },
    osPids: places.osPids,
    clear: places.clear,
  });
}

/** Tells whether a server's end suggests that it must write into its folder at start, as some programs do. */
export function mustWrite(error: unknown, { launch, grants }: McpPlace["server"]): boolean {
  return launch.kind === "program" && grants.write.length > 0 && error instanceof Fault &&
    error.code === "upstream";
}
