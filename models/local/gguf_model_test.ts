import assert from "node:assert/strict";
import { requestOf, said } from "../_fixture/contract_suite.ts";
import { accepts, readGrammar } from "../grammar/_fixture/gbnf_reader.ts";
import { makeGgufModel } from "./gguf_model.ts";
import type { Engine } from "./engine.ts";

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

Deno.test("a text that a tool does not bound is a page of a file, under a grammar that is no longer for it", async () => {
  const engine = makeEngine();
  const model = makeGgufModel(engine, {
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
  });
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
