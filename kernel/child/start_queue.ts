/** At most so many children starting at once: starting takes the processor from those that run. @module */

/** Runs starts in order. */
export interface StartQueue {
  /** Runs `start` when its turn comes; its turn lasts until what it returns settles. */
  run<T>(start: () => Promise<T>): Promise<T>;
  /** True when nothing is starting or waiting to. */
  idle(): boolean;
}

/** Makes a queue that lets `most` start at a time. */
export function makeStartQueue(most: number): StartQueue {
  const waiting: (() => void)[] = [];
  let running = 0;
  return Object.freeze({
    async run<T>(start: () => Promise<T>): Promise<T> {
      if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
      else running++;
      try {
        return await start();
      } finally {
        // The place goes to the next in line, or is given up.
        const next = waiting.shift();
        if (next === undefined) running--;
        else next();
      }
    },
    idle: () => running === 0 && waiting.length === 0,
  });
}
