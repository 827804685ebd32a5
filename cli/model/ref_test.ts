import { join } from "node:path";
import { Fault } from "../../contracts/base/mod.ts";
import { LocalConfig, RemoteConfig } from "../../contracts/model/mod.ts";
import type { ModelEntry } from "../../contracts/policy/mod.ts";
import { sha256Hex } from "../../port/digest.ts";
import { fakePowers } from "../_fixture/world.ts";
import { fakeWeights } from "../_fixture/gguf.ts";
import { fakeModels, NO_ENGINE } from "../_fixture/models.ts";
import type { ModelParts } from "./part.ts";
import { modelClearance, resolveModel } from "./ref.ts";
import { placesOf, preparePlaces } from "../../launch/disk/places.ts";
import assert from "node:assert/strict";

function makeParts(
  aliases: Readonly<Record<string, ModelEntry>> = {},
  options: Parameters<typeof fakePowers>[0] = {},
): ModelParts & { readonly root: string } {
  const powers = fakePowers({ env: { ANTHROPIC_API_KEY: "sk-ant-0123456789" }, ...options });
  const places = placesOf(powers.environment, undefined);
  preparePlaces(powers.disk, places, powers.environment.uid);
  const { disk, models, environment, screen, root } = powers;
  const parts = { disk, models, environment, screen, places, root };
  return { ...parts, modelKeys: [], aliases, redact: [], kept: () => [], prepare: () => undefined };
}

const remote = (config: string): RemoteConfig => RemoteConfig.parse(JSON.parse(config));

Deno.test("alice's provider becomes a reference, a configuration without a key, and a key to lend", async () => {
  const { choice, lends, programs, providers } = await resolveModel(
    "anthropic:claude-x",
    { ...makeParts(), redact: [{ kind: "email" }] },
    { temperature: 0, seed: 7, noWait: true },
  );
  assert.equal(choice.ref, "anthropic:claude-x@https://api.anthropic.com/v1");
  assert.deepEqual(remote(choice.config), {
    model: "claude-x",
    url: "https://api.anthropic.com/v1",
    secret: "env-anthropic",
    temperature: 0,
    seed: 7,
    noWait: true,
    redact: [{ kind: "email" }],
  });
  assert.doesNotMatch(JSON.stringify(choice), /sk-ant/);
  assert.deepEqual(lends, [{
    name: "env-anthropic",
    value: "sk-ant-0123456789",
    origin: "https://api.anthropic.com",
    header: "x-api-key",
    prefix: "",
  }]);
  assert.deepEqual(programs, ["remote"]);
  assert.deepEqual(providers, [{
    ref: "anthropic:claude-x@https://api.anthropic.com/v1",
    host: "api.anthropic.com",
    model: "claude-x",
    encrypted: true,
    price: undefined,
  }]);
});

Deno.test("a model of this machine needs no key, and is announced to nobody", async () => {
  const { lends, providers } = await resolveModel("ollama:qwen3:4b", makeParts());
  assert.deepEqual([lends, providers], [[], []]);
});

Deno.test("the environment is read for the chosen model alone", async () => {
  const asked: string[] = [];
  const parts = makeParts();
  const { env } = parts.environment;
  const environment = {
    ...parts.environment,
    env(name: string): string | undefined {
      asked.push(name);
      return env(name);
    },
  };
  await resolveModel("ollama:x", { ...parts, environment });
  assert.deepEqual(asked.filter((name) => name.endsWith("_KEY")), []);
  await resolveModel("anthropic:x", { ...parts, environment });
  assert.deepEqual([...new Set(asked.filter((name) => name.endsWith("_KEY")))], [
    "ANTHROPIC_API_KEY",
  ]);
});

Deno.test("names of remit.yaml stand for models with settings, of which flags and outer names win", async () => {
  const { choice, providers } = await resolveModel(
    "work",
    makeParts({
      work: { ref: "base", temperature: 0.5, price: { input: 3, output: 15 } },
      base: {
        ref: "anthropic:claude-x@https://api.anthropic.com/v1",
        temperature: 0.9,
        contextTokens: 1_000,
        dialect: ["think"],
      },
    }),
    { seed: 1 },
  );
  const config = remote(choice.config);
  assert.deepEqual(
    [config.temperature, config.contextTokens, config.seed, config.dialect],
    [0.5, 1_000, 1, ["think"]],
  );
  assert.deepEqual(providers[0]?.price, { input: 3, output: 15 });
});

