import assert from "node:assert/strict";
import type { ChatMessage } from "../../../contracts/model/chat.ts";
import { CallId } from "../../../contracts/authority/ids.ts";
import {
  faultOf,
  hear,
  languageModelContract,
  requestOf,
  said,
  tool,
} from "../../_fixture/contract_suite.ts";
import {
  inBytes,
  nobody,
  OLLAMA_ERRORS,
  ollamaLine,
  serveOllama,
} from "../../_fixture/providers/mod.ts";
import { benchPowers, openAt, openBodyOf } from "./_fixture/bench.ts";
import { openOllama } from "./open.ts";

languageModelContract("ollama", async (answers) => {
  const server = serveOllama({ answers });
  return {
    model: await openAt(server.url),
    asked: () => server.asked,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
});

const provenance = { origin: "model", colour: "BLUE", label: "internal" } as const;
const tools = [tool("clock")];
const asking = [said("What time is it?")];
const called: readonly ChatMessage[] = [
  ...asking,
  {
    role: "assistant",
    content: "",
    toolCalls: [{ id: CallId.parse("call_1"), name: "clock", arguments: '{"path":"x"}' }],
    provenance,
  },
  {
    role: "tool",
    content: "noon",
    toolCallId: CallId.parse("call_1"),
    toolName: "clock",
    provenance: { ...provenance, origin: "tool" },
  },
];

Deno.test("alice's model says what /api/show says of it", async () => {
  await using server = serveOllama({ models: [{ name: "tiny:latest", contextTokens: 4_096 }] });
  const info = await (await openAt(server.url)).info();
  assert.equal(info.id, "ollama:tiny");
  assert.equal(info.arch, "llama");
  assert.equal(info.quantisation, "Q4_K_M");
  assert.equal(info.contextTokens, 4_096);
  assert.equal(info.supportsTools, true);
  assert.equal(info.remote, false);
});

Deno.test("a context that would fill the memory is taken only where the configuration says so", async () => {
  const models = [{ name: "tiny:latest", contextTokens: 131_072 }];
  await using server = serveOllama({ models, answers: [{ text: ["a"] }, { text: ["b"] }] });
  const model = await openAt(server.url);
  assert.equal((await model.info()).contextTokens, 16_384);
  const wide = await openAt(server.url, { contextTokens: 65_536 });
  await hear(model, requestOf(asking));
  await hear(wide, requestOf(asking));
  const sizes = server.asked.map(({ options }) => (options as { num_ctx: number }).num_ctx);
  assert.deepEqual(sizes, [16_384, 65_536]);
});

Deno.test("what the model's owner set as context holds", async () => {
  const show = {
    status: 200,
    body: {
      parameters: 'stop "<end>"\nnum_ctx    12000',
      template: "{{ .Tools }}",
      model_info: { "general.architecture": "q", "q.context_length": 40_000 },
    },
  };
  await using server = serveOllama({ others: [show] });
  const info = await (await openAt(server.url)).info();
  assert.equal(info.contextTokens, 12_000);
  // An older server lists no capabilities; the template names the tools.
  assert.equal(info.supportsTools, true);
});

Deno.test("a model that is not pulled is not found, with the command that pulls it", async () => {
  await using server = serveOllama();
  const fault = await faultOf(openAt(server.url, { model: "llama9" }));
  assert.equal(fault.code, "notFound");
  assert.equal(
    fault.message,
    'Cannot use model "llama9": Ollama does not have it; run `ollama pull llama9`',
  );
  assert.equal(server.received.length, 1);
});

Deno.test("a model that was removed meanwhile is not found either", async () => {
  await using server = serveOllama();
  const model = await openAt(server.url);
  server.next({ status: 404, body: { error: "model 'tiny' not found" } });
  const fault = await faultOf(hear(model, requestOf(asking)));
  assert.equal(fault.code, "notFound");
  assert.match(fault.message, /ollama pull tiny/);
});

Deno.test("where no server runs the fault says so, after three tries", async () => {
  const powers = benchPowers();
  const fault = await faultOf(openAt(nobody(), {}, powers));
  assert.equal(fault.code, "upstream");
  assert.match(fault.message, /nothing listens at 127\.0\.0\.1:\d+/);
  assert.equal(powers.waited.length, 2);
});

Deno.test("every knob of a request reaches the server under Ollama's names", async () => {
  await using server = serveOllama({ answers: [{ text: ["{}"] }] });
  const model = await openAt(server.url);
  await hear(
    model,
    requestOf([{ ...said("Be brief."), role: "system" }, ...asking], {
      temperature: 0.5,
      seed: 7,
      stopSequences: ["END"],
      responseSchema: '{"type":"object"}',
      maxTokens: 99,
    }),
  );
  assert.deepEqual(server.asked, [{
    model: "tiny",
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "What time is it?" },
    ],
    stream: true,
    truncate: false,
    shift: false,
    format: { type: "object" },
    options: { num_ctx: 8_192, num_predict: 99, temperature: 0.5, seed: 7, stop: ["END"] },
  }]);
});

