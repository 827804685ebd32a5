/**
 * Places for copies: copy services with a folder of their own, kept between two runs of a task, so
 * that only changed files are copied again. Used by commands.ts and kernel/power/mcp/copies.ts.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import type { TaskId } from "../../../contracts/authority/mod.ts";
import type { PrepareBody, Prepared } from "../../../contracts/tool/mod.ts";
import { type CopyService, startCopyService } from "./copies.ts";
import { COPY_PLACES, lineOfCopy } from "../../core/start/command_line.ts";
import type { CommandsParts } from "./commands.ts";
import type { TaskFolders } from "../toolhost/toolhosts.ts";

/** Milliseconds before an unused place is closed. */
const IDLE_MS = 120_000;
/** Milliseconds for copying ahead. */
const AHEAD_MS = 60_000;
/** Unused places of all tasks: each takes some 50 MB. */
const MAX_IDLE = 4;

/** The setup of copies, and the program's working folder. */
type Wanted = Pick<PrepareBody, "setup" | "cwd">;

/** A place in use. */
export interface CopyPlace {
  readonly service: CopyService;
  /** Makes the copies. Rejects like the service. `work`: the folder on the machine that holds each mount's copy. */
  prepare(
    wanted: Wanted,
  ): Promise<{ readonly prepared: Prepared; readonly work: string }>;
  /**
   * Keeps the place for the next run, after its changes were collected. `ahead`, where the copies
   * were changed: the setup of fresh copies, made before the next run needs them.
   */
  rest(ahead: Wanted | undefined): void;
  /** Closes the place; resolves once everything is removed. Idempotent. */
  close(): Promise<void>;
}

/** The wanted content of a place. */
export interface PlaceWanted {
  readonly folders: TaskFolders;
  readonly mounts: readonly string[];
  /** The parts to copy, `MOUNT` or `MOUNT/…`; absent: all. */
  readonly only?: readonly string[];
}

/** The places of all tasks. */
export interface CopyPlaces {
  /** A free or new place with these mounts. */
  provide(
    task: TaskId,
    what: PlaceWanted,
  ): Promise<CopyPlace>;
  /** Operating-system processes of a task's places. */
  osPids(task: TaskId): readonly number[];
  /** Closes a task's unused places; resolves once they are removed. */
  clear(task: TaskId): Promise<void>;
}

interface Standing {
  readonly task: TaskId;
  readonly mounts: string;
  /** Identity of the mounts' folders at the start; undefined where unknown. */
  readonly folders: string | undefined;
  readonly place: CopyPlace;
  state: "used" | "resting" | "closing";
  /** Stops the idle clock of a resting place. */
  stop: () => void;
  /** Settles when no copying ahead is in progress. */
  copying: Promise<void>;
}

/** Makes the places of a kernel. */
export function makeCopyPlaces(
  parts: Pick<
    CommandsParts,
    "config" | "bundle" | "spawn" | "powers" | "disk" | "look" | "contents"
  >,
): CopyPlaces {
  const { config, powers, disk, look } = parts;
  /** In order of last use. */
  const all = new Set<Standing>();

  const make = async (
    task: TaskId,
    wantedPlace: PlaceWanted,
  ): Promise<Standing> => {
    const { folders, mounts, only } = wantedPlace;
    const shown = folders.mounts.filter(({ name }) => mounts.includes(name));
    const before = await look("identity", shown.map(({ dir }) => dir));
    const room = `${config.dir}/work/${task}/run-${powers.token()}`;
    for (const folder of [folders.contentDir, room]) await disk.makeDir(folder);
    const service = startCopyService(
      lineOfCopy(config, {
        ...{ bundle: parts.bundle, content: folders.contentDir, work: room },
        mounts: shown,
      }),
      parts,
    );
    let last = 0, current = 0;
    let removing = Promise.resolve();
    const remove = (path: string): void => {
      removing = removing.then(() => disk.remove(path)).catch(() => undefined);
    };
    let closing: Promise<void> | undefined;
    const end = async (): Promise<void> => {
      standing.state = "closing";
      standing.stop();
      await service.kill();
      remove(room);
      await removing;
      all.delete(standing);
    };
    const copy = async (wanted: Wanted, ahead: boolean): Promise<Prepared> => {
      const generation = ++last;
      const prepared = await service.prepare({
        ...{ ...wanted, mounts, generation, ahead, work: COPY_PLACES.work },
        ...(only === undefined ? {} : { only }),
      });
      // TRUST: the service's number becomes a path.
      if (prepared.generation !== generation && prepared.generation !== current) {
        throw new Fault("upstream", "Cannot use copies: the copy service names others");
      }
      if (current !== 0 && current !== prepared.generation) remove(`${room}/${current}`);
      current = prepared.generation;
      return prepared;
    };
    const place: CopyPlace = Object.freeze<CopyPlace>({
      service,
      async prepare(wanted) {
        const prepared = await copy(wanted, false);
        return { prepared, work: `${room}/${current}` };
      },
      rest(ahead): void {
        if (standing.state !== "used") return;
        all.delete(standing);
        all.add(standing);
        standing.state = "resting";
        standing.stop = powers.after(IDLE_MS, () => void place.close());
        const [oldest, ...others] = [...all].filter(({ state }) => state === "resting");
        if (others.length >= MAX_IDLE) void oldest?.place.close();
        if (ahead === undefined) return;
        // A failure here repeats, and is reported, when a run needs the copies.
        const cancel = powers.after(AHEAD_MS, () => void place.close());
        standing.copying = copy(ahead, true).then(() => undefined, () => place.close())
          .finally(cancel);
      },
      close: () => closing ??= end(),
    });
    const standing: Standing = {
      ...{ task, mounts: nameOf(wantedPlace), folders: before, place },
      ...{ state: "used", stop: () => undefined },
      copying: Promise.resolve(),
    };
    all.add(standing);
    void service.closed.then(() => place.close());
    return standing;
  };

  const mine = (task: TaskId): readonly Standing[] => [...all].filter((one) => one.task === task);

  return Object.freeze({
    async provide(task: TaskId, wanted: PlaceWanted): Promise<CopyPlace> {
      const { folders, mounts } = wanted;
      const found = mine(task).find((one) =>
        one.state === "resting" && one.mounts === nameOf(wanted)
      );
      if (found !== undefined) {
        found.stop();
        found.state = "used";
        const dirs = folders.mounts.filter(({ name }) => mounts.includes(name));
        const [now] = await Promise.all([
          look("identity", dirs.map(({ dir }) => dir)),
          found.copying,
        ]);
        // A namespace holds the folders that existed when it was made.
        const same = now !== undefined && now === found.folders;
        if (isUsed(found) && same) return found.place;
        await found.place.close();
      }
      return (await make(task, wanted)).place;
    },
    osPids: (task: TaskId) => mine(task).map(({ place }) => place.service.osPid),
    async clear(task: TaskId): Promise<void> {
      const unused = mine(task).filter(({ state }) => state !== "used");
      await Promise.all(unused.map(({ place }) => place.close()));
    },
  });
}

function nameOf({ mounts, only }: Pick<PlaceWanted, "mounts" | "only">): string {
  return JSON.stringify([mounts, only]);
}

/** Tells whether a place is still in use: it may have been closed meanwhile. */
function isUsed({ state }: Standing): boolean {
  return state === "used";
}
