/**
 * A webhook or schedule that fired: what is asked for, and by which key the same firing is known
 * again.
 * @module
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import * as z from "zod";
import { Millis, SessionId, TaskId } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import type { Ingress } from "../../contracts/task/mod.ts";

/** One firing, ready to become a task. */
export interface Firing {
  readonly kind: "webhook" | "schedule";
  /** The entry's name in remit.yaml. */
  readonly name: string;
  /** The text of the task's request. */
  readonly request: string;
  /** A repeated firing has the same session: the kernel makes one task of it. */
  readonly session: SessionId;
  readonly ingress: Ingress;
}

/** What became of a firing: its task, and whether it was there before. */
export interface Fired {
  readonly task: TaskId;
  readonly already: boolean;
}

/** The powers that webhooks and schedules share. */
export interface FiringPowers {
  /** `FILE:LINE` of an entry of remit.yaml. */
  at(entry: string): string;
  fire(firing: Firing): Promise<Fired>;
  /** Milliseconds since 1970. */
  now(): number;
  note(text: string): void;
}

const SESSION_CHARACTERS = 12;

/**
 * The session of a firing: `s` and 12 characters made of who fired and of what makes this firing
 * the one it is (a delivery's id, a time). 62 bits: two firings of one entry never meet in
 * practice.
 */
export function firingSession(principal: string, key: string): SessionId {
  const digest = createHash("sha256").update(`remit firing\n${principal}\n${key}`).digest("hex");
  const text = BigInt(`0x${digest}`).toString(36).padStart(SESSION_CHARACTERS, "0").slice(
    -SESSION_CHARACTERS,
  );
  return SessionId.parse(`s${text}`);
}

/** Deliveries come from anyone who knows the secret. */
export function hookIngress(name: string): Ingress {
  return { channel: "webhook", principal: `webhook:${name}`, colour: "RED", label: "public" };
}

/** A schedule's request is the operator's text. */
export function scheduleIngress(name: string): Ingress {
  return { channel: "schedule", principal: `schedule:${name}`, colour: "BLUE", label: "internal" };
}

const PASSING: ReadonlySet<string> = new Set([
  ...["gone", "unavailable", "upstream", "timedOut", "storeFull", "conflict", "rateLimited"],
]);

/** Tells whether the same firing may go through a little later: the kernel was away, or full. */
export function mayPass(error: unknown): boolean {
  return error instanceof Fault && PASSING.has(error.code);
}

const FILE = "firings.json";
/** Signed bytes that are remembered of one webhook; its window is some minutes. */
const MAX_SEEN = 4_096;

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
  seen: z.record(z.string().max(32), z.array(z.tuple([z.string().max(64), Millis])).max(MAX_SEEN)),
}).strict();
type Book = z.infer<typeof Book>;

/** The disk of {@link openFiringBook}. */
export interface FiringDisk {
  read(path: string): Uint8Array | undefined;
  write(path: string, text: string, options: { readonly mode: number }): void;
}

/**
 * What the service remembers of firings: how far each schedule is settled, and which signed bytes
 * came. That one firing makes one task is held by the kernel (kernel/control/operator.ts): after a
 * crash the book is behind the kernel, never ahead. STATE/person/firings.json.
 */
export interface FiringBook {
  schedule(name: string): SettledFirings | undefined;
  settle(name: string, settled: SettledFirings): void;
  /** Tells whether these signed bytes came at or after `since`. */
  seen(hook: string, mac: string, since: number): boolean;
  /** Remembers that signed bytes came at `at`, and forgets those before `since`. */
  see(hook: string, mac: string, times: { readonly at: number; readonly since: number }): void;
}

/**
 * Opens the book. One that does not parse is refused rather than begun anew: schedules would fire
 * twice.
 *
 * @throws Fault `invalidInput`
 */
export function openFiringBook(
  disk: FiringDisk,
  { person }: { readonly person: string },
): FiringBook {
  const path = join(person, FILE);
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
          [hook]: next.slice(-MAX_SEEN).map(([m, t]) => [m, Millis.parse(t)]),
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
