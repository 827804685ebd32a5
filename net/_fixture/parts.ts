/** Stand-ins for the parts of the net service, and a service made of them. @module */
import { Fault } from "../../contracts/base/fault.ts";
import type { Json } from "../../contracts/base/json.ts";
import type {
  AllowedOrigin,
  NetAnswer,
  NetRequest,
  NetStream,
  NetStreamHead,
} from "../../contracts/wire/wire_net.ts";
import type { Clock } from "../clock.ts";
import { makeExchange } from "../exchange_powers.ts";
import type { Exchange, WireRequest } from "../exchange.ts";
import type { NetPowers } from "../hops.ts";
import { type Resolver, resolvingNames } from "../address/resolver.ts";
import { makeNetService } from "../service.ts";

/** A clock turned by hand. */
export interface HandClock extends Clock {
  turn(ms: number): void;
}

/** Makes a clock that does not move. */
export function makeHandClock(): HandClock {
  const timers = new Set<{ readonly at: number; readonly run: () => void }>();
  let now = 0;
  return {
    now: () => now,
    after(ms, run) {
      const timer = { at: now + ms, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    turn(ms) {
      now += ms;
      for (const timer of [...timers]) {
        if (timer.at > now) continue;
        timers.delete(timer);
        timer.run();
      }
    },
  };
}

/** A resolver with these names, each with a list for each question; the last one stays. */
export function makeNames(
  names: Readonly<Record<string, readonly (readonly string[])[]>>,
): Resolver & { readonly asked: readonly string[] } {
  const asked: string[] = [];
  return {
    asked,
    resolve(host) {
      const times = asked.filter((each) => each === host).length;
      asked.push(host);
      const found = names[host]?.[times] ?? names[host]?.at(-1);
      return found === undefined
        ? Promise.reject(new Fault("notFound", `Cannot resolve ${JSON.stringify(host)}`))
        : Promise.resolve(found);
    },
  };
}

/** The answer of a made-up exchange. */
export interface MadeUp {
  readonly status: number;
  readonly headers?: readonly (readonly [string, string])[];
  readonly body?: string;
}

/** An exchange without sockets, which records what it was told to send. */
export function makeUpAnswers(
  answer: (request: WireRequest) => MadeUp,
): Exchange & { readonly sent: readonly WireRequest[] } {
  const sent: WireRequest[] = [];
  return {
    sent,
    send(request) {
      sent.push(request);
      const { status, headers = [], body = "" } = answer(request);
      async function* bytes(): AsyncIterable<Uint8Array> {
        if (body !== "") yield await Promise.resolve(new TextEncoder().encode(body));
      }
      return Promise.resolve({
        status,
        headers,
        body: bytes(),
        [Symbol.dispose]: () => undefined,
      });
    },
  };
}

/** A net service within the test. */
export interface InService {
  ask(request: Partial<NetRequest> & { readonly url: string }): Promise<NetAnswer>;
  /** Opens a stream. */
  open(request: Partial<NetStream> & { readonly url: string }): Promise<NetStreamHead>;
  /** The next piece as text; empty at the end. */
  read(id: string): Promise<string>;
  cancel(id: string): void;
}

/** Makes a service; omitted parts are real, except the clock, which does not move. */
export function makeInService(powers: Partial<NetPowers> = {}): InService {
  const { resolver, ...rest } = powers;
  const service = makeNetService({
    exchange: makeExchange(),
    clock: makeHandClock(),
    resolver: resolvingNames(resolver ?? makeNames({})),
    ...rest,
  });
  let count = 0;
  return {
    ask: async (request) => {
      const whole: NetRequest = {
        id: `n${++count}`,
        method: "GET",
        headers: {},
        allow: [],
        redirects: 5,
        requestBytes: 100_000,
        responseBytes: 100_000,
        deadlineMs: 300_000,
        ...request,
      };
      return await service.ask("fetch", whole as unknown as Json) as unknown as NetAnswer;
    },
    open: async (request) => {
      const whole: NetStream = {
        id: `s${++count}`,
        method: "GET",
        headers: {},
        allow: [],
        requestBytes: 100_000,
        responseBytes: 100_000,
        headMs: 300_000,
        idleMs: 300_000,
        ...request,
      };
      return await service.ask("stream", whole as unknown as Json) as unknown as NetStreamHead;
    },
    read: async (id) => {
      const { bytes } = await service.ask("streamRead", { id }) as { readonly bytes: string };
      return atob(bytes);
    },
    cancel: (id) => service.tell("cancel", { id }),
  };
}

/** Origins that the operator named. */
export function named(...origins: readonly string[]): readonly AllowedOrigin[] {
  return origins.map((origin) => ({ origin, named: true }));
}

/** Origins that were allowed, and not named. */
export function allowed(...origins: readonly string[]): readonly AllowedOrigin[] {
  return origins.map((origin) => ({ origin, named: false }));
}

/** Tells whether an error is a fault with this code whose message contains `words`. */
export function isFault(code: Fault["code"], words = ""): (error: unknown) => boolean {
  return (error) => error instanceof Fault && error.code === code && error.message.includes(words);
}

/** The body as text. */
export function textOf(answer: NetAnswer): string {
  return new TextDecoder().decode(Uint8Array.from(atob(answer.body), (c) => c.charCodeAt(0)));
}
