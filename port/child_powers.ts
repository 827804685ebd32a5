/**
 * The child's end of its session: fd 0 from the kernel, fd 1 to it. Where only the kernel can
 * continue, the child waits in a synchronous read, if it may: a read on another thread costs eight
 * times the round trip. docs/decision/0019.
 * @module
 */
import type { Port, PortHandler, PortLimits } from "../contracts/base/port.ts";
import { makePort } from "./port.ts";
import { makeQuiet } from "./quiet.ts";

/** Exit code after a session that ended in a fault. EX_SOFTWARE, 70, has another use. */
const BROKEN = 1;
const CHUNK_BYTES = 65_536;
/**
 * Argument of a start that fills Deno's caches. Deno writes compiled code between turns of its
 * event loop, and a child that waits in a synchronous read has no turns.
 */
export const WARMED = "warmed";
/** Milliseconds of such turns. */
const CACHE_MS = 30;

/** Serves a child's port. */
export interface ChildHandler extends PortHandler {
  /**
   * True where no clock and no other thread continues the work while every served request waits for
   * the kernel. Absent: something may, so the child reads asynchronously.
   */
  still?(): boolean;
  /** Every answer was sent: nobody waits for work done now. */
  idle?(): void;
  /** The session ended: resolves when computations in advance, on another thread, have stopped. */
  ended?(): Promise<void>;
}

/**
 * Serves the kernel on standard input and output until it hangs up, and answers "ready" itself.
 * Then the process exits: with 0, or with 1 where the session broke. TRUST: the kernel's frames are
 * not checked here. `limits` apply to both ends.
 */
export async function serveChild(
  makeHandler: (port: Port) => ChildHandler,
  limits: Partial<PortLimits> = {},
): Promise<never> {
  // Read now, so that a program that is loaded later cannot replace them.
  const { args, stdin, stdout, exit } = Deno;
  const quiet = makeQuiet();
  const port: Port = makePort({
    trusted: true,
    limits,
    write: (bytes) => writeAll(stdout, bytes),
    handler: {
      // The starter waits for any answer.
      ask: (op, body) => op === "ready" ? null : serving.ask(op, body),
      tell: (op, body) => serving.tell(op, body),
    },
  });
  const handler = makeHandler({ ...port, ...quiet.asking(port) });
  const serving = handler.still === undefined ? handler : quiet.serving(handler);
  port.closed.then((fault) => {
    const cause = fault.cause instanceof Error ? `: ${fault.cause.stack}` : "";
    writeAll(Deno.stderr, new TextEncoder().encode(`${fault.code}: ${fault.message}${cause}\n`));
    exit(BROKEN);
  });
  if (args[0] === WARMED) await new Promise((resolve) => setTimeout(resolve, CACHE_MS));
  const chunk = new Uint8Array(CHUNK_BYTES);
  for (;;) {
    const still = handler.still?.() === true && await quiet.settled();
    if (still) handler.idle?.();
    const length = still ? stdin.readSync(chunk) : await stdin.read(chunk);
    if (length === null) {
      await handler.ended?.();
      return exit(0);
    }
    port.feed(chunk.subarray(0, length));
    // Sends the answers first: a read in progress makes the write wait for another thread.
    await undefined;
  }
}

function writeAll(to: { writeSync(bytes: Uint8Array): number }, bytes: Uint8Array): void {
  // A nearly full pipe takes a part.
  for (let done = 0; done < bytes.length;) done += to.writeSync(bytes.subarray(done));
}
