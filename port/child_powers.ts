/**
 * The child's end of its session: fd 0 from the kernel, fd 1 to it. Where only the kernel can go on it waits in the read
 * itself, if it may: a read on another thread costs eight times the round trip. docs/decision/0019.
 * @module
 */
import type { Port, PortHandler, PortLimits } from "../contracts/base/port.ts";
import { makePort } from "./port.ts";
import { makeQuiet } from "./quiet.ts";

/** Exit code of a child whose session ended in a fault: EX_SOFTWARE would be 70, which is taken. */
const BROKEN = 1;
const CHUNK_BYTES = 65_536;
/**
 * Argument of a start for the sake of Deno's caches. It writes compiled code between turns of its event
 * loop, and a child that waits in the read makes none.
 */
export const WARMED = "warmed";
/** Milliseconds of such turns. */
const CACHE_MS = 30;

/** What serves a child's port. */
export interface ChildHandler extends PortHandler {
  /**
   * Whether nothing here goes on by a clock or another thread while every request that is served waits for the kernel.
   * Absent: something may, so the child waits beside the read.
   */
  still?(): boolean;
  /** Nobody waits for what is done now: every answer has left. */
  idle?(): void;
  /** The kernel went away: resolves when what was computed ahead, on another thread, has stopped. */
  ended?(): Promise<void>;
}

/**
 * Serves the kernel on standard input and output, "ready" by itself, until it goes away: then the process exits, with 0,
 * or with 1 when the session broke. The kernel is trusted, its frames are not checked here; `limits`
 * hold for both ends.
 */
export async function serveChild(
  makeHandler: (port: Port) => ChildHandler,
  limits: Partial<PortLimits> = {},
): Promise<never> {
  // Taken now: a program that is loaded later cannot come between.
  const { args, stdin, stdout, exit } = Deno;
  const quiet = makeQuiet();
  const port: Port = makePort({
    trusted: true,
    limits,
    write: (bytes) => writeAll(stdout, bytes),
    handler: {
      // Whoever started it waits for any answer at all.
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
    // Lets the answers out first: a read in progress makes the write wait for another thread.
    await undefined;
  }
}

function writeAll(to: { writeSync(bytes: Uint8Array): number }, bytes: Uint8Array): void {
  // A pipe that is nearly full takes a part.
  for (let done = 0; done < bytes.length;) done += to.writeSync(bytes.subarray(done));
}
