import assert from "node:assert/strict";
import { Fault } from "../../contracts/base/mod.ts";
import { findKey, noKey, readKey } from "./keys.ts";

const ANTHROPIC = { kind: "anthropic", url: "https://api.anthropic.com/v1" } as const;
const NOWHERE = { kind: "openai", url: "https://models.example/v1" } as const;
const env = (values: Readonly<Record<string, string>>) => (name: string) => values[name];
const kept = (name: string, origin: string) => ({ name, origin, header: "x-api-key", prefix: "" });

Deno.test("alice's kept secret comes before her environment, and that before nothing", () => {
  const keyed = env({ ANTHROPIC_API_KEY: "from-the-environment" });
  const mine = kept("mine", "https://api.anthropic.com");
  assert.deepEqual(findKey(ANTHROPIC, { kept: [mine], env: keyed }), {
    kind: "kept",
    secret: "mine",
  });
  assert.deepEqual(findKey(ANTHROPIC, { kept: [], env: keyed }), {
    kind: "environment",
    secret: "env-anthropic",
    variable: "ANTHROPIC_API_KEY",
  });
  assert.deepEqual(findKey(ANTHROPIC, { kept: [], env: env({}) }), { kind: "none", needed: true });
  assert.deepEqual(findKey(NOWHERE, { kept: [], env: env({}) }), { kind: "none", needed: false });
});

Deno.test("mallory's server is never given the key of a provider, whatever it is called", () => {
  const read: string[] = [];
  const watched = (name: string): string => {
    read.push(name);
    return "key-of-somebody-else";
  };
  for (
    const url of [
      "https://api.openai.com.mallory.example/v1",
      "http://api.openai.com/v1",
      "https://api.openai.com:8443/v1",
      "https://mallory.example/api.openai.com/v1",
    ]
  ) {
    assert.equal(findKey({ kind: "openai", url }, { kept: [], env: watched }).kind, "none", url);
  }
  const keys = read.filter((name) => name !== "LAL_HOST");
  assert.deepEqual(keys, [], "no variable with a key was even looked at");
  const others = findKey(
    { kind: "openai", url: "https://openrouter.ai/api/v1" },
    { kept: [], env: env({ OPENAI_API_KEY: "openai-key" }) },
  );
  assert.equal(others.kind, "none", "another provider's variable is not taken");
});

Deno.test("a secret that remit.yaml names must be there, and be this origin's", () => {
  const named = { ...ANTHROPIC, secret: "work" };
  assert.throws(
    () => findKey(named, { kept: [], env: env({}) }),
    /there is no secret "work"; keep it with "remit secret set work --origin https:\/\/api\.anthropic\.com/,
  );
  assert.throws(
    () => findKey(named, { kept: [kept("work", "https://other.example")], env: env({}) }),
    (error) => error instanceof Fault && error.code === "refused",
  );
  const both = [
    kept("work", "https://api.anthropic.com"),
    kept("home", "https://api.anthropic.com"),
  ];
  assert.throws(() => findKey(ANTHROPIC, { kept: both, env: env({}) }), /several secrets/);
  assert.equal(findKey(named, { kept: both, env: env({}) }).kind, "kept");
});

Deno.test("a key is lent for its own origin in its own header, and a bad one is not repeated", () => {
  const place = {
    kind: "environment",
    secret: "env-anthropic",
    variable: "ANTHROPIC_API_KEY",
  } as const;
  assert.deepEqual(readKey(ANTHROPIC, place, env({ ANTHROPIC_API_KEY: " sk-0123456789\n" })), {
    name: "env-anthropic",
    value: "sk-0123456789",
    origin: "https://api.anthropic.com",
    header: "x-api-key",
    prefix: "",
  });
  assert.throws(
    () => readKey(ANTHROPIC, place, env({ ANTHROPIC_API_KEY: "two\nlines-of-key" })),
    (error) => error instanceof Fault && !error.message.includes("lines-of-key"),
  );
});

Deno.test("without a key both ways to give one are named exactly", () => {
  const { message } = noKey("openai", "https://api.openai.com/v1");
  assert.match(
    message,
    /remit secret set openai --origin https:\/\/api\.openai\.com --header authorization --prefix 'Bearer '/,
  );
  assert.match(message, /export OPENAI_API_KEY=/);
});
