/** Takes turns: many readers together, or one writer alone, in the order of arrival. @module */

/** A place where turns are taken. */
export interface Turns {
  /** Runs `work` when its turn comes; alone if it writes. */
  run<T>(writes: boolean, work: () => Promise<T>): Promise<T>;
}

/** Makes a place where nobody is. */
export function makeTurns(): Turns {
  const waiting: { readonly writes: boolean; readonly go: () => void }[] = [];
  let readers = 0;
  let writing = false;

  const admit = (): void => {
    for (let [next] = waiting; next !== undefined; [next] = waiting) {
      if (writing || (next.writes && readers > 0)) return;
      if (next.writes) writing = true;
      else readers++;
      waiting.shift();
      next.go();
    }
  };

  return Object.freeze({
    async run<T>(writes: boolean, work: () => Promise<T>): Promise<T> {
      await new Promise<void>((go) => {
        waiting.push({ writes, go });
        admit();
      });
      try {
        return await work();
      } finally {
        if (writes) writing = false;
        else readers--;
        admit();
      }
    },
  });
}
