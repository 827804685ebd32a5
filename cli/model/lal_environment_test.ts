import assert from "node:assert/strict";
import { findKey } from "./keys.ts";
import { lalLimits, lalModel } from "./lal_environment.ts";

const env = (values: Readonly<Record<string, string>>) => (name: string) => values[name];
const LAL = { program: "lal" } as const;

Deno.test("variables of lal's own choose its model, and no other agent's", () => {
  const model = (values: Record<string, string>) => lalModel(LAL, env(values));
  assert.equal(model({}), undefined);
  assert.equal(model({ LAL_MODEL: "qwen3:4b" }), "ollama:qwen3:4b");
  assert.equal(model({ LAL_HOST: "http://10.0.0.5:11434" }), "ollama:qwen3@http://10.0.0.5:11434");
  assert.equal(
    model({ LAL_HOST: "http://127.0.0.1:8080/v1", LAL_MODEL: "tiny" }),
    "openai:tiny@http://127.0.0.1:8080/v1",
  );
  assert.equal(
    model({ LAL_HOST: "https://api.anthropic.com", LAL_MODEL: "large" }),
    "anthropic:large",
  );
  assert.throws(() => model({ LAL_HOST: "https://api.anthropic.com" }), /LAL_MODEL/);
  assert.equal(lalModel({}, env({ LAL_MODEL: "x" })), undefined);
  assert.equal(lalModel(undefined, env({ LAL_MODEL: "x" })), undefined);
});

Deno.test("LAL_MAX_TOKENS only lowers what an answer may have", () => {
  const most = (text: string, limits = {}) => lalLimits(LAL, env({ LAL_MAX_TOKENS: text }), limits);
  assert.deepEqual(most("512"), { outputTokens: 512 });
  assert.deepEqual(most("512", { outputTokens: 100 }), { outputTokens: 100 });
  assert.throws(() => most("many"), /LAL_MAX_TOKENS/);
  assert.deepEqual(lalLimits(undefined, env({ LAL_MAX_TOKENS: "x" }), {}), {});
});

Deno.test("LAL_AUTH_TOKEN goes to LAL_HOST's origin and to no other", () => {
  const kept = {
    kept: [],
    env: env({ LAL_HOST: "https://my.host/v1", LAL_AUTH_TOKEN: "a-long-key" }),
  };
  const at = (url: string) => findKey({ kind: "openai", url }, kept);
  assert.deepEqual(at("https://my.host/v1"), {
    kind: "environment",
    secret: "env-lal",
    variable: "LAL_AUTH_TOKEN",
  });
  assert.equal(at("https://my.host.evil/v1").kind, "none");
  assert.equal(at("http://my.host/v1").kind, "none");
});
