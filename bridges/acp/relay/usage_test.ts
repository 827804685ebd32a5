import { deepEqual, equal, ok } from "node:assert/strict";
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
