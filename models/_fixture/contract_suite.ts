/**
 * The claims that every language model must meet, whatever its backend: the same for each.
 *
 * @example
 * ```ts ignore
 * languageModelContract("openai", async (answers) => {
 *   const server = serveOpenai({ answers });
 *   const model = await openOpenai(openBodyOf(server.url), powers);
 *   return { model, asked: () => server.asked, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
 * });
 * ```
 * @module
 */
import assert from "node:assert/strict";
import { Fault } from "../../contracts/base/fault.ts";
import { CallId } from "../../contracts/authority/ids.ts";
import { type LanguageModel, ModelInfo } from "../../contracts/model/model.ts";
import { faultOf, hear, provenance, requestOf, said, tool } from "./asking.ts";
import type { Said } from "./providers/script.ts";

export { faultOf, hear, type Heard, requestOf, said, tool } from "./asking.ts";

/** A model whose answers the test knows. */
export interface ContractBench extends AsyncDisposable {
  readonly model: LanguageModel;
  /** Requests that the provider received, parsed; absent: the backend has no provider. */
  readonly asked?: () => readonly unknown[];
}

/** Opens a model that gives `answers` in order; a model without them answers freely. */
export type OpenBench = (answers: readonly Said[]) => Promise<ContractBench>;

/** How much of the contract can be claimed. */
export interface ContractOptions {
  /**
   * The model answers freely (real weights): only the form of its answers is checked. `endless` opens a model that
   * never ends an answer by itself: a cancel may take its time.
   */
  readonly free?: { readonly endless: OpenBench };
}

/** Declares the tests of `name`. */
export function languageModelContract(
  name: string,
  open: OpenBench,
  options: ContractOptions = {},
): void {
  const claim = (
    what: string,
    answers: readonly Said[],
    check: (bench: ContractBench) => Promise<void>,
  ): void => {
    Deno.test(`${name}: ${what}`, async () => {
      await using bench = await open(answers);
      await check(bench);
    });
  };

  claim("it says what it is, always the same", [], async ({ model }) => {
    const info = ModelInfo.parse(await model.info());
    assert.deepEqual(await model.info(), info);
    assert.ok(info.outputTokens <= info.contextTokens);
  });
  claim("what is streamed is the message, and usage is counted", [
    { text: ["Good ", "morning", "."] },
  ], async ({ model }) => {
    const { response, text } = await hear(model, requestOf([said("Say good morning.")]));
    assert.equal(text, response.message.content);
    assert.equal(response.message.role, "assistant");
    assert.equal(response.message.provenance.origin, "model");
    assert.ok(response.usage.inputTokens > 0 && response.usage.outputTokens > 0);
    if (options.free) return;
    assert.equal(text, "Good morning.");
    assert.equal(response.finishReason, "stop");
  });
  claim("an inference that is cancelled before it begins does not begin", [], async ({ model }) => {
    const fault = await faultOf(hear(model, requestOf([said("Hello.")]), AbortSignal.abort()));
    assert.equal(fault.code, "cancelled");
  });
  claim("an answer within maxTokens says that it was cut", [
    { text: ["One two"], stop: "length" },
  ], async ({ model }) => {
    const { response } = await hear(model, requestOf([said("Count for ever.")], { maxTokens: 2 }));
    const reasons = options.free ? ["length", "stop", "toolCalls"] : ["length"];
    assert.ok(reasons.includes(response.finishReason), response.finishReason);
    if (options.free) assert.ok(response.usage.outputTokens <= 2);
  });
  claim("a response schema gives JSON", [
    { text: ['{"colour":', '"red"}'] },
  ], async ({ model }) => {
    const { response, text } = await hear(
      model,
      requestOf([said("Which colour?")], { responseSchema: JSON.stringify(COLOUR) }),
    );
    assert.equal(text, response.message.content);
    if (response.finishReason === "stop") {
      assert.match(JSON.parse(text).colour, /^(red|blue)$/);
    }
  });
  claim("two inferences at once do not mix", [{ text: ["same"] }, { text: ["same"] }], async (
    { model },
  ) => {
    const both = await Promise.all(
      ["one", "two"].map((text) => hear(model, requestOf([said(text)], { seed: 1 }))),
    );
    for (const { response, text } of both) assert.equal(text, response.message.content);
  });
  if (options.free === undefined) knownClaims(claim);
  else {
    freeClaims(claim);
    const { endless } = options.free;
    Deno.test(`${name}: cancelled in the midst of an answer it ends, and answers the next`, async () => {
      await using bench = await endless([]);
      await cancelledInTheMidst(bench);
    });
  }
}

const COLOUR = {
  type: "object",
  properties: { colour: { type: "string", enum: ["red", "blue"] } },
  required: ["colour"],
  additionalProperties: false,
};

type Claim = (
  what: string,
  answers: readonly Said[],
  check: (bench: ContractBench) => Promise<void>,
) => void;

function freeClaims(claim: Claim): void {
  claim("calls, where there are any, are of advertised tools and well-formed", [], async (
    { model },
  ) => {
    const tools = [tool("file_read"), tool("file_list")];
    const asking = requestOf([said("Read notes/plan.md.")], { tools, maxTokens: 200 });
    const { response, calls } = await hear(model, asking);
    for (const call of response.message.toolCalls ?? []) {
      assert.ok(tools.some((each) => each.name === call.name), call.name);
      assert.equal(calls.get(call.id)?.arguments, call.arguments);
      if (response.finishReason === "toolCalls") {
        assert.equal(typeof JSON.parse(call.arguments).path, "string");
      }
    }
  });
}