Deno.test("a model brings the one that it escalates to, and the one that shortens", async () => {
  const { choice, lends, programs } = await resolveModel(
    "small",
    makeParts({
      small: {
        ref: "ollama:tiny",
        escalate: { to: "big", after: 3 },
        summarizer: "ollama:brief",
        temperature: 0.3,
      },
      big: "anthropic:claude-x",
    }),
    { temperature: 0.1 },
  );
  assert.equal(choice.escalate?.after, 3);
  assert.equal(choice.escalate?.to.ref, "anthropic:claude-x@https://api.anthropic.com/v1");
  assert.equal(choice.summarizer?.ref, "ollama:brief@http://127.0.0.1:11434");
  assert.equal(remote(choice.summarizer?.config ?? "").temperature, undefined);
  assert.equal(lends.length, 1, "the key of the model that it may escalate to is there, too");
  assert.deepEqual(programs, ["remote"]);
});

Deno.test("a model brings those that take its place, in its order, by price, or by speed", async () => {
  const entry = (choose?: "cheapest" | "fastest") => ({
    dear: {
      ...{ ref: "anthropic:claude-x", others: ["cheap", "here"], speed: 80 },
      ...{ price: { input: 3, output: 15 }, ...(choose === undefined ? {} : { choose }) },
    },
    cheap: { ref: "openai:mini@https://cheap.test/v1", price: { input: 1, output: 2 }, speed: 200 },
    here: "ollama:tiny",
  });
  const order = async (choose?: "cheapest" | "fastest"): Promise<readonly string[]> => {
    const { choice } = await resolveModel("dear", makeParts(entry(choose)));
    return [choice, ...choice.others ?? []].map(({ ref }) => ref.split("@")[0] ?? "");
  };
  const dear = "anthropic:claude-x", cheap = "openai:mini", here = "ollama:tiny";
  assert.deepEqual(await order(), [dear, cheap, here]);
  assert.deepEqual(await order("cheapest"), [here, cheap, dear]);
  assert.deepEqual(await order("fastest"), [cheap, dear, here]);
});

Deno.test("names that lead in a circle are refused with the circle", async () => {
  const circles: readonly (readonly [Record<string, ModelEntry>, RegExp])[] = [
    [{ a: "b", b: { ref: "c" }, c: "a" }, /a → b → c → a/],
    [{ a: "a" }, /a → a.*gguf:NAME/],
    [{ a: { ref: "ollama:x", escalate: { to: "a", after: 1 } } }, /escalation leads in a circle/],
    [{
      a: { ref: "ollama:x", escalate: { to: "b", after: 1 } },
      b: { ref: "ollama:y", escalate: { to: "a", after: 1 } },
    }, /ollama:x → ollama:y → ollama:x/],
  ];
  for (const [aliases, says] of circles) {
    await assert.rejects(resolveModel("a", makeParts(aliases)), (error) => {
      assert.ok(error instanceof Fault && error.code === "invalidInput");
      assert.match(error.message, says);
      return true;
    });
  }
});

Deno.test("a file and a name of the store become weights by digest, without any right", async () => {
  const parts = makeParts();
  Deno.writeFileSync(join(parts.environment.cwd, "tiny.gguf"), fakeWeights());
  const { choice, programs, lends } = await resolveModel("gguf:tiny.gguf", parts, { seed: 3 });
  assert.equal(choice.ref, "gguf:tiny");
  assert.deepEqual(LocalConfig.parse(JSON.parse(choice.config)), {
    name: "tiny",
    weights: sha256Hex(fakeWeights()),
    bytes: fakeWeights().length,
    engine: "wasm",
    seed: 3,
  });
  assert.deepEqual([programs, lends], [["local"], []]);
  assert.deepEqual((await resolveModel("tiny", parts)).choice.ref, "gguf:tiny");
  assert.deepEqual((await resolveModel("gguf:tiny", parts)).choice.ref, "gguf:tiny");
  await assert.rejects(resolveModel("tinny", parts), /there is tiny.*ollama:tinny/);
});

Deno.test("accelerated weights need the engine, and say how to get it", async () => {
  const aliases = { fast: { ref: "gguf:tiny.gguf", accelerated: true } };
  const without = makeParts(aliases);
  Deno.writeFileSync(join(without.environment.cwd, "tiny.gguf"), fakeWeights());
  await assert.rejects(resolveModel("fast", without), /remit model accelerate/);
  const engine = { ...NO_ENGINE, found: () => "/engine" };
  const parts = makeParts(aliases, { models: fakeModels({ engine }) });
  Deno.writeFileSync(join(parts.environment.cwd, "tiny.gguf"), fakeWeights());
  const { choice, programs } = await resolveModel("fast", parts);
  assert.equal(LocalConfig.parse(JSON.parse(choice.config)).engine, "native");
  assert.deepEqual(programs, ["native"]);
});

