/**
 * What the service remembers of firings over its own end: how far each schedule is settled, and which signed bytes came.
 * That one firing makes one task is the kernel's to hold (kernel/control/operator.ts): this book is behind it after a crash, never
 * ahead. STATE/person/firings.json.
 * @module
 */
import { join } from "node:path";
import * as z from "zod";
import { Fault, Millis, TaskId } from "../../../contracts/mod.ts";
import type { DiskRead, DiskWrite } from "../../hands.ts";
import type { Places } from "../../disk/places.ts";

const FILE = "firings.json";
/** Signed bytes that are remembered of one webhook; its window is some minutes. */
const MOST_SEEN = 4_096;

const Settled = z.object({
  /** Firings up to this time are settled. */
  upTo: Millis,
  /** The last one that became a task. */
  fired: Millis.optional(),
  task: TaskId.optional(),
  /** Firings that were left out since the schedule is known. */
  skipped: z.int().min(0),
}).strict();
/** How far a schedule is settled. */
export type SettledFirings = z.infer<typeof Settled>;

const Book = z.object({
  version: z.literal(1),
  schedules: z.record(z.string().max(32), Settled),
  /** Macs of signed bytes, with when they came. */
  seen: z.record(z.string().max(32), z.array(z.tuple([z.string().max(64), Millis])).max(MOST_SEEN)),
}).strict();
type Book = z.infer<typeof Book>;

/** The book of one state. */
export interface FiringBook {
  schedule(name: string): SettledFirings | undefined;
  settle(name: string, settled: SettledFirings): void;
  /** Tells whether these signed bytes came at or after `since`. */
  seen(hook: string, mac: string, since: number): boolean;
  /** Remembers that they came at `at`; what came before `since` is forgotten. */
  see(hook: string, mac: string, times: { readonly at: number; readonly since: number }): void;
}

/**
 * Opens the book. One that does not parse is refused rather than begun anew: schedules would fire twice.
 *
 * @throws Fault `invalidInput`
 */
export function openFiringBook(
  disk: DiskRead & DiskWrite,
  places: Pick<Places, "person">,
): FiringBook {
  const path = join(places.person, FILE);
  let book = parseBook(path, disk.read(path));
  const write = (next: Book): void => {
    disk.write(path, `${JSON.stringify(next)}\n`, { mode: 0o600 });
    book = next;
  };
  const ofHook = (hook: string): Book["seen"][string] =>
    Object.hasOwn(book.seen, hook) ? book.seen[hook] ?? [] : [];
  return Object.freeze<FiringBook>({
    schedule: (name) => Object.hasOwn(book.schedules, name) ? book.schedules[name] : undefined,
    settle: (name, settled) =>
      write({ ...book, schedules: { ...book.schedules, [name]: settled } }),
    seen: (hook, mac, since) => ofHook(hook).some(([each, at]) => each === mac && at >= since),
    see(hook, mac, { at, since }): void {
      const kept = ofHook(hook).filter(([, came]) => came >= since);
      const next: [string, typeof at][] = [...kept, [mac, at]];
      write({
        ...book,
        seen: {
          ...book.seen,
          [hook]: next.slice(-MOST_SEEN).map(([m, t]) => [m, Millis.parse(t)]),
        },
      });
    },
  });
}

function parseBook(path: string, bytes: Uint8Array | undefined): Book {
  if (bytes === undefined) return { version: 1, schedules: {}, seen: {} };
  try {
    return Book.parse(JSON.parse(new TextDecoder().decode(bytes)));
  } catch (cause) {
    throw new Fault(
      "invalidInput",
      `Cannot read "${path}": it is damaged; remove it, and firings that were missed are forgotten`,
      { cause },
    );
  }
}
