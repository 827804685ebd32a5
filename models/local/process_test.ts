import assert from "node:assert/strict";
import { DENIED } from "../../kernel/core/start/line_parts.ts";
import { bundled } from "../../port/_fixture/bundled_child.ts";
import { hear, requestOf, said } from "../_fixture/contract_suite.ts";
import { makeTinyGguf } from "../_fixture/tiny_gguf.ts";
import {
  configOf,
  localProgram,
  openLocal,
  refusal,
  sendWeights,
  startLocal,
} from "./_fixture/local_process.ts";

const never = new AbortController().signal;
const tiny = makeTinyGguf({ seed: 7 });

Deno.test("neither the process nor its thread may touch a file, the network, the environment or a program", async () => {
  await using built = await bundled(new URL("./_fixture/permission_probe.ts", import.meta.url));
  const flags = ["--no-prompt", "--no-config", "--no-lock", "--no-remote", "--no-npm"];
  const { stdout, stderr, success } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", ...flags, "--cached-only", ...DENIED, built.file],
    clearEnv: true,
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  const { inProcess, inThread } = JSON.parse(new TextDecoder().decode(stdout));
  for (const found of [inProcess, inThread]) {
    assert.equal(Object.keys(found).length, 16);
    for (const [name, state] of Object.entries(found)) {
      assert.match(`${state}`, /^denied$|: Requires \w+ access to /, name);
    }
  }
});

Deno.test("a hostile file is refused with what is wrong with it, and this process alone is troubled", async (t) => {
  await using honest = await openLocal(tiny);
  const cases: Readonly<Record<string, readonly [RegExp, Uint8Array]>> = {
    "no GGUF": [/does not begin with "GGUF"/, new Uint8Array(4_096)],
    "cut off in its tensors": [/is it cut off\?/, tiny.slice(0, tiny.length - 5_000)],
    "an unknown architecture": [
      /unknown model architecture: 'whatever'/,
      makeTinyGguf({ seed: 1, architecture: "whatever" }),
    ],
    "a missing tensor": [
      /tensor 'blk\.1\.attn_q\.weight' not found/,
      makeTinyGguf({ seed: 1, without: ["blk.1.attn_q.weight"] }),
    ],
    "no heads": [
      /wrong shape/,
      makeTinyGguf({
        seed: 1,
        metadata: { "llama.attention.head_count": { u32: 0 } },
      }),
    ],
    "another vocabulary": [
      /wrong shape/,
      makeTinyGguf({
        seed: 1,
        metadata: { "tokenizer.ggml.tokens": { texts: ["a", "b"] } },
      }),
    ],
    "an unknown tokenizer": [
      /unknown tokenizer: 'nonsense'/,
      makeTinyGguf({
        seed: 1,
        metadata: { "tokenizer.ggml.model": { text: "nonsense" } },
      }),
    ],
    "a template that is none": [
      /Unexpected token/,
      makeTinyGguf({
        seed: 1,
        metadata: { "tokenizer.chat_template": { text: "{% for m in %}" } },
      }),
    ],
    "a norm that ends the engine": [
      /the engine ended/,
      makeTinyGguf({
        seed: 1,
        metadata: { "llama.attention.layer_norm_rms_epsilon": { f32: NaN } },
      }),
    ],
  };
  for (const [name, [why, weights]] of Object.entries(cases)) {
    await t.step(name, async () => {
      const fault = await refusal(openLocal(weights));
      assert.ok(fault.code === "invalidInput" || fault.code === "upstream", fault.code);
      assert.match(fault.message, why);
      assert.doesNotMatch(fault.message, /\n|blob:/);
    });
  }
  const { usage } = await honest.model.infer(requestOf([said("hi")]), { signal: never });
  assert.ok(usage.outputTokens > 0);
});

Deno.test("weights of another size than was named are refused, and out of order too", async () => {
  const { child } = startLocal(await localProgram());
  await using _ended = child;
  await sendWeights(child.port, tiny.subarray(0, 300_000));
  const again = child.port.ask("weights", { at: 5, base64: "" });
  assert.equal((await refusal(again)).code, "invalidInput");
  const body = { kind: "gguf", ref: "gguf:tiny", config: configOf(tiny) };
  const fault = await refusal(child.port.ask("open", body));
  assert.match(fault.message, /300000 bytes came, \d+ were named/);
});

Deno.test("a process whose engine has ended says so once, and ends", async () => {
  const { child } = startLocal(await localProgram());
  const weights = makeTinyGguf({
    seed: 1,
    metadata: { "llama.attention.layer_norm_rms_epsilon": { f32: NaN } },
  });
  await sendWeights(child.port, weights);
  const body = { kind: "gguf", ref: "gguf:tiny", config: configOf(weights) };
  assert.equal((await refusal(child.port.ask("open", body))).code, "upstream");
  assert.equal((await child.port.closed).code, "gone");
  await child[Symbol.asyncDispose]();
});

Deno.test("the same sources make the same program, byte for byte (long)", async () => {
  const entry = new URL("./main.ts", import.meta.url);
  await using one = await bundled(entry);
  await using other = await bundled(entry);
  const [a, b] = await Promise.all([one, other].map(({ file }) => Deno.readFile(file)));
  assert.ok(a !== undefined && b !== undefined && a.length > 8_000_000);
  assert.ok(a.every((byte, n) => byte === b[n]) && a.length === b.length);
});

Deno.test("a base model is refused for agents until somebody names a template", async () => {
  const base = makeTinyGguf({ seed: 7, metadata: { "tokenizer.chat_template": { u32: 0 } } });
  const fault = await refusal(openLocal(base));
  assert.equal(fault.code, "invalidInput");
  assert.match(
    fault.message,
    /^Cannot use "tiny" for an agent: it is a base model.*template: chatml/,
  );
  const own = "{% for m in messages %}<turn>{{ m.content }}</turn>{% endfor %}";
  for (const template of ["chatml", "gemma", "llama3", own]) {
    await using local = await openLocal(base, { template });
    const request = requestOf([said("go </turn>")], { maxTokens: 4 });
    const { response } = await hear(local.model, request);
    assert.ok(response.usage.inputTokens > 4, template);
  }
});
