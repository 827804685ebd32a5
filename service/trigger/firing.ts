/**
 * A webhook or schedule that fired: its request, and the key that identifies a repeated firing.
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
  /** A repeated firing has the same session, so the kernel makes one task of both. */
  readonly session: SessionId;
  readonly ingress: Ingress;
}

/** The result of a firing: its task, and whether the task existed before. */
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
 * The session of a firing: `s` and 12 characters derived from the principal and from the key of
 * this firing (a delivery's id, a time). 62 bits: two firings of one entry never collide in
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

/** Tells whether the same firing may succeed later: the kernel was unavailable or full. */
export function mayPass(error: unknown): boolean {
  return error instanceof Fault && PASSING.has(error.code);
}

const FILE = "firings.json";
/** Maximum signed deliveries remembered for one webhook; its window is some minutes. */
const MAX_SEEN = 4_096;

const Settled = z.object({
  /** Firings up to this time are settled. */
  upTo: Millis,
  /** The last firing that became a task. */
  fired: Millis.optional(),
  task: TaskId.optional(),
  /** Number of firings left out since the schedule is known. */
  skipped: z.int().min(0),
}).strict();
/** How far a schedule is settled. */
export type SettledFirings = z.infer<typeof Settled>;

const Book = z.object({
  version: z.literal(1),
  schedules: z.record(z.string().max(32), Settled),
  /** Macs of signed bytes, with their arrival times. */
  seen: z.record(z.string().max(32), z.array(z.tuple([z.string().max(64), Millis])).max(MAX_SEEN)),
}).strict();
type Book = z.infer<typeof Book>;

/** The disk of {@link openFiringBook}. */
export interface FiringDisk {
  read(path: string): Uint8Array | undefined;
  write(path: string, text: string, options: { readonly mode: number }): void;
}

/**
 * The service's record of firings: how far each schedule is settled, and which signed bytes
 * arrived. The kernel guarantees that one firing makes one task (kernel/control/operator.ts): after
 * a crash the book is behind the kernel, never ahead. STATE/person/firings.json.
 */
export interface FiringBook {
  schedule(name: string): SettledFirings | undefined;
  settle(name: string, settled: SettledFirings): void;
  /** Tells whether these signed bytes arrived at or after `since`. */
  seen(hook: string, mac: string, since: number): boolean;
  /** Records that signed bytes arrived at `at`, and forgets those before `since`. */
  see(hook: string, mac: string, times: { readonly at: number; readonly since: number }): void;
}

/**
 * Opens the book. A book that does not parse is refused rather than replaced: schedules would fire
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
