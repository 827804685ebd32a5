import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import fc from "fast-check";
import { Fault } from "../../../contracts/base/mod.ts";
import type { Rates } from "../../../contracts/model/mod.ts";
import { type Entered, makeModelRates, type ModelRates } from "./rates.ts";

const HOST = "api.example.com";
const MINUTE = 60_000;

/** A clock turned by hand: timers fire in their order, at their time. */
interface Clock {
  now(): number;
  after(ms: number, f: () => void): () => void;
  turn(ms: number): Promise<void>;
  set(now: number): void;
}

function makeClock(): Clock {
  let now = 1_000_000, count = 0;
  const timers = new Map<number, { readonly at: number; readonly f: () => void }>();
  const settled = async (): Promise<void> => {
    for (let n = 0; n < 8; n++) await Promise.resolve();
  };
  return {
    now: () => now,
    after(ms, f): () => void {
      const id = ++count;
      timers.set(id, { at: now + ms, f });
      return () => void timers.delete(id);
    },
    async turn(ms): Promise<void> {
      await settled();
      for (const end = now + ms;;) {
        const due = [...timers].filter(([, { at }]) => at <= end)
          .sort(([, a], [, b]) => a.at - b.at)[0];
        if (due === undefined) {
          now = end;
          return;
        }
        now = Math.max(now, due[1].at);
        timers.delete(due[0]);
        due[1].f();
        await settled();
      }
    },
    set: (to) => void (now = to),
  };
}

interface Asked {
  readonly entered: Promise<Entered>;
  /** When it entered, or the code of the fault that it met. */
  came(): number | string | undefined;
  readonly waits: number[];
  cancel(): void;
}

function ask(
  rates: ModelRates,
  clock: Clock,
  { tokens = 1, noWait = false, key = HOST, limits }: {
    readonly tokens?: number;
    readonly noWait?: boolean;
    readonly key?: string;
    readonly limits: Rates;
  },
): Asked {
  const abort = new AbortController();
  const waits: number[] = [];
  let came: number | string | undefined;
  const entered = rates.enter(key, limits, { tokens }, {
    signal: abort.signal,
    noWait,
    onWait: (ms) => waits.push(ms),
  });
  entered.then(() => came = clock.now(), (error) => came = error.code);
  return { entered, came: () => came, waits, cancel: () => abort.abort() };
}

Deno.test("alice's fourth request of a minute waits until the first is a third of a minute old", async () => {
  const clock = makeClock(), rates = makeModelRates(clock), limits = { requestsPerMinute: 3 };
  const asked = Array.from({ length: 5 }, () => ask(rates, clock, { limits }));
  await clock.turn(0);
  const start = clock.now();
  deepEqual(asked.map(({ came }) => came()), [start, start, start, undefined, undefined]);
  deepEqual(asked.map(({ waits }) => waits), [[], [], [], [20_000], [40_000]]);
  await clock.turn(19_999);
  equal(asked[3]?.came(), undefined);
  await clock.turn(20_001);
  deepEqual(asked.slice(3).map(({ came }) => came()), [start + 20_000, start + 40_000]);
});

Deno.test("bob, who does not wait, is told the rate, the host and how long", async () => {
  const clock = makeClock(), rates = makeModelRates(clock), limits = { requestsPerMinute: 2 };
  for (let n = 0; n < 2; n++) await ask(rates, clock, { limits, noWait: true }).entered;
  await rejects(
    ask(rates, clock, { limits, noWait: true }).entered,
    (error) =>
      error instanceof Fault && error.code === "rateLimited" &&
      error.detail?.["retryAfterMs"] === 30_000 &&
      error.message === `Cannot infer: it would exceed 2 requests a minute to ${HOST}; ` +
          "without --no-wait it waits",
  );
  const tokens = { tokensPerMinute: 100 };
  await ask(rates, clock, { limits: tokens, tokens: 90, key: "b", noWait: true }).entered;
  await rejects(
    ask(rates, clock, { limits: tokens, tokens: 20, key: "b", noWait: true }).entered,
    /it would exceed 100 tokens a minute to b/,
  );
});

