/** Keeps one gateway process running: restarts it after a growing pause. @module */
import * as z from "zod";
import { Fault, type Json, toJson } from "../contracts/base/mod.ts";
import type { ServeOpen } from "../contracts/wire/mod.ts";

/** The first and the longest pause before a restart, in milliseconds. */
const PAUSE_MS = 250;
const MAX_PAUSE_MS = 10_000;
/** A gateway that ran this long resets the pause. */
const WELL_MS = 60_000;
/** Failed starts in a row before the keeper gives up. */
const MAX_FAILURES = 8;
/** Milliseconds for a gateway to answer `stop`, beyond its drain time. */
const STOP_MS = 2_000;

/** The port to a running gateway process. */
export interface GatewayLink {
  ask(op: string, body: Json): Promise<Json>;
  tell(op: string, body: Json): void;
  /** Resolves when the process has ended, or broke the protocol and was ended. */
  readonly closed: Promise<Error>;
  /** Ends the process at once. */
  kill(): Promise<void>;
  /** The process's id in the operating system. */
  readonly pid: number;
}

/** A gateway process with the handler that serves it. */
export interface StartedGateway {
  readonly link: GatewayLink;
  /** Ends the sessions and streams of this gateway. */
  over(): Promise<void>;
}

/** The powers of {@link keepGateway}, and the gateway's settings. */
export interface GatewayKeeperParts {
  start(listen: NonNullable<ServeOpen["listen"]>): Promise<StartedGateway>;
  readonly open: ServeOpen & { readonly listen: NonNullable<ServeOpen["listen"]> };
  after(ms: number, run: () => void): () => void;
  now(): number;
  note(text: string): void;
}

/** A gateway that is kept running. */
export interface KeptGateway {
  /** `host:port`. */
  readonly address: string;
  /** Asks the running gateway. Rejects `unavailable` during a restart. */
  ask(op: string, body: Json): Promise<Json>;
  /** Whether the gateway runs. */
  up(): boolean;
  /** Resolves when the keeper gives up. */
  readonly failed: Promise<Error>;
  /** Lets requests in progress finish, then ends the gateway for good. */
  stop(): Promise<void>;
}

const Opened = z.object({ address: z.string().min(1).max(300) });

/** Starts the gateway; rejects when the first start fails. */
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
        // Only failed starts count: a caller who can end the gateway must not be able to end the
        // service.
        if (failures >= MAX_FAILURES) {
          return failed.resolve(
            new Fault("unavailable", "Cannot keep the gateway: it ends again and again"),
          );
        }
        const ms = Math.min(MAX_PAUSE_MS, PAUSE_MS * 2 ** tries);
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
  // A restart takes the same port, also where any free port was requested.
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
      // Ends a gateway that started meanwhile.
      await there?.link.kill();
      await there?.over();
      there = undefined;
    },
  });
}
