import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { Digest, type Label, mixLabel } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import type { InferenceRequest } from "../../contracts/model/mod.ts";
import type { ModelAnswer, NewEvent } from "../../contracts/task/mod.ts";
import { makeModelRates } from "../power/model/rates.ts";
import type { OpenModel } from "../power/model/services.ts";
import {
  makeOperatorAsk,
  makeOperatorEmbed,
  type OperatorAsk,
  type OperatorEmbed,
} from "./operator_ask.ts";

interface World {
  ask(changes?: Partial<OperatorAsk>): Promise<ModelAnswer>;
  readonly sent: InferenceRequest[];
  readonly events: NewEvent[];
  /** Ends the time of whatever waits. */
  late(): void;
  provided: number;
  released: number;
}

/** A model at `host` (none: on this machine) that is cleared for `clearance`. */
function makeWorld(
  host: string | undefined,
  { clearance = "internal", hangs = false }: {
    readonly clearance?: Label;
    readonly hangs?: boolean;
  } = {},
): World {
  const sent: InferenceRequest[] = [], events: NewEvent[] = [], timers: (() => void)[] = [];
  const model: OpenModel = {
    info: {
      ...{ id: "m", displayName: "m", arch: "m", backend: "m", contextTokens: 1_000 },
      ...{ outputTokens: 50, supportsTools: false, remote: false, price: { input: 1, output: 2 } },
    },
    plan: { noWait: true, ...(host === undefined ? {} : { host }) },
    embed: () => Promise.reject(new Error("it makes text")),
    infer(request, { signal }) {
      sent.push(request);
      if (hangs) {
        return new Promise((_, reject) =>
          signal.addEventListener(
            "abort",
            () => reject(new Fault("cancelled", "Cannot go on: late")),
          )
        );
      }
      return Promise.resolve({
        message: {
          role: "assistant",
          content: "forty-two",
          provenance: { origin: "model", colour: "BLUE", label: "public" },
        },
        usage: { inputTokens: 10, outputTokens: 5 },
        finishReason: "stop",
      });
    },
    release: () => void (world.released += 1),
  };
  let ids = 0;
  const powers = {
    now: () => 1_000,
    token: () => `n${++ids}`,
    id: (prefix: string) => `${prefix}000000000001`,
    after(_ms: number, f: () => void): () => void {
      timers.push(f);
      return () => undefined;
    },
  };
  const asking = makeOperatorAsk({
    powers,
    rates: makeModelRates(powers),
    provide: () => {
      world.provided += 1;
      return Promise.resolve(model);
    },
    modelRefused: ({ label }, sink) =>
      sink.remote && mixLabel(label, clearance) !== clearance
        ? `the texts are ${label}`
        : undefined,
    log: {
      append(_task, more) {
        events.push(...more);
        return Promise.resolve(more.map((_, n) => ({ n, hash: Digest.parse("0".repeat(64)) })));
      },
    },
  });
  const world: World = {
    ...{ sent, events, provided: 0, released: 0 },
    late: () => timers.forEach((f) => f()),
    ask: (changes = {}) =>
      asking({
        model: { ref: "openai:m@https://m.example/v1", config: "{}" },
        ...{ system: "be short", user: "what is six times seven?", maxTokens: 400 },
        ...{ label: "public", colour: "RED" },
        ...changes,
      }),
  };
  return world;
}

const isFault = (code: string) => (error: unknown) => error instanceof Fault && error.code === code;

Deno.test("carol asks a remote model herself: it is on record before it leaves, counted and priced", async () => {
  const world = makeWorld("m.example");
  const answer = await world.ask({ responseSchema: "{}", temperature: 0 });
  deepEqual(answer, {
    ...{ text: "forty-two", finishReason: "stop", inputTokens: 10, outputTokens: 5 },
    money: 20 / 1e6,
  });
  deepEqual(world.events.map(({ kind }) => kind), ["modelAsked", "inferred"]);
  ok(!JSON.stringify(world.events).includes("forty-two"), "the record keeps no text");
  const [request] = world.sent;
  deepEqual(request?.tools, []);
  equal(request?.maxTokens, 50, "no more than the model has");
  equal(request?.responseSchema, "{}");
  equal(world.released, 1);
});

Deno.test("secret texts do not leave for a model that is cleared for internal ones, and may stay here", async () => {
  const remote = makeWorld("m.example");
  await rejects(remote.ask({ label: "secret" }), isFault("clearance"));
  deepEqual([remote.sent, remote.events, remote.released], [[], [], 1]);
  const local = makeWorld(undefined);
  equal((await local.ask({ label: "secret" })).text, "forty-two");
  deepEqual(local.events.map(({ kind }) => kind), ["inferred"]);
});

