import assert from "node:assert/strict";
import { Fault } from "../../contracts/base/mod.ts";
import { parseModelName, providerRef } from "./name.ts";

Deno.test("alice names a model of each provider, with and without its URL", () => {
  assert.deepEqual(parseModelName("anthropic:claude-x"), {
    kind: "anthropic",
    model: "claude-x",
    url: "https://api.anthropic.com/v1",
  });
  assert.deepEqual(parseModelName("openai:meta/llama-3@8b@http://localhost:8000"), {
    kind: "openai",
    model: "meta/llama-3@8b",
    url: "http://localhost:8000/v1",
  });
  assert.deepEqual(parseModelName("ollama:qwen3:4b"), {
    kind: "ollama",
    model: "qwen3:4b",
    url: "http://127.0.0.1:11434",
  });
  assert.deepEqual(parseModelName("gguf:models/tiny.gguf"), {
    kind: "gguf",
    what: "models/tiny.gguf",
  });
  assert.deepEqual(parseModelName("tiny-1.5b"), { kind: "stored", name: "tiny-1.5b" });
});

Deno.test("a URL alone is of the provider that its host or path says", () => {
  const kindOf = (text: string): string => parseModelName(text).kind;
  assert.equal(kindOf("https://api.anthropic.com"), "anthropic");
  assert.equal(kindOf("http://localhost:8080/v1"), "openai");
  assert.equal(kindOf("http://127.0.0.1:11434"), "ollama");
  assert.equal(kindOf("https://anthropic.com.mallory.example"), "ollama", "a host like another");
  for (
    const [text, kind, url] of [
      ["https://api.openai.com", "openai", "https://api.openai.com/v1"],
      ["https://openrouter.ai/", "openai", "https://openrouter.ai/api/v1"],
      ["https://api.groq.com", "openai", "https://api.groq.com/openai/v1"],
      ["https://openrouter.ai/api/v1/", "openai", "https://openrouter.ai/api/v1"],
      ["https://api.anthropic.com", "anthropic", "https://api.anthropic.com/v1"],
      ["https://ollama.com", "ollama", "https://ollama.com"],
      ["https://ollama.com/v1", "openai", "https://ollama.com/v1"],
      [
        "https://api.openai.com.mallory.example",
        "ollama",
        "https://api.openai.com.mallory.example",
      ],
    ]
  ) assert.deepEqual(parseModelName(text ?? ""), { kind, model: undefined, url });
});

Deno.test("a key that stands in a reference is in no error about it", () => {
  for (
    const text of [
      "openai:m@https://bob:hunter2@h.example/v1",
      "https://bob:hunter2@h.example/v1",
      "https://h.example/v1?key=hunter2",
      "openai:m@https://h.example/v1#hunter2",
      "openai:m@ftp://bob:hunter2@h.example/",
    ]
  ) {
    assert.throws(() => parseModelName(text), (error) => {
      assert.ok(error instanceof Fault);
      assert.match(error.message, /h\.example/);
      return !error.message.includes("hunter2");
    }, text);
  }
});

Deno.test("an address without http is not taken for a part of the name: the text would go to the provider's own host", () => {
  const meant = [
    ...[
      "m@localhost",
      "m@localhost:8080/v1",
      "qwen@192.168.1.5:11434",
      "m@gpu-box:8000",
      "m@[::1]:1",
    ],
    ...["m@ftp://h.example/", "m@", "m@h.example:1/v1", "m@10.0.0.7"],
  ];
  for (const name of meant) {
    assert.throws(() => parseModelName(`openai:${name}`), /its URL must begin with https/, name);
  }
  for (
    const name of ["claude-3@20240620", "llama-3@8b", "@cf/meta/llama-3-8b", "qwen@v1.5:latest"]
  ) {
    const parsed = parseModelName(`openai:${name}`);
    assert.equal("model" in parsed && parsed.model, name);
  }
  const loud = parseModelName("openai:m@HTTP://LOCALHOST:8080");
  assert.equal("url" in loud && loud.url, "http://localhost:8080/v1");
});

Deno.test("one model has one name among the sinks, however its URL is written", () => {
  const refs = ["https://H.example/v1/", "https://h.example/v1", "https://h.example:443/v1"].map(
    (url) => {
      const name = parseModelName(`openai:m@${url}`);
      return "url" in name ? providerRef("openai", name.model ?? "", name.url) : "";
    },
  );
  assert.deepEqual([...new Set(refs)], ["openai:m@https://h.example/v1"]);
  const ollama = parseModelName("ollama:m@http://h.example:1/api/");
  assert.equal("url" in ollama && ollama.url, "http://h.example:1");
});

Deno.test("bob's references that mean nothing are refused with how they are written", () => {
  for (
    const text of [
      "",
      "claude:x",
      "anthropic:",
      "openai: spaces in it",
      "a name with spaces",
      "../weights.gguf",
      "openai:m@https://bob:key@h.example/v1",
      "openai:m@https://h.example/v1?key=1",
      "http://",
    ]
  ) {
    assert.throws(() => parseModelName(text), (error) => {
      assert.ok(error instanceof Fault, text);
      assert.equal(error.code, "invalidInput");
      assert.match(error.message, /^Cannot use model/);
      return true;
    });
  }
});
