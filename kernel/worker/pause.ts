/** SIGSTOP at the port: what a stopped process asks waits until SIGCONT. @module */

/** A gate that is open until it is closed. */
export interface Pause {
  /** Resolves at once while open, else when opened. */
  passed(): Promise<void> | undefined;
  close(): void;
  open(): void;
}

/** Makes an open pause. */
export function makePause(): Pause {
  let closed: Promise<void> | undefined;
  let release: (() => void) | undefined;
  return Object.freeze({
    passed: () => closed,
    close(): void {
      closed ??= new Promise((resolve) => release = resolve);
    },
    open(): void {
      release?.();
      closed = undefined;
      release = undefined;
    },
  });
}
