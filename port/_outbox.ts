/** Lines for the peer, joined into one write a microtask. @module */
import { encode } from "./_bound.ts";

/** Collects lines and writes them together. */
export interface Outbox {
  put(line: string): void;
  /** Writes what was collected, now. */
  flush(): void;
  /** Drops what was collected and takes no more. */
  close(): void;
}

/** Makes an outbox over `write`; `onError` hears of a write that threw. */
export function makeOutbox(
  write: (bytes: Uint8Array) => void,
  onError: (error: unknown) => void,
): Outbox {
  let lines = "";
  let queued = false;
  let open = true;

  function flush(): void {
    queued = false;
    if (lines === "") return;
    const bytes = encode(lines);
    lines = "";
    try {
      write(bytes);
    } catch (error) {
      onError(error);
    }
  }

  return Object.freeze({
    put(line: string): void {
      if (!open) return;
      lines += line + "\n";
      if (queued) return;
      queued = true;
      queueMicrotask(flush);
    },
    flush,
    close(): void {
      open = false;
      lines = "";
    },
  });
}
