import assert from "node:assert/strict";
import { requestOf, said } from "../../_fixture/asking.ts";
import { streamOpenai } from "../../_fixture/providers/openai.ts";
import { openBody, quickPowers } from "../_fixture/bench.ts";
import { openOpenai } from "../openai/open.ts";
import { draining } from "./drain.ts";

const piece = (length: number): Uint8Array<ArrayBuffer> => new Uint8Array(length);
/** A timer whose one wait ends when the test says so. */
function handTimer() {
  const over = Promise.withResolvers<void>();
  return { timer: { wait: () => over.promise }, turn: over.resolve };
}
/** What is read of a stream, and how it came to its end. */
function watched(pull: (controller: ReadableStreamDefaultController) => void) {
  const cancelled = Promise.withResolvers<string>();
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull,
    cancel: () => cancelled.resolve("cancelled"),
  }, { highWaterMark: 0 });
  return { stream, cancelled: cancelled.promise };
}

Deno.test("what follows is read to its end when the reader has left, and the stream is not cancelled", async () => {
  const { timer, turn } = handTimer();
  const ended = Promise.withResolvers<string>();
  let given = 0;
  const { stream, cancelled } = watched((controller) => {
    if (given++ < 5) return controller.enqueue(piece(10));
    controller.close();
    ended.resolve("ended");
  });
  for await (const bytes of draining(stream, { timer })) {
    assert.equal(bytes.length, 10);
    break;
  }
  assert.equal(await Promise.race([ended.promise, cancelled]), "ended");
  assert.equal(given, 6);
  turn();
});

Deno.test("mallory's server goes on for ever: 64 KiB are read away, and no more", async () => {
  const { timer, turn } = handTimer();
  let given = 0;
  const { stream, cancelled } = watched((controller) => {
    given++;
    controller.enqueue(piece(1_024));
  });
  for await (const _bytes of draining(stream, { timer })) break;
  assert.equal(await cancelled, "cancelled");
  assert.ok(given <= 67, `${given} KiB`);
  turn();
});

Deno.test("mallory's server falls silent and holds the connection: it is given up after a second", async () => {
  const { timer, turn } = handTimer();
  let given = 0;
  const { stream, cancelled } = watched((controller) => {
    if (given++ === 0) controller.enqueue(piece(1));
    return new Promise<void>(() => {});
  });
  for await (const _bytes of draining(stream, { timer })) break;
  turn();
  assert.equal(await cancelled, "cancelled");
});

Deno.test("ten answers that end with [DONE] come over one connection", async () => {
  const connections = new Set<number>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (_, info) => {
    connections.add(info.remoteAddr.port);
    const pieces = [...streamOpenai({ text: ["one"] }, { fields: {}, variant: "vllm" })];
    // The end of the body is a piece of its own, which comes after the last event.
    const body = new ReadableStream<string>({
      pull(controller) {
        const next = pieces.shift();
        if (next === undefined) controller.close();
        else controller.enqueue(String(next));
      },
    }, { highWaterMark: 0 });
    return new Response(body.pipeThrough(new TextEncoderStream()));
  });
  // Tells when a body was read to its end, or was not.
  let ended = Promise.withResolvers<string>();
  const heard = async (...asked: Parameters<typeof fetch>): Promise<Response> => {
    const answer = await fetch(...asked);
    const reader = answer.body?.getReader();
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { value, done = true } = await reader?.read() ?? {};
        if (value !== undefined) return controller.enqueue(value);
        if (done) controller.close();
        ended.resolve("read to its end");
      },
      cancel(why) {
        ended.resolve("left");
        return reader?.cancel(why);
      },
    }, { highWaterMark: 0 });
    return new Response(body, answer);
  };
  // Its waits never end: only the end of the body ends the reading.
  const timer = { wait: () => new Promise<void>(() => {}) };
  const url = `http://127.0.0.1:${server.addr.port}/v1`;
  const model = await openOpenai(openBody("openai", url), {
    ...quickPowers(),
    ...{ timer, fetch: heard },
  });
  const { signal } = new AbortController();
  for (let n = 0; n < 10; n++) {
    ended = Promise.withResolvers();
    await model.infer(requestOf([said("hello")]), { signal });
    assert.equal(await ended.promise, "read to its end");
  }
  await server.shutdown();
  assert.equal(connections.size, 1);
});
