/**
 * Deliveries to peers: an exchange that the kernel reports as due is rendered, signed and posted by
 * the net service, only to origins that remit.yaml names. A failed delivery is retried with a
 * growing, randomized pause, for a day. Delivery is at least once, newest state last: the receiver
 * recognizes a delivery by `x-remit-delivery`. A2A 1.0, section 4.3. Used by front.ts.
 * @module
 */
import * as z from "zod";
import { Fault, type Json, toJson } from "../../contracts/base/mod.ts";
import { Exchange, type PeerDue, PushConfig } from "../../contracts/exchange/mod.ts";
import type { PushCounts } from "../trace/mod.ts";
import { fitting, mayPush } from "./mediator.ts";

/** Maximum deliveries in progress, and rows asked for at once. */
const MAX_UNDER_WAY = 8;
const ROWS = 64;
const FIRST_MS = 1_000;
const LOOK_MS = 60_000;
const LONGEST_MS = 3_600_000;
const DAY_MS = 86_400_000;
const HEADER = /^[\x20-\x7e]{1,8192}$/;

/** The powers of deliveries. */
export interface PushParts {
  ask(op: string, body: Json): Promise<Json>;
  /** The origins to which remit.yaml currently allows deliveries for a peer. */
  origins(peer: string): readonly string[];
  /** JSON text of an exchange in the protocol's form. */
  render(exchange: Json): Promise<string>;
  /** Detached JWS of a text. */
  sign(text: string): string;
  now(): number;
  after(ms: number, run: () => void): () => void;
  random(): number;
  note(text: string): void;
  /** Counts each try, and how each delivery ended. */
  counted(what: keyof PushCounts): void;
}

/** Deliveries of one service. */
export interface Pushes {
  /** Looks for more deliveries. */
  wake(): void;
  /** Begins no more deliveries; resolves when those in progress have ended. */
  stop(): Promise<void>;
}

const Due = z.array(z.object({
  exchange: Exchange,
  config: PushConfig,
  version: z.int(),
  attempt: z.int(),
  event: z.null(),
}));
const Delivered = z.object({ status: z.int() });

/** Headers of one delivery. */
export function pushHeaders(
  { token, authentication }: PushConfig,
  { id, signature }: { readonly id: string; readonly signature: string },
): Readonly<Record<string, string>> {
  const { scheme, credentials = "" } = authentication ?? {};
  const theirs = {
    ...(token === undefined ? {} : { "x-a2a-notification-token": token }),
    ...(scheme === undefined ? {} : { authorization: `${scheme} ${credentials}`.trim() }),
  };
  return {
    "content-type": "application/a2a+json",
    "a2a-version": "1.0",
    "x-remit-delivery": id,
    "x-remit-signature": signature,
    // A value with characters that no header may contain is not sent.
    ...Object.fromEntries(Object.entries(theirs).filter(([, value]) => HEADER.test(value))),
  };
}

/** Milliseconds before the next try: doubled each time, randomized by a quarter up or down. */
export function pauseFor(attempt: number, random: number): number {
  const whole = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempt, 30));
  return Math.round(whole * (0.75 + random / 2));
}

/** Starts; deliveries that are due go out at once. */
export function startPushes(parts: PushParts): Pushes {
  const inFlight = new Map<string, Promise<void>>();
  let stopped = false;
  let again = false;
  let looking: Promise<void> | undefined;
  let untimed = (): void => undefined;
  /** Times of the next looks, in milliseconds since 1970. */
  const times = new Set<number>();

  const arm = (): void => {
    untimed();
    if (stopped) return;
    // The kernel does not report retries of an earlier process, so it is asked once a minute.
    const next = Math.min(parts.now() + LOOK_MS, ...times);
    untimed = parts.after(Math.max(0, next - parts.now()), () => {
      for (const at of times) if (at <= parts.now()) times.delete(at);
      wake();
      arm();
    });
  };
  const wakeIn = (ms: number): void => {
    times.add(parts.now() + ms);
    arm();
  };

  const settle = async (due: PeerDue, more: { ok: boolean; again?: number }): Promise<void> => {
    const { exchange, config, version } = due;
    await parts.ask(
      "peerDelivered",
      toJson({ exchange: exchange.id, config: config.id, version, ...more }),
    );
  };

  const deliver = async (due: PeerDue): Promise<void> => {
    const { exchange, config, version, attempt } = due;
    const origins = parts.origins(exchange.peer);
    const give = (why: string): Promise<void> => {
      parts.note(`a delivery to peer ${exchange.peer} is given up: ${why}`);
      parts.counted("givenUp");
      return settle(due, { ok: true });
    };
    try {
      mayPush(config, origins);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return await give("remit.yaml does not name its origin any more");
    }
    const id = `${exchange.id}#${version}`;
    parts.counted("tried");
    const status = await post(due, { id, origins });
    if (status !== undefined && status >= 200 && status < 300) {
      parts.counted("delivered");
      return await settle(due, { ok: true });
    }
    if (status === 410) return await give("its receiver says that it is gone");
    if (parts.now() - exchange.updatedAt > DAY_MS) return await give("a day has passed");
    const ms = pauseFor(attempt, parts.random());
    await settle(due, { ok: false, again: parts.now() + ms });
    wakeIn(ms);
  };

  /** The receiver's status; undefined without an answer. */
  const post = async (
    { exchange, config }: PeerDue,
    { id, origins }: { readonly id: string; readonly origins: readonly string[] },
  ): Promise<number | undefined> => {
    try {
      const body = await parts.render(fitting(toJson(exchange)));
      const headers = pushHeaders(config, { id, signature: parts.sign(body) });
      const answer = await parts.ask(
        "deliver",
        toJson({ url: config.url, headers, body, origins: [...origins] }),
      );
      return Delivered.parse(answer).status;
    } catch (error) {
      if (error instanceof Fault) return undefined;
      throw error;
    }
  };

  const look = async (): Promise<void> => {
    do {
      again = false;
      const rows = Due.parse(await parts.ask("peerDue", { limit: ROWS }));
      for (const due of rows) {
        const key = `${due.exchange.id} ${due.config.id}`;
        if (inFlight.has(key) || stopped) continue;
        if (inFlight.size >= MAX_UNDER_WAY) await Promise.race(inFlight.values());
        const work = deliver(due).then(
          // A newer state may have come meanwhile.
          () => wakeIn(0),
          (error: unknown) => {
            if (!(error instanceof Fault)) throw error;
            // The kernel has ended, or the row is gone: ask again.
            wakeIn(FIRST_MS);
          },
        ).finally(() => inFlight.delete(key));
        inFlight.set(key, work);
      }
    } while (again && !stopped);
  };

  function wake(): void {
    if (stopped) return;
    again = true;
    looking ??= look().catch((error: unknown) => {
      if (!(error instanceof Fault)) throw error;
      again = false;
      if (error.code !== "gone") parts.note(error.message);
    }).finally(() => {
      looking = undefined;
      // A wake came between the last look and its end.
      if (again) wake();
    });
  }
  wake();
  arm();

  return Object.freeze<Pushes>({
    wake,
    async stop(): Promise<void> {
      stopped = true;
      untimed();
      await looking;
      await Promise.allSettled(inFlight.values());
    },
  });
}
