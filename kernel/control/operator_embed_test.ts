import { deepEqual, equal, rejects } from "node:assert/strict";
import { Digest, Fault } from "../../contracts/mod.ts";
import { makeModelRates } from "../model/rates.ts";
import type { OpenModel } from "../model/services.ts";
import { makeOperatorEmbed, type OperatorEmbed } from "./operator_embed.ts";

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
function makeWorld(
  answer: (signal: AbortSignal) => Promise<void>,
): {
  readonly clock: ReturnType<typeof handClock>;
  embed(): ReturnType<ReturnType<typeof makeOperatorEmbed>>;
} {
  const clock = handClock();
  const model: OpenModel = {
    info: {
      ...{ id: "e", displayName: "e", arch: "e", backend: "e", contextTokens: 100 },
      ...{ outputTokens: 2, supportsTools: false, remote: true },
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
  const { clock, embed } = makeWorld(() => Promise.resolve());
  await embed();
  const second = embed();
  await clock.turn(11 * 60_000);
  deepEqual((await second).vectors, [[1, 0]]);
});

Deno.test("an embedder that was asked and does not answer is not waited for without end", async () => {
  const { clock, embed } = makeWorld((signal) =>
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
