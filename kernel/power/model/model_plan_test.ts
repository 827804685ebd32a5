import assert from "node:assert/strict";
import type { ModelChoice } from "../../../contracts/task/mod.ts";
import type { Secret } from "../../../contracts/wire/mod.ts";
import { makeLentSecrets } from "./services.ts";
import { type ModelPlan, planModel } from "./model_plan.ts";

const KEY: Secret = {
  name: "example",
  value: "k-1234567890",
  origin: "https://api.example.com",
  header: "authorization",
  prefix: "Bearer ",
};
const secrets = makeLentSecrets({ secrets: [KEY], digest: "" });
const parts = { weights: "/s/models", addon: "/c/native/llama-addon.node", secret: secrets.get };
const plan = (ref: string, config: object): ModelPlan =>
  planModel({ ref, config: JSON.stringify(config) }, parts);
const openai = (more: object = {}): ModelPlan =>
  plan("openai:m@https://api.example.com/v1", {
    model: "m",
    url: "https://api.example.com/v1",
    ...more,
  });

Deno.test("a provider's service reaches one host and port, and is handed the key for its origin alone", () => {
  const made = openai({ secret: "example" });
  assert.deepEqual(made.needs, { role: "remote", at: { host: "api.example.com", port: 443 } });
  assert.deepEqual(made.open.credential, {
    header: "authorization",
    value: "Bearer k-1234567890",
  });
  assert.equal(made.host, "api.example.com");
  assert.doesNotMatch(made.open.config, /1234567890/);
});

Deno.test("mallory's configuration names a key of another origin: refused", () => {
  assert.throws(
    () =>
      plan("openai:m@https://mallory.example/v1", {
        model: "m",
        url: "https://mallory.example/v1",
        secret: "example",
      }),
    { code: "refused" },
  );
  for (
    const url of [
      "http://api.example.com/v1",
      "https://api.example.com:444/v1",
      "https://api.example.com.mallory.example/v1",
      "https://api.example.com@mallory.example/v1",
    ]
  ) {
    const made = { model: "m", url, secret: "example" };
    assert.throws(() => plan(`openai:m@${url}`, made), { code: "refused" }, url);
  }
});

Deno.test("a key that is not here says so, and one that is lent does not replace a kept one", () => {
  assert.throws(() => openai({ secret: "env-openai" }), { code: "unavailable" });
  secrets.lend({ ...KEY, name: "env-openai", value: "lent" });
  assert.equal(openai({ secret: "env-openai" }).open.credential?.value, "Bearer lent");
  secrets.lend({ ...KEY, value: "mallory's" });
  assert.equal(openai({ secret: "example" }).open.credential?.value, "Bearer k-1234567890");
});

Deno.test("text to this machine itself stays here; any other host is remote, also a near one", () => {
  const hostOf = (url: string): string | undefined =>
    plan(`openai:m@${url}`, { model: "m", url }).host;
  for (const url of ["http://127.0.0.1:8080/v1", "http://localhost/v1", "http://[::1]:1/v1"]) {
    assert.equal(hostOf(url), undefined, url);
  }
  for (
    const url of [
      "http://10.0.0.2/v1",
      "http://localhost.example/v1",
      "http://127.0.0.1.example/v1",
      "http://128.0.0.1/v1",
    ]
  ) {
    assert.equal(hostOf(url), new URL(url).host, url);
  }
});

Deno.test("a recording that is played reaches nothing and is handed no key", () => {
  const made = openai({ secret: "example", replay: '{"v":1}' });
  assert.deepEqual(made.needs, { role: "remote" });
  assert.equal(made.open.credential, undefined);
});

Deno.test("weights come from the store by their digest, and native code only sees its own", () => {
  const weights = "ab".repeat(32);
  const local = { name: "tiny", weights, bytes: 10, engine: "wasm" };
  assert.deepEqual(plan("gguf:tiny", local).weights, {
    file: `/s/models/${weights}.gguf`,
    sha256: weights,
    bytes: 10,
    how: "feed",
  });
  const native = plan("gguf:tiny", { ...local, engine: "native" });
  assert.equal(native.weights?.how, "check");
  assert.deepEqual(native.open.native, { weights: "/weights.gguf", addon: parts.addon });
  for (const bad of ["../../etc/passwd", "AB".repeat(32), ""]) {
    assert.throws(() => plan("gguf:tiny", { ...local, weights: bad }), { code: "invalidInput" });
  }
});

Deno.test("each build of the native engine lies beside the one for the processor, and is told its card", () => {
  const local = { name: "tiny", weights: "ab".repeat(32), bytes: 10, engine: "native" };
  for (const gpu of ["cuda", "vulkan"] as const) {
    const { needs, open } = plan("gguf:tiny", { ...local, gpu, gpuLayers: 12 });
    const addon = `/c/native-${gpu}/llama-addon.node`;
    assert.ok(needs.role === "native");
    assert.deepEqual([needs.addon, needs.gpu], [addon, gpu]);
    assert.deepEqual(open.native, { weights: "/weights.gguf", addon, gpu, gpuLayers: 12 });
    assert.deepEqual(plan("gguf:tiny", { ...local, gpu }).open.native, {
      ...{ weights: "/weights.gguf", addon, gpu },
    });
  }
  const { needs, open } = plan("gguf:tiny", { ...local, gpuLayers: 12 });
  assert.ok(needs.role === "native" && needs.gpu === undefined && needs.addon === parts.addon);
  assert.deepEqual(open.native, { weights: "/weights.gguf", addon: parts.addon });
  for (const gpu of ["metal", "../cuda", "", "cpu"]) {
    assert.throws(() => plan("gguf:tiny", { ...local, gpu }), { code: "invalidInput" }, gpu);
  }
});

Deno.test("a configuration that does not parse is refused with the place", () => {
  const broken: ModelChoice = { ref: "openai:m", config: "{" };
  assert.throws(() => planModel(broken, parts), { code: "invalidInput" });
  assert.throws(() => plan("openai:m", { model: "m", url: "file:///etc/passwd" }), /url/);
  assert.throws(() => plan("openai:m", { model: "m", url: "http://a/v1", key: "k" }), /key/);
});
