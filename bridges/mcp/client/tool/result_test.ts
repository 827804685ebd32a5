import assert from "node:assert/strict";
import type { Json } from "../../../../contracts/base/json.ts";
import { McpCallResult } from "../../../../contracts/wire/wire_mcp.ts";
import { MAX_RESULT_PARTS, MAX_RESULT_UNITS } from "../limits.ts";
import { promptResult, resourceResult, toolResult } from "./result.ts";

const text = (said: string): Json => ({ type: "text", text: said });

Deno.test("a result of every kind of part fits the contract", () => {
  const result = toolResult({
    content: [
      text("a"),
      { type: "image", mimeType: "image/png", data: "AAEC" },
      { type: "audio", mimeType: "audio/wav", data: "AAEC" },
      { type: "resource", resource: { uri: "a:b", text: "t", mimeType: "text/plain" } },
      { type: "resource", resource: { uri: "a:c", blob: "AAEC" } },
      { type: "resource_link", uri: "https://example.com", name: "far" },
    ],
  });
  assert.deepEqual(McpCallResult.parse(result), result);
  assert.deepEqual(result.parts.map(({ kind }) => kind), [
    ...["text", "blob", "blob", "resource", "blob", "link"],
  ]);
  assert.equal(result.cutBytes, 0);
});

Deno.test("mallory's parts that are none are left out, and counted", () => {
  const bad: readonly Json[] = [
    { type: "video", data: "AAEC" },
    { type: "image", mimeType: "image/png", data: "not base64!" },
    { type: "text" },
    { type: "resource", resource: { text: "without an address" } },
    { type: "resource", resource: { uri: "a:b" } },
    { type: "resource_link", uri: `https://${"x".repeat(5_000)}` },
    null,
    [text("nested")],
  ];
  for (const block of bad) {
    const { parts, cutBytes } = toolResult({ content: [block, text("kept")] });
    assert.deepEqual(parts, [{ kind: "text", text: "kept" }]);
    assert.ok(cutBytes > 0);
  }
  assert.deepEqual(toolResult({ content: "none" }).parts, []);
});

Deno.test("a result is bounded in units and in parts, and says how much was left out", () => {
  const long = "x".repeat(7_000_000);
  const two = toolResult({ content: [text(long), text(long)] });
  assert.equal(two.cutBytes, 14_000_000 - MAX_RESULT_UNITS);
  assert.deepEqual(McpCallResult.parse(two), two);
  const one = toolResult({ content: [text("x".repeat(9_000_000))] });
  assert.equal(one.cutBytes, 1_000_000);
  const many = toolResult({ content: Array(MAX_RESULT_PARTS + 5).fill(text("x")) });
  assert.equal(many.parts.length, MAX_RESULT_PARTS);
  assert.ok(many.cutBytes >= 5);
});

Deno.test("names and types are cut, not taken", () => {
  const { parts } = toolResult({
    content: [{
      type: "resource_link",
      uri: "a:b",
      name: "n".repeat(900),
      mimeType: "m".repeat(900),
    }],
  });
  const [link] = parts;
  assert.ok(link?.kind === "link" && link.name.length === 512 && link.mimeType?.length === 256);
});

Deno.test("a resource and a prompt become parts, the prompt's with their roles", () => {
  assert.deepEqual(
    resourceResult({ contents: [{ uri: "a:b", text: "t" }, { uri: "a:c", blob: "AA==" }] }),
    {
      isError: false,
      parts: [
        { kind: "resource", uri: "a:b", text: "t" },
        {
          kind: "blob",
          what: "resource",
          mimeType: "application/octet-stream",
          data: "AA==",
          uri: "a:c",
        },
      ],
      cutBytes: 0,
    },
  );
  const messages = [
    { role: "user", content: text("q") },
    { role: "assistant", content: text("a") },
    null,
  ];
  assert.deepEqual(
    promptResult({ messages }).parts.map((part) => part.kind === "text" && part.text),
    [
      ...["user:", "q", "assistant:", "a"],
    ],
  );
});