Deno.test("nobody overtakes: bob's small request waits behind alice's large one, also with --no-wait", async () => {
  const clock = makeClock(), rates = makeModelRates(clock), limits = { tokensPerMinute: 100 };
  await ask(rates, clock, { limits, tokens: 60 }).entered;
  const alice = ask(rates, clock, { limits, tokens: 80 });
  const bob = ask(rates, clock, { limits, tokens: 1 });
  const hasty = ask(rates, clock, { limits, tokens: 1, noWait: true });
  await clock.turn(0);
  deepEqual([alice.came(), bob.came(), hasty.came()], [undefined, undefined, "rateLimited"]);
  await clock.turn(MINUTE);
  ok(Number(alice.came()) < Number(bob.came()));
});

Deno.test("whoever is cancelled leaves the line, and the next one moves up", async () => {
  const clock = makeClock(), rates = makeModelRates(clock), limits = { tokensPerMinute: 100 };
  await ask(rates, clock, { limits, tokens: 50 }).entered;
  const alice = ask(rates, clock, { limits, tokens: 90 });
  const bob = ask(rates, clock, { limits, tokens: 50 });
  await clock.turn(0);
  equal(bob.came(), undefined);
  alice.cancel();
  await clock.turn(0);
  deepEqual([alice.came(), bob.came()], ["cancelled", clock.now()]);
  const late = new AbortController();
  late.abort();
  await rejects(
    rates.enter(HOST, limits, { tokens: 1 }, { signal: late.signal, noWait: false }),
    /cancelled/,
  );
});

Deno.test("a request larger than a minute's tokens goes alone, and those after it pay", async () => {
  const clock = makeClock(), rates = makeModelRates(clock), limits = { tokensPerMinute: 100 };
  await ask(rates, clock, { limits, tokens: 10 }).entered;
  const large = ask(rates, clock, { limits, tokens: 300 });
  const after = ask(rates, clock, { limits, tokens: 10 });
  const start = clock.now();
  await clock.turn(10 * MINUTE);
  equal(large.came(), start + MINUTE / 10);
  equal(after.came(), start + MINUTE / 10 + 210 * MINUTE / 100);
});

Deno.test("what was estimated too high is given back, too low is owed", async () => {
  const clock = makeClock(), rates = makeModelRates(clock), limits = { tokensPerMinute: 100 };
  const first = await ask(rates, clock, { limits, tokens: 100 }).entered;
  const bob = ask(rates, clock, { limits, tokens: 70 });
  await clock.turn(0);
  equal(bob.came(), undefined);
  first.settle(30);
  first.settle(0);
  await clock.turn(0);
  equal(bob.came(), clock.now());
  (await bob.entered).settle(170);
  const carol = ask(rates, clock, { limits, tokens: 100 });
  await clock.turn(2 * MINUTE - 1);
  equal(carol.came(), undefined);
  await clock.turn(1);
  equal(carol.came(), clock.now());
});

Deno.test("a provider's Retry-After holds everyone back, also those without a rate, and not for ever", async () => {
  const clock = makeClock(), rates = makeModelRates(clock);
  const busy = (ms: unknown): Fault =>
    new Fault("rateLimited", "Cannot infer: busy", { detail: { retryAfterMs: ms as number } });
  const first = await ask(rates, clock, { limits: {} }).entered;
  first.failed(busy(5_000));
  const waiting = ask(rates, clock, { limits: {} });
  await rejects(ask(rates, clock, { limits: {}, noWait: true }).entered, /asked to wait 5 s/);
  equal(ask(rates, clock, { limits: {}, key: "other.example" }).waits.length, 0);
  await clock.turn(4_999);
  equal(waiting.came(), undefined);
  await clock.turn(1);
  equal(waiting.came(), clock.now());
  for (const ms of [Infinity, 1e18]) {
    (await waiting.entered).failed(busy(ms));
    const next = ask(rates, clock, { limits: {} });
    await clock.turn(10 * MINUTE);
    equal(next.came(), clock.now(), String(ms));
  }
  for (const ms of [NaN, -1, "60000", undefined]) {
    (await waiting.entered).failed(busy(ms));
    await ask(rates, clock, { limits: {}, noWait: true }).entered;
  }
  const refused = new Fault("refused", "Cannot infer", { detail: { retryAfterMs: 9_000 } });
  (await waiting.entered).failed(refused);
  await ask(rates, clock, { limits: {}, noWait: true }).entered;
  const overloaded = new Fault("upstream", "Cannot infer: 529", { detail: { afterMs: 2_000 } });
  (await waiting.entered).failed(overloaded);
  await rejects(ask(rates, clock, { limits: {}, noWait: true }).entered, /asked to wait 2 s/);
});