Deno.test("a schema beside tools is asked for in words, so that the model can still call", async () => {
  await using server = serveOllama({ answers: [{ text: ["{}"] }] });
  const model = await openAt(server.url);
  await hear(model, requestOf(asking, { tools, responseSchema: '{"type":"object"}' }));
  const [body] = server.asked;
  assert.equal(body?.["format"], undefined);
  assert.match(JSON.stringify(body?.["messages"]), /JSON of this schema: /);
});

Deno.test("a call goes back as an object, and its result by the tool's name", async () => {
  await using server = serveOllama({ answers: [{ text: ["Noon."] }] });
  await hear(await openAt(server.url), requestOf(called, { tools }));
  assert.deepEqual((server.asked[0]?.["messages"] as readonly unknown[]).slice(1), [
    {
      role: "assistant",
      content: "",
      tool_calls: [{ function: { name: "clock", arguments: { path: "x" } } }],
    },
    { role: "tool", tool_name: "clock", content: "noon" },
  ]);
});

Deno.test("ids of calls are made here, also where the server gives the same again", async () => {
  await using server = serveOllama({ ids: true });
  const model = await openAt(server.url);
  const call = { id: "call_1", name: "clock", pieces: ['{"path":"y"}'] };
  server.next({ calls: [call, call] });
  const { response } = await hear(model, requestOf(called, { tools }));
  const ids = (response.message.toolCalls ?? []).map(({ id }) => id);
  assert.deepEqual(ids, ["call_2", "call_3"]);
});

Deno.test("thoughts are the rationale and not the answer, and tokens are the server's count", async () => {
  await using server = serveOllama({
    answers: [{ thoughts: ["Hm", "m."], text: ["Yes."], usage: { input: 42, output: 5 } }],
  });
  const { response, rationale } = await hear(await openAt(server.url), requestOf(asking));
  assert.equal(rationale, "Hmm.");
  assert.equal(response.message.content, "Yes.");
  assert.deepEqual(response.usage, { inputTokens: 42, outputTokens: 5 });
});

Deno.test("characters that the network splits come whole, at each size of a piece", async () => {
  const text = "naïve 日本語 👩‍🚀";
  const line = ollamaLine({ message: { role: "assistant", content: text }, done: false });
  const end = ollamaLine({ message: { content: "" }, done: true, done_reason: "stop" });
  for (const size of [1, 2, 3, 7]) {
    await using server = serveOllama({ answers: [{ raw: inBytes(line + end, size) }] });
    const heard = await hear(await openAt(server.url), requestOf(asking));
    assert.equal(heard.text, text);
  }
});

Deno.test("a conversation that is too long is a contextOverflow, in each wording of the server", async () => {
  const wordings = [OLLAMA_ERRORS.tooLong, OLLAMA_ERRORS.tooLongPlain, {
    status: 400,
    body: { error: "the prompt is longer than the context length currently available" },
  }];
  for (const answer of wordings) {
    await using server = serveOllama({ answers: [answer] });
    const fault = await faultOf(hear(await openAt(server.url), requestOf(asking)));
    assert.equal(fault.code, "contextOverflow", fault.message);
    assert.equal(server.asked.length, 1);
  }
});

Deno.test("a busy server is tried again; one without memory says so", async () => {
  await using server = serveOllama({ answers: [OLLAMA_ERRORS.busy, { text: ["Noon."] }] });
  const model = await openAt(server.url);
  assert.equal((await hear(model, requestOf(asking))).text, "Noon.");
  server.next(OLLAMA_ERRORS.noMemory, OLLAMA_ERRORS.noMemory, OLLAMA_ERRORS.noMemory);
  const fault = await faultOf(hear(model, requestOf(asking)));
  assert.equal(fault.code, "upstream");
  assert.match(fault.message, /requires more system memory/);
});

