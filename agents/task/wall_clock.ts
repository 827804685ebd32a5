/** The wall-clock limits of tasks with live processes. @module */
import { atMoment, type Powers, type TaskId } from "../../contracts/mod.ts";
import type { TaskKeeper } from "./keeper.ts";

/** What {@link makeWallClocks} is handed. */
export interface WallClockParts {
  readonly keeper: Pick<TaskKeeper, "get">;
  readonly powers: Pick<Powers, "now" | "after">;
  /** A task at work, or in its review, has used its time up. */
  expire(task: TaskId, reason: string): void;
}

/** Clocks by task. */
export interface WallClocks {
  /** One that runs goes on, one that was paused has the time that it had left. */
  start(task: TaskId): void;
  /** The task waits for a person, or nobody looks at it: that time is not its own. */
  pause(task: TaskId): void;
  /** The task rests or is over: its next turn has the whole time again. */
  stop(task: TaskId): void;
}

/** Makes them. What a person adds while a clock runs counts. */
export function makeWallClocks({ keeper, powers, expire }: WallClockParts): WallClocks {
  const waits = new Map<TaskId, { readonly began: number; readonly cancel: () => void }>();
  /** Milliseconds that paused ones have used. */
  const used = new Map<TaskId, number>();

  const wait = (id: TaskId, began: number): void => {
    const due = (): number => began + (keeper.get(id)?.limits.wallClockMs ?? 0);
    const cancel = atMoment(powers, due(), () => {
      waits.delete(id);
      const task = keeper.get(id);
      if (task?.status !== "open" && task?.status !== "reviewing") return;
      if (due() > powers.now()) return wait(id, began);
      expire(id, `its wall-clock limit of ${task.limits.wallClockMs} ms passed`);
    });
    waits.set(id, { began, cancel });
  };
  const halt = (id: TaskId): number | undefined => {
    const running = waits.get(id);
    running?.cancel();
    waits.delete(id);
    return running?.began;
  };

  return Object.freeze({
    start(task: TaskId): void {
      if (waits.has(task)) return;
      wait(task, powers.now() - (used.get(task) ?? 0));
      used.delete(task);
    },
    pause(task: TaskId): void {
      const began = halt(task);
      if (began !== undefined) used.set(task, powers.now() - began);
    },
    stop(task: TaskId): void {
      halt(task);
      used.delete(task);
    },
  });
}