Deno.test("what does not fit the window, and what makes vectors, is refused before anything is sent", async () => {
  const world = makeWorld(undefined);
  await rejects(world.ask({ user: "x".repeat(5_000) }), isFault("contextOverflow"));
  await rejects(
    world.ask({ model: { ref: "openai-embed:e@https://m.example/v1", config: "{}" } }),
    isFault("invalidInput"),
  );
  deepEqual(world.sent, []);
});

Deno.test("a model that never answers is given up when its time is up, and given back", async () => {
  const world = makeWorld(undefined, { hangs: true });
  const asked = world.ask();
  const failed = rejects(asked, (error: unknown) => {
    match(String(error), /time is up/);
    return isFault("timedOut")(error);
  });
  while (world.sent.length === 0) await Promise.resolve();
  world.late();
  await failed;
  equal(world.released, 1);
});

Deno.test("a recording goes on where the question before ended", async () => {
  const world = makeWorld(undefined);
  const model = { ref: "openai:m@https://m.example/v1", config: '{"replay":"…"}' };
  await world.ask({ model });
  await world.ask({ model });
  deepEqual([world.provided, world.released], [1, 0]);
});

/** A clock that a test turns: timers that are due run in their order. */
function handClock(): {
  now(): number;
  after(ms: number, work: () => void): () => void;
  turn(ms: number): Promise<void>;
} {
  let at = 0;
  const timers = new Set<{ readonly due: number; readonly work: () => void }>();
  return {
    now: () => at,
    after(ms, work): () => void {
      const timer = { due: at + ms, work };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    async turn(ms): Promise<void> {
      const end = at + ms;
      for (;;) {
        const [next] = [...timers].filter(({ due }) => due <= end).sort((a, b) => a.due - b.due);
        if (next === undefined) break;
        at = next.due;
        timers.delete(next);
        next.work();
        for (let n = 0; n < 20; n++) await undefined;
      }
      at = end;
    },
  };
}

/** An embedder of one request in ten minutes, which answers when it is let. */
function makeWorldOperatorEmbed(
  answer: (signal: AbortSignal) => Promise<void>,
  afford?: (money: number) => Promise<void>,
): {
  readonly clock: ReturnType<typeof handClock>;
  embed(): ReturnType<ReturnType<typeof makeOperatorEmbed>>;
} {
  const clock = handClock();
  const model: OpenModel = {
    info: {
      ...{ id: "e", displayName: "e", arch: "e", backend: "e", contextTokens: 100 },
      ...{ outputTokens: 2, supportsTools: false, remote: true, price: { input: 10, output: 0 } },
    },
    plan: { noWait: false, host: "e.example", rates: { requestsPerMinute: 0.1 } },
    infer: () => Promise.reject(new Error("an embedder infers nothing")),
    embed: async (texts, signal) => {
      await answer(signal);
      return { vectors: texts.map(() => Float32Array.of(1, 0)), inputTokens: 7 };
    },
    release: () => undefined,
  };
  const embed = makeOperatorEmbed({
    powers: { ...clock, token: () => "n", id: (kind) => `${kind}000000000001` },
    rates: makeModelRates(clock),
    provide: () => Promise.resolve(model),
    ...(afford === undefined ? {} : { afford }),
    modelRefused: () => undefined,
    log: {
      append: (_task, more) =>
        Promise.resolve(more.map((_, n) => ({ n, hash: Digest.parse("0".repeat(64)) }))),
    },
  });
  const asked: OperatorEmbed = {
    model: { ref: "openai-embed:e@https://e.example/v1", config: "{}" },
    ...{ texts: ["a"], label: "public" },
  };
  return { clock, embed: () => embed(asked) };
}

Deno.test("texts that wait longer for the provider's rate than an answer may take are embedded all the same", async () => {
  const { clock, embed } = makeWorldOperatorEmbed(() => Promise.resolve());
  await embed();
  const second = embed();
  await clock.turn(11 * 60_000);
  deepEqual((await second).vectors, [[1, 0]]);
});

Deno.test("an embedder that was asked and does not answer is not waited for without end", async () => {
  const { clock, embed } = makeWorldOperatorEmbed((signal) =>
    new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(new Fault("cancelled", "Cannot: cancelled")));
    })
  );
  const only = embed();
  let over = false;
  const late = rejects(only, (error) => error instanceof Fault && error.code === "timedOut")
    .finally(() => over = true);
  for (let n = 0; n < 20; n++) await undefined;
  await clock.turn(119_000);
  equal(over, false);
  await clock.turn(2_000);
  await late;
});

Deno.test("vectors that do not fit the budget are refused before their texts are sent", async () => {
  const asked: number[] = [];
  let sent = 0;
  const { embed } = makeWorldOperatorEmbed(() => Promise.resolve(void sent++), (money) => {
    asked.push(money);
    return Promise.reject(new Fault("budgetExhausted", "Cannot infer: the budget is used up"));
  });
  await rejects(embed(), /the budget is used up/);
  // One token at 10 USD a million.
  deepEqual([asked, sent], [[1e-5], 0]);
});