Deno.test("an error in the midst of the stream is upstream, and is not tried again", async () => {
  await using server = serveOllama({
    answers: [
      { text: ["Half"], breaks: { type: "", message: "the runner ended" } },
      { text: ["Never asked for."] },
    ],
  });
  const fault = await faultOf(hear(await openAt(server.url), requestOf(asking)));
  assert.equal(fault.code, "upstream");
  assert.match(fault.message, /the runner ended/);
  assert.equal(server.waiting(), 1);
});

Deno.test("a key for a proxy before the server is sent, and a wrong one is refused plainly", async () => {
  await using server = serveOllama({ key: "right-key-of-alice", answers: [{ text: ["Noon."] }] });
  const open = openBodyOf(server.url);
  const credential = (key: string) => ({ header: "authorization", value: `Bearer ${key}` });
  const right = await openOllama(
    { ...open, credential: credential("right-key-of-alice") },
    benchPowers(),
  );
  assert.equal((await hear(right, requestOf(asking))).text, "Noon.");
  const wrong = openOllama(
    { ...open, credential: credential("wrong-key-of-mallory") },
    benchPowers(),
  );
  const fault = await faultOf(wrong);
  assert.equal(fault.code, "refused");
  assert.match(fault.message, /remit secret set/);
  assert.doesNotMatch(JSON.stringify([fault.message, String(fault.stack)]), /wrong-key/);
});

Deno.test("a model that takes no tools says so before anything is sent", async () => {
  const models = [{ name: "tiny:latest", capabilities: ["completion"] }];
  await using server = serveOllama({ models });
  const model = await openAt(server.url);
  assert.equal((await model.info()).supportsTools, false);
  const fault = await faultOf(hear(model, requestOf(asking, { tools })));
  assert.equal(fault.code, "invalidInput");
  assert.match(fault.message, /takes none.*`dialect: \[hermes\]`/);
  assert.equal(server.asked.length, 0);
});

Deno.test("with a dialect it is told of tools in words, and its calls are read from the text", async () => {
  const models = [{ name: "tiny:latest", capabilities: ["completion"] }];
  await using server = serveOllama({
    models,
    answers: [{
      text: [
        "<thi",
        "nk>Look.</think><tool_",
        'call>{"name":"clock","argu',
        'ments":{"path":"y"}}',
      ],
    }],
  });
  const model = await openAt(server.url, { dialect: ["hermes", "think"] });
  assert.equal((await model.info()).supportsTools, true);
  const { response, rationale, text } = await hear(model, requestOf(called, { tools }));
  assert.equal(rationale, "Look.");
  assert.equal(text, "");
  assert.deepEqual(response.message.toolCalls, [
    { id: "call_2", name: "clock", arguments: '{"path":"y"}' },
  ]);
  assert.equal(response.finishReason, "toolCalls");
  const [body] = server.asked;
  assert.equal(body?.["tools"], undefined);
  assert.deepEqual(
    (body?.["messages"] as readonly { role: string; content: string }[]).map(({ role }) => role),
    ["system", "user", "assistant", "user"],
  );
});

Deno.test("without a dialect a call in the text is not made, and the model is told", async () => {
  const text = '<tool_call>{"name":"clock","arguments":{}}</tool_call>';
  await using server = serveOllama({ answers: [{ text: [text] }] });
  const { response } = await hear(await openAt(server.url), requestOf(asking, { tools }));
  assert.equal(response.message.content, text);
  assert.equal(response.message.toolCalls?.[0]?.unmade?.kind, "unreadable");
});

Deno.test("a recording is played without a server, byte for byte, and another request is a conflict", async () => {
  const lines: string[] = [];
  let recorded = "";
  let url = "";
  {
    await using server = serveOllama({
      models: [{ name: "tiny:latest", contextTokens: 5_000 }],
      answers: [{ text: ["It is ", "noon."] }],
    });
    url = server.url;
    const model = await openAt(url, { record: true });
    const response = await model.infer(requestOf(asking), {
      signal: new AbortController().signal,
      onWire: (exchange) => lines.push(exchange),
    });
    recorded = response.message.content;
  }
  const replay = lines.join("\n");
  const played = await openAt(url, { replay });
  assert.equal((await hear(played, requestOf(asking))).text, recorded);
  const other = await openAt(url, { replay });
  const fault = await faultOf(hear(other, requestOf([said("And in Lisbon?")])));
  assert.equal(fault.code, "conflict");
});
