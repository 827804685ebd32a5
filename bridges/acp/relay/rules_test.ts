import { equal, match } from "node:assert/strict";
import type { Json } from "../../../contracts/base/json.ts";
import type { ProviderWire } from "../../../contracts/tool/foreign_agent.ts";
import { judge } from "./rules.ts";

const asked = (wire: ProviderWire, target: string, body: Json, method = "POST"): string => {
  const judged = judge(wire, { method, target, body });
  return judged.kind === "pass" ? `pass ${judged.path}` : judged.why;
};

Deno.test("inference passes, with its own tools, pictures that it holds, and without the agent's key", () => {
  equal(
    asked("anthropic", "/v1/messages?beta=true", {
      model: "m",
      tools: [{ name: "Read", input_schema: { properties: { url: { type: "string" } } } }],
      messages: [{
        role: "assistant",
        content: [{ type: "tool_use", name: "Fetch", input: { url: "https://x.example" } }],
      }],
    }),
    "pass /v1/messages?beta=true",
  );
  equal(
    asked("openai", "/v1/responses", {
      store: false,
      tools: [{ type: "function", name: "shell", parameters: {} }],
      input: [{ content: [{ type: "input_image", image_url: "data:image/png;base64,AA" }] }],
    }),
    "pass /v1/responses",
  );
  equal(
    asked("gemini", "/v1beta/models/g-1:streamGenerateContent?alt=sse&key=mine", {
      tools: [{ functionDeclarations: [] }],
      contents: [],
    }),
    "pass /v1beta/models/g-1:streamGenerateContent?alt=sse",
  );
});

Deno.test("file stores, batches, other paths and other methods of a provider are refused", () => {
  for (
    const [wire, method, target] of [
      ["anthropic", "POST", "/v1/files"],
      ["anthropic", "POST", "/v1/messages/batches"],
      ["anthropic", "POST", "/v1/messages/../files"],
      ["anthropic", "GET", "/v1/files"],
      ["openai", "POST", "/v1/files"],
      ["openai", "DELETE", "/v1/models/m"],
      ["openai", "POST", "/v1/vector_stores"],
      ["openai", "POST", "//other.example/v1/responses"],
      ["openai", "POST", "https://other.example/v1/responses"],
      ["gemini", "POST", "/upload/v1beta/files"],
      ["gemini", "POST", "/v1beta/cachedContents"],
    ] as const
  ) match(asked(wire, target, {}, method), /not among the requests/, `${method} ${target}`);
  match(asked("openai", "/v1/responses?to=x", {}), /not passed on/);
});

Deno.test("tools that run at the provider, remote servers and sources by address are refused", () => {
  const cases: readonly (readonly [ProviderWire, string, Json])[] = [
    ["anthropic", "/v1/messages", { tools: [{ type: "web_fetch_20250910", name: "web_fetch" }] }],
    ["anthropic", "/v1/messages", { tools: [{ type: "code_execution_20250825", name: "x" }] }],
    ["anthropic", "/v1/messages", { mcp_servers: [{ url: "https://x.example" }] }],
    ["anthropic", "/v1/messages", {
      messages: [{
        content: [{ type: "image", source: { type: "url", url: "https://x.example" } }],
      }],
    }],
    ["anthropic", "/v1/messages", {
      messages: [{ content: [{ type: "document", source: { type: "file", file_id: "f" } }] }],
    }],
    ["anthropic", "/v1/messages", {
      messages: [{
        content: [{
          type: "tool_result",
          content: [{ type: "image", source: { type: "url", url: "https://x.example/?q=1" } }],
        }],
      }],
    }],
    ["openai", "/v1/responses", { tools: [{ type: "web_search" }] }],
    ["openai", "/v1/responses", { tools: [{ type: "mcp", server_url: "https://x.example" }] }],
    ["openai", "/v1/responses", { store: true }],
    ["openai", "/v1/responses", { previous_response_id: "r" }],
    ["openai", "/v1/responses", {
      input: [{ content: [{ type: "input_image", image_url: "https://x.example" }] }],
    }],
    ["openai", "/v1/responses", { input: [{ type: "item_reference", id: "i" }] }],
    ["openai", "/v1/chat/completions", {
      messages: [{ content: [{ type: "image_url", image_url: { url: "https://x.example" } }] }],
    }],
    ["gemini", "/v1beta/models/g:generateContent", { tools: [{ urlContext: {} }] }],
    ["gemini", "/v1beta/models/g:generateContent", {
      contents: [{ parts: [{ fileData: { fileUri: "https://x.example" } }] }],
    }],
    ["gemini", "/v1beta/models/g:generateContent", { cachedContent: "cachedContents/1" }],
    ["openai", "/v1/responses", "no object"],
  ];
  for (const [wire, target, body] of cases) {
    match(asked(wire, target, body), /^(?!pass)/, JSON.stringify(body));
  }
});

Deno.test("what would cost more than a request's bound says is refused: several answers, dearer tiers, bounds of other paths", () => {
  const messages = "/v1/messages", responses = "/v1/responses", chat = "/v1/chat/completions";
  const gemini = "/v1beta/models/g:generateContent";
  const cases: readonly (readonly [ProviderWire, string, Json])[] = [
    ["openai", chat, { n: 2 }],
    ["openai", chat, { n: "2" }],
    ["openai", chat, { best_of: 3 }],
    ["gemini", gemini, { generationConfig: { candidateCount: 8 } }],
    ["gemini", gemini, { generationConfig: { candidate_count: 8 } }],
    ["gemini", gemini, { generation_config: { maxOutputTokens: 8 } }],
    ["gemini", gemini, { generationConfig: { max_output_tokens: 8 } }],
    ["gemini", gemini, { generationConfig: { maxOutputTokens: "90000" } }],
    ["openai", responses, { service_tier: "priority" }],
    ["anthropic", messages, { speed: "fast" }],
    ["openai", responses, { max_output_tokens: 5, max_tokens: 9_000 }],
    ["openai", chat, { max_tokens: 5, max_output_tokens: 9_000 }],
    ["anthropic", messages, { max_tokens: 5, max_tokens_to_sample: 9_000 }],
    ["anthropic", messages, { max_tokens: 1.5 }],
  ];
  for (const [wire, target, body] of cases) {
    match(asked(wire, target, body), /^"\w+" /, JSON.stringify(body));
  }
  match(
    asked("openai", chat, { n: 1, service_tier: "auto", max_tokens: 5, best_of: null }),
    /^pass/,
  );
  match(asked("openai", responses, { service_tier: "default", max_output_tokens: 5 }), /^pass/);
  match(
    asked("gemini", gemini, { generationConfig: { candidateCount: 1, maxOutputTokens: 5 } }),
    /^pass/,
  );
});
