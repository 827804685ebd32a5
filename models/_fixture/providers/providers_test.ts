import assert from "node:assert/strict";
import {
  ANTHROPIC_ERRORS,
  ANTHROPIC_KEY,
  inPieces,
  OPENAI_KEY,
  type OpenaiVariant,
  serveAnthropic,
  serveCut,
  serveGigabyte,
  serveOllama,
  serveOpenai,
  serveSlow,
} from "./mod.ts";

type Body = Record<string, unknown>;

const post = (url: string, body: Body, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json", ...headers },
  });

const claude = {
  "x-api-key": ANTHROPIC_KEY,
  "anthropic-version": "2023-06-01",
};
const hello: Body = {
  model: "m",
  max_tokens: 10,
  stream: true,
  messages: [{ role: "user", content: "hello" }],
};
const used = { role: "assistant", content: [{ type: "tool_use", id: "a", name: "x", input: {} }] };
const result = { type: "tool_result", tool_use_id: "a", content: "ok" };
const tools = [{ name: "x", input_schema: { type: "object" } }];

Deno.test("the Anthropic server streams text and a call as its documentation shows them", async () => {
  await using server = serveAnthropic({
    answers: [{
      thoughts: ["hm"],
      text: ["Hel", "lo"],
      calls: [{ name: "x", pieces: inPieces('{"a":1}', 3) }],
    }],
  });
  const response = await post(`${server.url}/messages`, hello, claude);
  const events = (await response.text()).trim().split("\n\n").map((event) => {
    const [name = "", data = ""] = event.split("\n");
    const body = JSON.parse(data.slice("data: ".length));
    assert.equal(name, `event: ${body.type}`);
    return body;
  });
  assert.equal(events[0].message.usage.input_tokens, 11);
  assert.deepEqual(
    events.map(({ type }) => type).filter((type) => type !== "content_block_delta"),
    [
      "message_start",
      "ping",
      ...new Array(3).fill(["content_block_start", "content_block_stop"]).flat(),
      "message_delta",
      "message_stop",
    ],
  );
  const partial = events.map(({ delta }) => delta?.partial_json ?? "").join("");
  assert.deepEqual(JSON.parse(partial), { a: 1 });
  assert.equal(events.at(-2).delta.stop_reason, "tool_use");
  assert.equal(server.waiting(), 0);
});

Deno.test("the Anthropic server refuses what the provider refuses, in its words", async () => {
  await using server = serveAnthropic({ model: "m", maxTokens: 100 });
  const cases: readonly (readonly [RegExp, Body, Record<string, string>?])[] = [
    [/x-api-key header is required/, hello, {}],
    [/invalid x-api-key/, hello, { ...claude, "x-api-key": "sk-wrong" }],
    [/anthropic-version/, hello, { "x-api-key": ANTHROPIC_KEY }],
    [/model: other/, { ...hello, model: "other" }],
    [/colour: Extra inputs/, { ...hello, colour: "BLUE" }],
    [/max_tokens: 101 > 100/, { ...hello, max_tokens: 101 }],
    [/Unexpected role "system"/, { ...hello, messages: [{ role: "system", content: "x" }] }],
    [/first message/, { ...hello, messages: [{ role: "assistant", content: "x" }] }],
    [/must be non-empty/, { ...hello, messages: [{ role: "user", content: "" }] }],
    [/match pattern/, { ...hello, tools: [{ name: "a.b", input_schema: { type: "object" } }] }],
    [/without `tool_result`/, {
      ...hello,
      tools,
      messages: [{ role: "user", content: "x" }, used, { role: "user", content: "y" }],
    }],
    [/must come first/, {
      ...hello,
      tools,
      messages: [{ role: "user", content: "x" }, used, {
        role: "user",
        content: [{ type: "text", text: "y" }, result],
      }],
    }],
    [/unexpected `tool_use_id`/, { ...hello, messages: [{ role: "user", content: [result] }] }],
    [/must define tools/, {
      ...hello,
      messages: [{ role: "user", content: "x" }, used, { role: "user", content: [result] }],
    }],
  ];
  for (const [words, body, headers = claude] of cases) {
    const response = await post(`${server.url}/messages`, body, headers);
    assert.ok(response.status >= 400, String(words));
    const { type, error } = await response.json();
    assert.equal(type, "error");
    assert.match(error.message, words);
  }
  server.next(ANTHROPIC_ERRORS.rateLimit(3), { text: ["good"] });
  const limited = await post(`${server.url}/messages`, hello, claude);
  assert.equal(limited.headers.get("retry-after"), "3");
  await limited.body?.cancel();
  const good = await post(`${server.url}/messages`, {
    ...hello,
    tools,
    messages: [{ role: "user", content: "x" }, used, { role: "user", content: [result] }],
  }, claude);
  assert.match(await good.text(), /message_stop/);
});