Deno.test("accelerated names a build of the engine, which must have been fetched itself", async () => {
  const here = { ...NO_ENGINE, found: () => "/engine" };
  const entry = (accelerated: boolean | "cpu" | "cuda" | "vulkan", more = {}) => ({
    ...{ ref: "gguf:tiny.gguf", accelerated, ...more },
  });
  const aliases = {
    ...{ cpu: entry("cpu"), cuda: entry("cuda"), vulkan: entry("vulkan", { gpuLayers: 8 }) },
    ...{ off: entry(false), few: entry(true, { gpuLayers: 8 }) },
  };
  const engines = { cpu: here, vulkan: here };
  const parts = makeParts(aliases, { models: fakeModels({ engines }) });
  Deno.writeFileSync(join(parts.environment.cwd, "tiny.gguf"), fakeWeights());
  const configOf = async (name: string): Promise<unknown> => {
    const { engine, gpu, gpuLayers } = LocalConfig.parse(
      JSON.parse((await resolveModel(name, parts)).choice.config),
    );
    return [engine, gpu, gpuLayers];
  };
  assert.deepEqual(await configOf("cpu"), ["native", undefined, undefined]);
  assert.deepEqual(await configOf("vulkan"), ["native", "vulkan", 8]);
  assert.deepEqual(await configOf("off"), ["wasm", undefined, undefined]);
  await assert.rejects(configOf("cuda"), /not fetched for cuda.*model accelerate --gpu cuda"/);
  await assert.rejects(configOf("few"), /"gpuLayers" needs "accelerated: cuda"/);
});

Deno.test("weights that WebAssembly cannot address are refused with what to do, and run accelerated", async () => {
  const aliases = { large: { ref: "gguf:large", accelerated: true } };
  const engine = { ...NO_ENGINE, found: () => "/engine" };
  const parts = makeParts(aliases, { models: fakeModels({ engine }) });
  const sha256 = "ab".repeat(32);
  const keep = (bytes: number): void =>
    parts.disk.write(
      join(parts.places.models, `${sha256}.json`),
      JSON.stringify({
        ...{ version: 1, name: "large", sha256, bytes, licence: "MIT", source: "/large.gguf" },
        pinned: { by: "alice", at: "2026-01-01T00:00:00Z" },
      }),
    );
  keep(5 * 1024 ** 3);
  await assert.rejects(resolveModel("gguf:large", parts), (error) => {
    assert.ok(error instanceof Fault && error.code === "tooLarge");
    assert.match(error.message, /5\.0 GiB.*at most 3\.5 GiB.*model accelerate.*accelerated: true/);
    return true;
  });
  assert.deepEqual((await resolveModel("large", parts)).programs, ["native"]);
  keep(3.5 * 1024 ** 3);
  assert.deepEqual((await resolveModel("gguf:large", parts)).programs, ["local"]);
});

Deno.test("a URL alone means the one model of a server here, and never guesses", async () => {
  const names = ["only:1b"];
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => undefined },
    () => Response.json({ models: names.map((name) => ({ name })) }),
  );
  const url = `http://127.0.0.1:${server.addr.port}`;
  assert.equal((await resolveModel(url, makeParts())).choice.ref, `ollama:only:1b@${url}`);
  names.push("other:3b");
  await assert.rejects(
    resolveModel(url, makeParts()),
    /several models; write ollama:NAME@.*other:3b/,
  );
  names.length = 0;
  await assert.rejects(resolveModel(url, makeParts()), /has no model/);
  await assert.rejects(
    resolveModel("https://api.anthropic.com", makeParts()),
    /names no model; write anthropic:NAME@https:\/\/api\.anthropic\.com\/v1/,
  );
});

Deno.test("a model without a provider cannot be recorded, and bad settings are named", async () => {
  const parts = makeParts();
  Deno.writeTextFileSync(join(parts.environment.cwd, "play.yaml"), "scenario: x\nturns: []\n");
  await assert.rejects(
    resolveModel("scripted:play.yaml", parts, { record: true }),
    /Cannot record model/,
  );
  await assert.rejects(resolveModel("ollama:x", parts, { temperature: 9 }), /temperature is wrong/);
});

const provider = (host: string, ref = "openai:m") => ({
  ref,
  host,
  model: "m",
  encrypted: true,
  price: undefined,
});

Deno.test("a local model's task is shown all that its profile may see", () => {
  assert.equal(modelClearance({ providers: [] }, { clearance: {} }), "secret");
});

Deno.test("a remote model's task is shown what the provider is cleared for, and no more", () => {
  const one = { providers: [provider("api.example")] };
  assert.equal(modelClearance(one, { clearance: {} }), "internal");
  assert.equal(modelClearance(one, { clearance: { "model:API.example": "secret" } }), "secret");
  assert.equal(modelClearance(one, { clearance: { "model:openai:m": "public" } }), "public");
});

Deno.test("a model that it may escalate to counts, too", () => {
  const two = { providers: [provider("api.example"), provider("other.example", "openai:n")] };
  const clearance = { "model:openai:m": "secret", "model:other.example": "public" } as const;
  assert.equal(modelClearance(two, { clearance }), "public");
});
