/**
 * Copies for imported servers: what one may change it finds in a copy, as the agent sees it, and what its call changed
 * there is staged when its process has ended. The same copies as those of granted commands. docs/decision/0034.
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

/** Files and bytes that one call may add to its copies. */
const CALL_FILES = 2_000;
const CALL_BYTES = 64 * 1_048_576;
/** Milliseconds that copying, and collecting, may take. */
const COPY_MS = 60_000;

/** What a call changed. */
export interface ServerChanges extends Pick<Collected, "staged" | "unstaged" | "left"> {
  readonly writtenBytes: number;
  /** Files that it was not shown. */
  readonly withheld: number;
  /** Of all that it was shown. */
  readonly label: Label;
}

/** Copies of what one server may change, in use. */
export interface ServerCopies {
  /** The machine's path that stands in a granted path's place, by the granted path. */
  readonly from: Readonly<Record<string, string>>;
  /** Hears when more was written than one call may, until the returned function is called. */
  watch(onTooMuch: (fault: Fault) => void): () => void;
  /** What was changed: all processes that could write here have ended. Rejects as the copy service does. */
  collect(label: Label): Promise<ServerChanges>;
  /** Idempotent; resolves when nothing is left, or what is left serves the next call. */
  close(): Promise<void>;
}

/** The copies of all tasks' servers. */
export interface McpCopies {
  /** What of the task is staged where a server may write: another text, another view. Empty: nothing is. */
  staged(at: McpPlace): string;
  /** Copies; undefined where the task lets the server change nothing. Rejects with `tooLarge`, `gone`, `refused`. */
  provide(at: McpPlace): Promise<ServerCopies | undefined>;
  osPids(task: TaskId): readonly number[];
  /** Ends what nobody uses. */
  clear(task: TaskId): Promise<void>;
}

/** What {@link makeMcpCopies} is handed. */
export interface McpCopiesParts extends Omit<Parameters<typeof makeCopyPlaces>[0], "powers"> {
  readonly powers: Pick<Powers, "now" | "after" | "token">;
  folders(task: TaskId): TaskFolders | undefined;
}

/** Makes them: nothing runs. */
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
          // Copies that were not collected may hold anything.
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

/** Whether a server's end says that it may need to write into its folder before it answers at all: programs do. */
export function mustWrite(error: unknown, { launch, grants }: McpPlace["server"]): boolean {
  return launch.kind === "program" && grants.write.length > 0 && error instanceof Fault &&
    error.code === "upstream";
}
