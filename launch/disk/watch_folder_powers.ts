/** Watches a folder for saved files. Wired in cli/main.ts. @module */
import { join } from "node:path";

/** Milliseconds of quiet before a change is reported: editors save in several steps. */
const SETTLE_MS = 120;

/**
 * Yields once for each burst of changes beneath `folder`, except in its subfolder `build`, until `signal` aborts.
 * Watching begins with the call: a change before the first `next` is not lost.
 */
export function watchFolder(folder: string, signal: AbortSignal): AsyncIterable<void> {
  const watcher = Deno.watchFs(folder, { recursive: true });
  const built = join(folder, "build");
  let changed = false;
  let wake: () => void = () => undefined;
  signal.addEventListener("abort", () => {
    watcher.close();
    wake();
  }, { once: true });
  const pump = async (): Promise<void> => {
    for await (const { kind, paths } of watcher) {
      const ours = paths.every((path) => path === built || path.startsWith(`${built}/`));
      if (ours || kind === "access" || kind === "any" || kind === "other") continue;
      changed = true;
      wake();
    }
  };
  void pump();
  const rest = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  return {
    async *[Symbol.asyncIterator](): AsyncGenerator<void> {
      while (!signal.aborted) {
        if (!changed) await new Promise<void>((resolve) => wake = resolve);
        while (changed && !signal.aborted) {
          changed = false;
          await rest();
          if (!changed) yield;
        }
      }
    },
  };
}
