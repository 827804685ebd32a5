/**
 * Where a task's runs find their copies: a copy service with a room of its own, which stands between
 * two runs, so that only what changed is copied.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import type { TaskId } from "../../../contracts/authority/mod.ts";
import type { PrepareBody, Prepared } from "../../../contracts/tool/mod.ts";
import { type CopyService, startCopyService } from "./copies.ts";
import { COPY_PLACES, lineOfCopy } from "../../core/start/command_line.ts";
import type { CommandsParts } from "./commands.ts";
import type { TaskFolders } from "../toolhost/toolhosts.ts";

/** Milliseconds that a place stands unused. */
const IDLE_MS = 120_000;
/** Milliseconds that copying ahead may take. */
const AHEAD_MS = 60_000;
/** Places that stand unused, of all tasks: each takes some 50 MB. */
const MAX_IDLE = 4;

/** What copies are made of, and where the program starts. */
type Wanted = Pick<PrepareBody, "setup" | "cwd">;

/** A place in use. */
export interface CopyPlace {
  readonly service: CopyService;
  /** Rejects as the service does. `work`: the machine's folder that holds each mount's copy. */
  prepare(
    wanted: Wanted,
  ): Promise<{ readonly prepared: Prepared; readonly work: string }>;
  /**
   * It may stand for the next run: what is in it was collected. `ahead`, where the copies were
   * touched: what they are made of now, anew and before anybody waits for them.
   */
  rest(ahead: Wanted | undefined): void;
  /** Ends it; resolves when nothing is left of it. Idempotent. */
  close(): Promise<void>;
}

/** What a place is to hold. */
export interface PlaceWanted {
  readonly folders: TaskFolders;
  readonly mounts: readonly string[];
  /** `MOUNT` or `MOUNT/…`: what of them; absent: all. */
  readonly only?: readonly string[];
}

/** The places of all tasks. */
export interface CopyPlaces {
  /** A place with these mounts that nobody uses. */
  provide(
    task: TaskId,
    what: PlaceWanted,
  ): Promise<CopyPlace>;
  /** Operating-system processes of a task's places. */
  osPids(task: TaskId): readonly number[];
  /** Ends those of a task's places that nobody uses; resolves when nothing is left of them. */
  clear(task: TaskId): Promise<void>;
}

interface Standing {
  readonly task: TaskId;
  readonly mounts: string;
  /** Which folders the mounts were when it began; undefined where nothing can tell. */
  readonly folders: string | undefined;
  readonly place: CopyPlace;
  state: "used" | "resting" | "closing";
  /** Stops the clock of a resting one. */
  stop: () => void;
  /** Settles when no copies are made ahead. */
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
  /** In the order in which they were last used. */
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
      // TRUST: what it says becomes a path.
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
        // What fails here fails again where somebody waits for it, who is then told.
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
        // A namespace holds the folders that stood there when it was made.
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

/** It may have been closed meanwhile. */
function isUsed({ state }: Standing): boolean {
  return state === "used";
}
