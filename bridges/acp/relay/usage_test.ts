import { deepEqual, equal, ok } from "node:assert/strict";
import type { Json } from "../../../contracts/base/json.ts";
import { bounded, inferenceIn, makeUsageReader, usageIn } from "./usage.ts";

Deno.test("tokens are read in the answers of each wire, what a cache had among the input", () => {
  deepEqual(usageIn({ usage: { input_tokens: 3, cache_read_input_tokens: 4, output_tokens: 1 } }), {
    ...{ input: 7, output: 1, cacheRead: 4, cacheWrite: 0 },
  });
  equal(usageIn({ type: "message_start", message: { usage: { input_tokens: 5 } } })?.input, 5);
  deepEqual(
    usageIn({
      response: {
        usage: { input_tokens: 9, input_tokens_details: { cached_tokens: 8 }, output_tokens: 2 },
      },
    }),
    { input: 9, output: 2, cacheRead: 8, cacheWrite: 0 },
  );
  equal(usageIn({ usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 1 } })?.output, 1);
  equal(usageIn({ type: "delta" }), undefined);
});

Deno.test("a stream that is cut, and one that says nothing, count as far as they were heard", () => {
  const cut = makeUsageReader({ input: 40 });
  cut.take('data: {"message":{"usage":{"input_tokens":30}}}\n\ndata: {"delta":"a"}\n\nda');
  deepEqual(cut.used(), { input: 30, output: 2, cacheRead: 0, cacheWrite: 0 });
  const silent = makeUsageReader({ input: 40 });
  silent.take('{"content":"twelve chars"}');
  equal(silent.used().input, 40);
  ok(silent.used().output > 0);
  // In two pieces, within a line.
  const whole = makeUsageReader({ input: 1 });
  whole.take('data: {"usage":{"prompt_tok');
  whole.take('ens":11,"completion_tokens":3}}\n\ndata: [DONE]\n\n');
  deepEqual([whole.used().input, whole.used().output], [11, 3]);
});

Deno.test("a request says its model and its bound; lists and counts are no inference", () => {
  const body = {
    model: "m",
    max_tokens: 50,
    messages: [{ role: "user", content: "x".repeat(400) }],
  };
  const found = inferenceIn("anthropic", "/v1/messages", body);
  deepEqual([found?.model, found?.maxTokens], ["m", 50]);
  ok((found?.input ?? 0) >= 100);
  equal(inferenceIn("anthropic", "/v1/messages/count_tokens", body), undefined);
  equal(inferenceIn("openai", "/v1/models", undefined), undefined);
  const gemini = { generationConfig: { maxOutputTokens: 7 } };
  const path = "/v1beta/models/g-2:streamGenerateContent";
  deepEqual(
    [inferenceIn("gemini", path, gemini)?.model, inferenceIn("gemini", path, gemini)?.maxTokens],
    ["g-2", 7],
  );
  // A picture is not counted by its letters.
  const image = { content: [{ type: "image", source: { data: "A".repeat(1_000_000) } }] };
  ok((inferenceIn("anthropic", "/v1/messages", image)?.input ?? 1e9) < 2_000);
});

Deno.test("an answer is bounded by what is left, in the words of its wire, and only downwards", () => {
  const at = (maxTokens: number) => ({ maxTokens });
  equal(bounded("anthropic", "/v1/messages", { body: { max_tokens: 5 }, ...at(9) }), undefined);
  equal(
    bounded("anthropic", "/v1/messages", { body: { max_tokens: 50 }, ...at(9) })?.["max_tokens"],
    9,
  );
  equal(bounded("openai", "/v1/responses", { body: {}, ...at(9) })?.["max_output_tokens"], 9);
  const chat = bounded("openai", "/v1/chat/completions", {
    ...{ body: { stream: true, max_tokens: 50 } },
    ...at(9),
  });
  deepEqual(chat, { stream: true, max_tokens: 9, stream_options: { include_usage: true } });
  deepEqual(
    bounded("gemini", "/x", { body: { generationConfig: { topK: 1 } }, ...at(9) }),
    { generationConfig: { topK: 1, maxOutputTokens: 9 } },
  );
});

Deno.test("a long text without spaces is counted by its letters, a picture is none where a call holds it", () => {
  const tokens = (body: Json): number => inferenceIn("openai", "/v1/responses", body)?.input ?? 0;
  const long = "A".repeat(1_000_000);
  const data = `data:image/png;base64,${long}`;
  for (
    const body of [
      { input: [{ content: long }] },
      { instructions: data },
      {
        input: [{
          content: [{ image_url: `data:image/png;base64,${"one word ".repeat(100_000)}` }],
        }],
      },
      { input: [{ type: "function_call", arguments: { image_url: data } }] },
      { content: [{ type: "document", source: { data: long } }] },
      { parts: [{ inlineData: { mimeType: "text/plain", data: long } }] },
    ]
  ) ok(tokens(body) > 200_000, JSON.stringify(body).slice(0, 80));
  for (
    const body of [
      { input: [{ content: [{ type: "input_image", image_url: data }] }] },
      { messages: [{ content: [{ type: "image_url", image_url: { url: data } }] }] },
      { parts: [{ inlineData: { mimeType: "image/png", data: long } }] },
    ]
  ) ok(tokens(body) >= 1_600 && tokens(body) < 2_000, JSON.stringify(body).slice(0, 80));
});

Deno.test("of two bounds the larger one is read, and both are lowered; only a path's end counts tokens", () => {
  const chat = "/v1/chat/completions";
  const body = { max_completion_tokens: 5, max_tokens: 5_000 };
  equal(inferenceIn("openai", chat, body)?.maxTokens, 5_000);
  deepEqual(bounded("openai", chat, { body, maxTokens: 9 }), {
    ...{ max_completion_tokens: 9, max_tokens: 9 },
  });
  const named = "/v1beta/models/count_tokens:generateContent";
  equal(inferenceIn("gemini", named, {})?.model, "count_tokens");
  equal(inferenceIn("gemini", "/v1beta/models/g:countTokens", {}), undefined);
});

Deno.test("an answer that is no stream is computed whole, so it is counted where it is cut", () => {
  const whole = (path: string, body: Json) => inferenceIn("gemini", path, body)?.whole;
  equal(whole("/v1beta/models/g:generateContent", {}), true);
  equal(whole("/v1beta/models/g:streamGenerateContent", {}), false);
  equal(inferenceIn("openai", "/v1/responses", { stream: true })?.whole, false);
  const cut = makeUsageReader({ input: 4 });
  cut.take("{");
  deepEqual([cut.used(500).output, cut.used().output], [500, 1]);
});
