/** One gateway process that is there: started again when it ends, with a growing pause. @module */
import * as z from "zod";
import { Fault, type Json, type ServeOpen, toJson } from "../../contracts/mod.ts";
import type { GatewayLink } from "../mcp_serve/gateway_process.ts";

/** First pause before a gateway is started again, and the longest one, milliseconds. */
const PAUSE_MS = 250;
const LONGEST_MS = 10_000;
/** A gateway that lived this long begins with the first pause again. */
const WELL_MS = 60_000;
/** Starts in a row that came to nothing. */
const MOST_TRIES = 8;
/** Milliseconds for a gateway to say that it has stopped, beside what it gives to what is under way. */
const STOP_MS = 2_000;

/** A gateway that was started, with what serves it. */
export interface StartedGateway {
  readonly link: GatewayLink;
  /** Lets go of what was its: sessions, streams. */
  over(): Promise<void>;
}

/** What a keeper is made of. */
export interface GatewayKeeperParts {
  start(listen: NonNullable<ServeOpen["listen"]>): Promise<StartedGateway>;
  readonly open: ServeOpen & { readonly listen: NonNullable<ServeOpen["listen"]> };
  after(ms: number, run: () => void): () => void;
  now(): number;
  note(text: string): void;
}

/** A gateway that is kept. */
export interface KeptGateway {
  /** `host:port`. */
  readonly address: string;
  /** Asks the one that is there. Rejects `unavailable` between two. */
  ask(op: string, body: Json): Promise<Json>;
  /** Whether one is there. */
  up(): boolean;
  /** Resolves when it is given up. */
  readonly failed: Promise<Error>;
  /** Lets what is under way finish, then ends it for good. */
  stop(): Promise<void>;
}

const Opened = z.object({ address: z.string().min(1).max(300) });

/** Starts the first one; rejects when that does not start. */
export async function keepGateway(parts: GatewayKeeperParts): Promise<KeptGateway> {
  const { after, now, note } = parts;
  const failed = Promise.withResolvers<Error>();
  let listen = parts.open.listen;
  let there: StartedGateway | undefined;
  let stopping = false;
  let unpause = (): void => undefined;

  const start = async (): Promise<string> => {
    const started = await parts.start(listen);
    try {
      const opened = await started.link.ask("open", toJson({ ...parts.open, listen }));
      there = started;
      return Opened.parse(opened).address;
    } catch (error) {
      await started.link.kill();
      await started.over();
      throw error;
    }
  };

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const take = after(ms, resolve);
      unpause = () => {
        take();
        resolve();
      };
    });

  const keep = async (): Promise<void> => {
    for (let tries = 0, failures = 0; !stopping;) {
      const born = now();
      const why = await there?.link.closed;
      await there?.over();
      there = undefined;
      if (stopping) return;
      if (now() - born > WELL_MS) tries = 0;
      for (let up = false; !up && !stopping;) {
        // One that comes up and is ended again is kept: whoever can end it must not end the service.
        if (failures >= MOST_TRIES) {
          return failed.resolve(
            new Fault("unavailable", "Cannot keep the gateway: it ends again and again"),
          );
        }
        const ms = Math.min(LONGEST_MS, PAUSE_MS * 2 ** tries);
        tries += 1;
        note(`the gateway has ended (${why?.message ?? "it did not start"}); it is started again`);
        await pause(ms);
        if (stopping) return;
        up = await start().then(() => true, (error: unknown) => {
          if (!(error instanceof Fault)) throw error;
          note(error.message);
          return false;
        });
        failures = up ? 0 : failures + 1;
      }
    }
  };

  const address = await start();
  // The same port again, whichever it was.
  listen = { ...listen, port: Number(address.slice(address.lastIndexOf(":") + 1)) };
  const kept = keep();
  kept.catch((error: unknown) => failed.resolve(error instanceof Error ? error : new Error()));

  return Object.freeze<KeptGateway>({
    address,
    up: () => there !== undefined,
    failed: failed.promise,
    async ask(op, body): Promise<Json> {
      if (there === undefined) {
        throw new Fault("unavailable", "Cannot ask the gateway: it is being started again");
      }
      return await there.link.ask(op, body);
    },
    async stop(): Promise<void> {
      stopping = true;
      unpause();
      const { link } = there ?? {};
      if (link !== undefined) {
        const late = Promise.withResolvers<void>();
        const take = after((parts.open.drainMs ?? 0) + STOP_MS, late.resolve);
        await Promise.race([link.ask("stop", null).catch(() => undefined), late.promise]);
        take();
        await link.kill();
      }
      await kept.catch(() => undefined);
      // One that came up meanwhile.
      await there?.link.kill();
      await there?.over();
      there = undefined;
    },
  });
}
