import { faultOf, hear, requestOf, said, tool } from "../_fixture/contract_suite.ts";
import { accepts, readGrammar } from "../grammar/_fixture/gbnf_reader.ts";
import { makeGgufModel, makeInTurn } from "./gguf_model.ts";
import type { Engine, EngineRequest } from "./engine.ts";
import { Fault } from "../../contracts/base/fault.ts";
import assert from "node:assert/strict";

/** An engine that answers nothing and remembers which grammars it was given. */
function makeEngine(): Engine & { readonly grammars: string[] } {
  const grammars: string[] = [];
  return {
    grammars,
    complete: ({ grammar }) => {
      grammars.push(grammar ?? "");
      return Promise.resolve({ why: "stop", inputTokens: 1, outputTokens: 0, reusedTokens: 0 });
    },
    embed: () => Promise.reject(new Error("no vectors here")),
    count: (text) => Promise.resolve(text.length),
    ended: new Promise(() => undefined),
  };
}

const PARTS: Parameters<typeof makeGgufModel>[1] = {
  backend: "gguf-test",
  settings: { name: "tiny", weights: "ab".repeat(32), bytes: 1 },
  header: {
    ...{
      architecture: "tiny",
      name: undefined,
      licence: undefined,
      quantisation: undefined,
      contextTokens: 4_096,
    },
    ...{ width: 8, layers: 1, kept: 8, chatTemplate: undefined, controls: [], end: undefined },
    ...{ tensors: [] },
  },
};

Deno.test("a text that a tool does not bound is a page of a file, under a grammar that is no longer for it", async () => {
  const engine = makeEngine();
  const model = makeGgufModel(engine, PARTS);
  const { id } = await model.info();
  assert.equal(id, `sha256:${"ab".repeat(32)}+tiny`, "the whole digest: a part of it can be met");
  const paramSchema =
    '{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}';
  const note = {
    ...{ name: "note", description: "", interfaceId: "N", methodName: "note", paramSchema },
    ...{ permission: "auto", category: "read" },
  };
  const infer = (more: object) =>
    model.infer(requestOf([said("write")], more), { signal: new AbortController().signal });
  await infer({ tools: [note] });
  const [grammar = ""] = engine.grammars;
  const call = (length: number): string =>
    `<tool_call>{"name":"note","arguments":{"text":"${"x".repeat(length)}"}}</tool_call>`;
  assert.ok(accepts(readGrammar(grammar), call(4_000)));
  assert.ok(!accepts(readGrammar(grammar), call(4_097)));
  assert.ok(grammar.length < 4_000, `${grammar.length} characters`);
  await infer({ responseSchema: '{"type":"string"}' });
  const answer = readGrammar(engine.grammars[1] ?? "");
  assert.ok(
    accepts(answer, `"${"x".repeat(4_000)}"`) && !accepts(answer, `"${"x".repeat(4_097)}"`),
  );
});

/** An engine that says one thing freely, and another one under a grammar that lets nothing but calls through. */
function makeSpeaker(free: string, forced: string): Engine & { readonly asked: EngineRequest[] } {
  const asked: EngineRequest[] = [];
  return {
    ...makeEngine(),
    asked,
    complete(request, { onText, onRead }) {
      asked.push(request);
      onRead?.({ done: 100, total: 100 });
      const { grammar } = request;
      const only = grammar !== undefined && !accepts(readGrammar(grammar), "words");
      for (const text of (only ? forced : free).match(/.{1,9}/gs) ?? []) onText(text);
      return Promise.resolve({
        ...{ why: "stop", inputTokens: 100, outputTokens: 10, reusedTokens: only ? 99 : 0 },
      });
    },
  };
}
const CALL = '<tool_call>{"name":"file_read","arguments":{"path":"a"}}</tool_call>';
const many = ["file_read", "file_list", "wiki_search"].map(tool);

