import assert from "node:assert/strict";
import type { Json } from "../contracts/base/json.ts";
import { Fault } from "../contracts/base/fault.ts";
import { bundled, startChild } from "../port/_fixture/bundled_child.ts";
import type { PipedChild } from "../port/_fixture/piped_child.ts";

interface Service extends PipedChild {
  readonly chunks: Json[];
  /** Resolves when the next chunk is there. */
  nextChunk(): Promise<void>;
}

function start(file: string): Service {
  const chunks: Json[] = [];
  let heard: PromiseWithResolvers<void> = Promise.withResolvers();
  const child = startChild(file, {
    ask: () => {
      throw new Fault("refused", "Cannot serve a model: it may ask for nothing");
    },
    tell: (_op, body) => {
      chunks.push(body);
      heard.resolve();
      heard = Promise.withResolvers();
    },
  });
  return Object.assign(child, { chunks, nextChunk: () => heard.promise });
}

const provenance = { origin: "person", colour: "BLUE", label: "internal" };
const infer = (id: number, content: string): Json => ({
  id,
  request: {
    messages: [{ role: "user", content, provenance }],
    tools: [],
    maxTokens: 100,
    nonce: "n",
  },
});
const openBody = (text: string): Json => ({
  kind: "scripted",
  ref: "scripted:s.yaml",
  config: JSON.stringify({ file: "s.yaml", text }),
});

Deno.test("a real model service without any permission streams, cancels and refuses", async (t) => {
  await using built = await bundled(new URL("./main.ts", import.meta.url));

  await t.step("text comes in chunks before the answer", async () => {
    await using service = start(built.file);
    await service.port.ask(
      "open",
      openBody("scenario: x\nstream: { chunkChars: 2, delayMs: 1 }\nturns: [{ say: hello }]"),
    );
    const answer = await service.port.ask("infer", infer(1, "go"));
    assert.deepEqual(service.chunks, [
      { id: 1, chunk: { textDelta: "he" } },
      { id: 1, chunk: { textDelta: "ll" } },
      { id: 1, chunk: { textDelta: "o" } },
    ]);
    assert.match(JSON.stringify(answer), /"content":"hello"/);
  });

  await t.step("cancel in the middle of a stream ends it; another inference goes on", async () => {
    await using service = start(built.file);
    await service.port.ask(
      "open",
      openBody(`scenario: x
turns:
  - { when: { user: slow }, say: aaaaaaaaaa, stream: { chunkChars: 1, delayMs: 20000, firstMs: 1 } }
  - { when: { user: stream }, say: abc, hang: true, stream: { chunkChars: 1 } }
  - { when: { always: true }, say: fine }
`),
    );
    const streaming = service.port.ask("infer", infer(1, "stream"));
    const slow = service.port.ask("infer", infer(2, "slow"));
    await service.nextChunk();
    assert.match(JSON.stringify(await service.port.ask("infer", infer(3, "quick"))), /"fine"/);
    service.port.tell("cancel", { id: 1 });
    service.port.tell("cancel", { id: 2 });
    for (const each of [streaming, slow]) {
      await assert.rejects(each, (error) => error instanceof Fault && error.code === "cancelled");
    }
  });

  await t.step("a wrong file is refused with file, line and reason", async () => {
    await using service = start(built.file);
    await assert.rejects(
      service.port.ask("open", openBody("scenario: x\nturns:\n  - sya: a")),
      (error) =>
        error instanceof Fault && error.code === "invalidInput" &&
        error.message === 'Cannot read scenario: s.yaml:3:5: unknown key "sya" in turns[1]',
    );
  });

  await t.step("it ends by itself, with 0, when the kernel hangs up", async () => {
    await using service = start(built.file);
    await service.port.ask("open", openBody("scenario: x\nturns: [{ say: a }]"));
    assert.equal(await service.hangUp(), 0);
  });
});