async function cancelledInTheMidst({ model }: ContractBench): Promise<void> {
  let last: unknown;
  // The model may reach the end of its context while the cancel is on its way, but not forty times.
  for (let n = 0; n < 40 && !(last instanceof Fault); n++) {
    const abort = new AbortController();
    const story = said(`Tell a long story of ${n} ships.`);
    last = await model.infer(requestOf([story], { maxTokens: 3_500 }), {
      signal: abort.signal,
      onChunk: () => abort.abort(),
    }).then(() => "answered", (error: unknown) => error);
  }
  assert.ok(last instanceof Fault && last.code === "cancelled", String(last));
  await hear(model, requestOf([said("Hello.")], { maxTokens: 8 }));
}

function knownClaims(claim: Claim): void {
  const tools = [tool("file_read"), tool("file_list")];

  claim("characters that were split on their way come whole", [
    { text: ["naïve ", "日本語", " 👩‍🚀 ", "e\u0301"] },
  ], async ({ model }) => {
    const { text } = await hear(model, requestOf([said("Say something.")]));
    assert.equal(text, "naïve 日本語 👩‍🚀 e\u0301");
  });
  claim("a call comes in pieces and is whole in the end", [
    { calls: [{ id: "call_a", name: "file_read", pieces: ['{"pa', 'th":"pl', 'an.md"}'] }] },
  ], async ({ model }) => {
    const { response, calls } = await hear(model, requestOf([said("Read.")], { tools }));
    const [call] = response.message.toolCalls ?? [];
    assert.ok(call !== undefined);
    assert.equal(call.name, "file_read");
    assert.deepEqual(JSON.parse(call.arguments), { path: "plan.md" });
    assert.deepEqual([...calls], [[call.id, { name: call.name, arguments: call.arguments }]]);
    assert.equal(response.finishReason, "toolCalls");
  });
  claim(
    "text may stand before calls, and several calls keep their order and have ids of their own",
    [
      {
        text: ["Let me look."],
        calls: [
          { id: "call_a", name: "file_read", pieces: ['{"path":"a"}'] },
          { id: "call_b", name: "file_list", pieces: ["{}"] },
          { id: "call_c", name: "file_read", pieces: ['{"path":', '"c"}'] },
        ],
      },
    ],
    async ({ model }) => {
      const { response, text, calls } = await hear(model, requestOf([said("Look.")], { tools }));
      assert.equal(text, "Let me look.");
      const made = response.message.toolCalls ?? [];
      assert.deepEqual(made.map((call) => call.name), ["file_read", "file_list", "file_read"]);
      assert.deepEqual(made.map((call) => JSON.parse(call.arguments)), [{ path: "a" }, {}, {
        path: "c",
      }]);
      assert.equal(new Set(made.map((call) => call.id)).size, 3);
      assert.equal(calls.size, 3);
    },
  );
  claim(
    "results, good and bad, are taken back",
    [{ text: ["There are two."] }],
    async ({ model }) => {
      const [a, b] = [CallId.parse("call_a"), CallId.parse("call_b#2")];
      const { text } = await hear(
        model,
        requestOf([
          { role: "system", content: "You are careful.", provenance },
          said("How many?"),
          {
            role: "assistant",
            content: "",
            toolCalls: [
              { id: a, name: "file_read", arguments: '{"path":"a"}' },
              { id: b, name: "file_list", arguments: "{}" },
            ],
            provenance: { ...provenance, origin: "model" },
          },
          {
            role: "tool",
            content: "one\ntwo",
            toolCallId: a,
            toolName: "file_read",
            provenance: { ...provenance, origin: "tool" },
          },
          {
            role: "tool",
            content: "refusedByPolicy: not that one",
            toolCallId: b,
            toolName: "file_list",
            provenance: { ...provenance, origin: "tool" },
          },
        ], { tools }),
      );
      assert.equal(text, "There are two.");
    },
  );
  claim("a request leaves nothing behind: the same one is the same to the provider", [
    { text: ["first"] },
    { text: ["between"] },
    { text: ["again"] },
  ], async ({ model, asked }) => {
    const request = requestOf([said("Who am I?")], { tools, seed: 7 });
    await hear(model, request);
    await hear(model, requestOf([said("My name is mallory. Remember it.")]));
    await hear(model, request);
    if (asked === undefined) return;
    const [first, between, again] = asked();
    assert.deepEqual(again, first);
    assert.notDeepEqual(between, first);
    assert.doesNotMatch(JSON.stringify(again), /mallory/);
  });
  claim("cancelled in the midst of an answer it ends, and answers the next", [
    { text: ["Once ", "upon ", new Promise(() => {})] },
    { text: ["Hello."] },
  ], async ({ model }) => {
    const abort = new AbortController();
    const going = model.infer(requestOf([said("Tell a story.")]), {
      signal: abort.signal,
      onChunk: () => abort.abort(),
    });
    assert.equal((await faultOf(going)).code, "cancelled");
    assert.equal((await hear(model, requestOf([said("Hello.")]))).text, "Hello.");
  });
}