Deno.test("a clock that is set back neither frees nor stops anybody", async () => {
  const clock = makeClock(), rates = makeModelRates(clock), limits = { requestsPerMinute: 1 };
  await ask(rates, clock, { limits }).entered;
  clock.set(clock.now() - 24 * 60 * MINUTE);
  await rejects(ask(rates, clock, { limits, noWait: true }).entered, /1 requests a minute/);
  const waiting = ask(rates, clock, { limits });
  await clock.turn(MINUTE);
  equal(waiting.came(), clock.now());
});

Deno.test("of two rates for one host the lower holds while both wait, and no longer", async () => {
  const clock = makeClock(), rates = makeModelRates(clock);
  const high = { requestsPerMinute: 60 }, low = { requestsPerMinute: 2 };
  for (let n = 0; n < 2; n++) await ask(rates, clock, { limits: low }).entered;
  const slow = ask(rates, clock, { limits: low });
  const quick = ask(rates, clock, { limits: high });
  await clock.turn(29_999);
  deepEqual([slow.came(), quick.came()], [undefined, undefined]);
  await clock.turn(2_001);
  ok(Number(slow.came()) <= Number(quick.came()));
  for (let n = 0; n < 10; n++) await ask(rates, clock, { limits: high, noWait: true }).entered;
});

Deno.test("requests without a rate leave no debt, and do not stop the clock of those with one", async () => {
  const clock = makeClock(), rates = makeModelRates(clock), limits = { tokensPerMinute: 100 };
  await ask(rates, clock, { limits: {}, tokens: 1e6, noWait: true }).entered;
  await ask(rates, clock, { limits, tokens: 100, noWait: true }).entered;
  await ask(rates, clock, { limits: {}, tokens: 1e6, noWait: true }).entered;
  await clock.turn(MINUTE);
  await ask(rates, clock, { limits, tokens: 100, noWait: true }).entered;
});

const step = fc.oneof(
  fc.record({
    do: fc.constant("ask" as const),
    tokens: fc.integer({ min: 0, max: 150 }),
    noWait: fc.boolean(),
  }),
  fc.record({ do: fc.constant("turn" as const), ms: fc.integer({ min: 0, max: 40_000 }) }),
  fc.record({ do: fc.constant("cancel" as const), which: fc.nat(20) }),
);

Deno.test("whatever comes, no window holds more than its rate and one burst, and nobody waits for ever", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 40 }),
      fc.integer({ min: 1, max: 10 }),
      fc.integer({ min: 20, max: 200 }),
      async (steps, requestsPerMinute, tokensPerMinute) => {
        const clock = makeClock(), rates = makeModelRates(clock);
        const limits = { requestsPerMinute, tokensPerMinute };
        const asked: (Asked & { readonly tokens: number })[] = [];
        for (const each of steps) {
          if (each.do === "turn") await clock.turn(each.ms);
          else if (each.do === "cancel") asked[each.which]?.cancel();
          else asked.push({ ...ask(rates, clock, { ...each, limits }), tokens: each.tokens });
        }
        // Everyone who stayed is served within the sum of what was asked.
        const whole = asked.reduce((sum, { tokens }) => sum + tokens, 0);
        await clock.turn(
          MINUTE * (2 + whole / tokensPerMinute + asked.length / requestsPerMinute),
        );
        ok(asked.every(({ came }) => came() !== undefined), "somebody still waits");
        const went = asked.flatMap(({ came, tokens }) => {
          const at = came();
          return typeof at === "number" ? [{ at, tokens }] : [];
        });
        for (const { at: from } of went) {
          for (const { at: to } of went.filter(({ at }) => at >= from)) {
            const inside = went.filter(({ at }) => at >= from && at <= to);
            const minutes = (to - from) / MINUTE;
            const tokens = inside.reduce((sum, each) => sum + each.tokens, 0);
            const burst = Math.max(tokensPerMinute, ...inside.map((each) => each.tokens));
            ok(inside.length <= requestsPerMinute * (1 + minutes) + 1e-3);
            ok(tokens <= tokensPerMinute * minutes + burst + 1e-3);
          }
        }
        const order = asked.filter(({ came, waits }) =>
          typeof came() === "number" && waits.length > 0
        ).map(({ came }) => Number(came()));
        deepEqual(order, order.toSorted((a, b) => a - b));
      },
    ),
    { numRuns: 200 },
  );
});