Deno.test("each variant of the OpenAI server streams in its own way", async () => {
  const take = async (variant: OpenaiVariant): Promise<string> => {
    await using server = serveOpenai({
      variant,
      answers: [{ text: ["Hi"], calls: [{ name: "x", pieces: ["{", "}"] }] }],
    });
    const body: Body = { ...hello, stream_options: { include_usage: true } };
    const response = await post(`${server.url}/chat/completions`, body, {
      authorization: `Bearer ${OPENAI_KEY}`,
    });
    return await response.text();
  };
  const openai = await take("openai");
  assert.match(openai, /"choices":\[\],"usage":\{"prompt_tokens":11/);
  assert.match(openai, /data: \[DONE\]\n\n$/);
  assert.match(await take("openrouter"), /^: OPENROUTER PROCESSING\n\n/);
  const studio = await take("lmstudio");
  assert.match(studio, /"arguments":"\{\}"/);
  assert.doesNotMatch(studio, /prompt_tokens/);
  assert.match(await take("llamacpp"), /"content":null/);
  assert.match(await take("vllm"), /prompt_tokens/);
});

Deno.test("the OpenAI server refuses what the provider refuses, in its words", async () => {
  await using server = serveOpenai();
  const key = { authorization: `Bearer ${OPENAI_KEY}` };
  const call = { id: "c", type: "function", function: { name: "x", arguments: "{}" } };
  const calling = { role: "assistant", content: null, tool_calls: [call] };
  const schema = { type: "object", properties: { a: { type: "string" } } };
  const cases: readonly (readonly [RegExp, Body, Record<string, string>?])[] = [
    [/API key/, hello, { authorization: "Bearer sk-wrong" }],
    [/Unknown parameter: 'colour'/, { ...hello, colour: 1 }],
    [/preceeding message/, {
      ...hello,
      messages: [{ role: "tool", tool_call_id: "c", content: "" }],
    }],
    [/did not have response messages: c/, {
      ...hello,
      messages: [calling, { role: "user", content: "x" }],
    }],
    [/maximum length 40/, {
      ...hello,
      messages: [{ ...calling, tool_calls: [{ ...call, id: "c".repeat(41) }] }],
    }],
    [/does not match pattern/, {
      ...hello,
      tools: [{ type: "function", function: { name: "a.b", parameters: { type: "object" } } }],
    }],
    [/additionalProperties/, {
      ...hello,
      response_format: { type: "json_schema", json_schema: { name: "a", schema, strict: true } },
    }],
    [/Missing 'a'/, {
      ...hello,
      response_format: {
        type: "json_schema",
        json_schema: {
          name: "a",
          schema: { ...schema, additionalProperties: false },
          strict: true,
        },
      },
    }],
  ];
  for (const [words, body, headers = key] of cases) {
    const response = await post(`${server.url}/chat/completions`, body, headers);
    assert.ok(response.status >= 400, String(words));
    assert.match((await response.json()).error.message, words);
  }
});

Deno.test("the Ollama server streams lines, and refuses arguments that are text", async () => {
  await using server = serveOllama({
    answers: [{ text: ["Hi"], calls: [{ name: "x", pieces: ['{"a"', ":1}"] }] }],
  });
  const chat = { model: "tiny", messages: [{ role: "user", content: "x" }] };
  const lines = (await (await post(`${server.url}/api/chat`, chat)).text()).trim().split("\n");
  const parsed = lines.map((line) => JSON.parse(line));
  assert.equal(parsed[0].message.content, "Hi");
  assert.deepEqual(parsed[1].message.tool_calls[0].function.arguments, { a: 1 });
  assert.equal(parsed[2].done, true);
  const texts = {
    role: "assistant",
    content: "",
    tool_calls: [{ function: { name: "x", arguments: "{}" } }],
  };
  const refused = await post(`${server.url}/api/chat`, { ...chat, messages: [texts] });
  assert.match((await refused.json()).error, /cannot unmarshal string/);
  const missing = await post(`${server.url}/api/show`, { model: "none" });
  assert.equal(missing.status, 404);
  assert.match((await missing.json()).error, /model 'none' not found/);
});

Deno.test("a cut connection is an error to the client, and not an end", async () => {
  await using server = serveCut("ollama");
  const response = await post(`${server.url}/api/chat`, {});
  await assert.rejects(response.text());
});

Deno.test("the gigabyte is sent only as far as the client takes it", async () => {
  await using server = serveGigabyte("openai");
  const abort = new AbortController();
  const response = await fetch(server.url, { signal: abort.signal });
  const reader = response.body?.getReader();
  await reader?.read();
  const left = server.left();
  await reader?.cancel();
  await left;
  assert.ok(server.sent() < 64 * 1_048_576, String(server.sent()));
});

Deno.test("the slow server sends one byte, and goes on when the test says so", async () => {
  const silence = Promise.withResolvers<void>();
  await using server = serveSlow("anthropic", silence.promise);
  const response = await fetch(server.url);
  const reader = response.body?.getReader();
  assert.equal((await reader?.read())?.value?.length, 1);
  silence.resolve();
  assert.equal((await reader?.read())?.done, true);
});