Deno.test("an answer that claims a call is tried once more as one call, of the tool that it names", async () => {
  const engine = makeSpeaker("I will use `file_read` to read a.", CALL);
  const model = makeGgufModel(engine, PARTS);
  const { response, text } = await hear(model, requestOf([said("What is in a?")], { tools: many }));
  assert.equal(text, "I will use `file_read` to read a.");
  assert.deepEqual(response.message.toolCalls?.map(({ name }) => name), ["file_read"]);
  assert.equal(response.finishReason, "toolCalls");
  assert.deepEqual(response.usage, { inputTokens: 100, outputTokens: 20 });
  const grammar = readGrammar(engine.asked[1]?.grammar ?? "");
  assert.ok(accepts(grammar, CALL));
  assert.ok(!accepts(grammar, `Well. ${CALL}`) && !accepts(grammar, CALL.replace("read", "list")));
  assert.deepEqual(
    engine.asked[1]?.messages,
    engine.asked[0]?.messages,
    "what was read is not read again",
  );
});

Deno.test("no call is asked for where none was due, and one that does not come leaves the answer", async () => {
  const { provenance } = said("");
  const result = { role: "tool" as const, content: "done", toolName: "file_read", provenance };
  const none = [
    // Speaks of several, of none, of what it has just done.
    ["I have file_read, file_list and wiki_search.", [said("What can you do?")]],
    ["Paris.", [said("The capital of France?")]],
    ["I used file_read: it says done.", [said("Read a."), result]],
  ] as const;
  for (const [answer, messages] of none) {
    const engine = makeSpeaker(answer, CALL);
    const { response } = await hear(
      makeGgufModel(engine, PARTS),
      requestOf(messages, { tools: many }),
    );
    assert.deepEqual([engine.asked.length, response.message.content], [1, answer]);
  }
  const cut = makeSpeaker("I use file_read.", CALL.slice(0, 40));
  const { response } = await hear(
    makeGgufModel(cut, PARTS),
    requestOf([said("Read a.")], { tools: many }),
  );
  assert.deepEqual([cut.asked.length, response.message.toolCalls], [2, undefined]);
  const first = makeSpeaker("It is a folder.", CALL);
  const settings = { ...PARTS.settings, callFirst: true };
  const asked = requestOf([said("What is here?")], { tools: many });
  const called = await hear(makeGgufModel(first, { ...PARTS, settings }), asked);
  assert.equal(called.response.message.toolCalls?.length, 1);
});

Deno.test("a model that goes round in circles tells what it used, and is asked for its call where one was due", async () => {
  const circles = "check_note ".repeat(400);
  const model = makeGgufModel(makeSpeaker(circles, CALL), PARTS);
  const fault = await faultOf(hear(model, requestOf([said("Say it.")])));
  assert.match(fault.message, /repeats itself/);
  const usage = fault.detail?.["usage"] as { inputTokens: number; outputTokens: number };
  assert.ok(usage.inputTokens === 100 && usage.outputTokens > 50, JSON.stringify(usage));
  const { response } = await hear(
    model,
    requestOf([said("Use file_read on a.")], { tools: many }),
  );
  assert.equal(response.message.toolCalls?.length, 1);
});

const never = new AbortController().signal;

Deno.test("work runs one at a time, in the order of asking, also after work that failed", async () => {
  const turn = makeInTurn();
  const log: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = turn.run(async () => {
    log.push("first");
    await gate.promise;
    log.push("first ends");
    throw new TypeError("broken");
  }, never);
  const second = turn.run(() => Promise.resolve(log.push("second")), never);
  gate.resolve();
  await assert.rejects(first, TypeError);
  await second;
  assert.deepEqual(log, ["first", "first ends", "second"]);
});

Deno.test("who is cancelled is told at once; the next begins only when the work has really ended", async () => {
  const turn = makeInTurn();
  const abort = new AbortController();
  const gate = Promise.withResolvers<void>();
  const log: string[] = [];
  const running = turn.run(() => gate.promise, abort.signal);
  const next = turn.run(() => Promise.resolve(log.push("next")), never);
  abort.abort();
  await assert.rejects(running, (error) => error instanceof Fault && error.code === "cancelled");
  assert.deepEqual(log, []);
  gate.resolve();
  await next;
  assert.deepEqual(log, ["next"]);
});

Deno.test("what is cancelled while it waits never begins", async () => {
  const turn = makeInTurn();
  const abort = new AbortController();
  const gate = Promise.withResolvers<void>();
  let began = false;
  const running = turn.run(() => gate.promise, never);
  const waiting = turn.run(() => {
    began = true;
    return Promise.resolve();
  }, abort.signal);
  abort.abort();
  await assert.rejects(waiting, Fault);
  gate.resolve();
  await running;
  await turn.run(() => Promise.resolve(), never);
  assert.equal(began, false);
});
