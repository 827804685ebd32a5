import assert from "node:assert/strict";
import { makeByteWriter } from "../../../models/_fixture/gguf_bytes.ts";
import { makeTinyGguf } from "../../../models/_fixture/tiny_gguf.ts";
import { configured } from "../../fake/model_scenes.ts";
import { onMachine } from "../../fake/remit.ts";
import { playing } from "../../fake/scenes.ts";

const HUGE = Number.MAX_SAFE_INTEGER;
const AGENT = `agents:
  reader: { name: reader, persona: You read., labels: {}, env: {}, capabilities: [{ tool: file_read }], limits: { iterations: 1, outputTokens: 20 } }
`;

/** A header that begins well. */
function header(
  rest: (to: ReturnType<typeof makeByteWriter>) => void,
  counts = [1, 1],
): Uint8Array {
  const to = makeByteWriter();
  to.raw(new TextEncoder().encode("GGUF"));
  to.u32(3);
  for (const count of counts) to.u64(count);
  rest(to);
  to.raw(new Uint8Array(4_096));
  return to.bytes();
}

const tiny = (more: Omit<Parameters<typeof makeTinyGguf>[0], "seed">): Uint8Array =>
  makeTinyGguf({ seed: 7, contextTokens: 32_768, ...more });

const FILES: Readonly<Record<string, Uint8Array>> = {
  "more entries than there are bytes": header(() => undefined, [1, HUGE]),
  "more tensors than there are bytes": header(() => undefined, [HUGE, 0]),
  "a key longer than the file": header((to) => to.u64(HUGE)),
  "a list of lists": header((to) => {
    to.text("general.architecture");
    for (const type of [9, 9]) to.u32(type);
    to.u64(HUGE);
  }),
  "the head alone": tiny({}).subarray(0, 2_000),
  "half of the tensors": tiny({}).subarray(0, 300_000),
  "an architecture that there is not": tiny({ architecture: "mallory" }),
  "a tensor that is missing": tiny({ without: ["output_norm.weight"] }),
  "no tokens": tiny({ metadata: { "tokenizer.ggml.tokens": { texts: [] } } }),
  "a width of nothing": tiny({ metadata: { "llama.embedding_length": { u32: 0 } } }),
  "heads without end": tiny({ metadata: { "llama.attention.head_count": { u32: 4_294_967_295 } } }),
  "layers without end": tiny({ metadata: { "llama.block_count": { u32: 4_294_967_295 } } }),
  "an end that is no token": tiny({
    metadata: { "tokenizer.ggml.eos_token_id": { u32: 4_294_967_295 } },
  }),
  "a template that never ends": tiny({
    metadata: {
      "tokenizer.chat_template": {
        text:
          "{% for a in range(999999999) %}{% for b in range(999999999) %}{% endfor %}{% endfor %}",
      },
    },
  }),
  "a template that is none": tiny({
    metadata: { "tokenizer.chat_template": { text: "{{ '{%' * 10 {% if" } },
  }),
};

Deno.test("mallory's weights would have crashed, filled or held up the machine, or written on its screen (long)", async () => {
  await onMachine(async (machine) => {
    await configured(machine, `${AGENT}limits: { generationTimeoutMs: 300000, retries: 0 }\n`);
    const honest = await playing(machine, "scenario: honest\nturns: [{ say: Still here. }]\n");
    for (const [name, bytes] of Object.entries(FILES)) {
      const path = `${machine.dir}/hostile.gguf`;
      await Deno.writeFile(path, bytes);
      const words = ["run", "-p", "x", "--agent", "reader", "--model", `gguf:${path}`];
      const done = await machine.remit(words);
      // An answer that never comes to its end is cut off or goes in circles; every other file is refused.
      assert.ok([2, 65, 67].includes(done.code), `${name}: ${done.code} ${done.stderr}`);
      assert.match(done.stderr, /Cannot (read|load|use)|was cut off|repeats itself/, name);
      assert.doesNotMatch(done.stderr, /at file:|Uncaught|panick/, name);
      // Each is forgotten, so that the next may be put in its place.
      for (const model of ["hostile", "hostile-2"]) await machine.remit(["model", "remove", model]);
    }
    const still = await machine.remit(["run", "-p", "x", ...honest]);
    assert.equal(still.stdout, "Still here.\n", still.stderr);
  });
});

Deno.test("mallory's names in a file of weights would have moved the cursor of whoever lists them", async () => {
  await onMachine(async (machine) => {
    const evil = "\x1b]0;owned\x07\x1b[2J\u202eevil\r\nAllowed by alice";
    await Deno.writeFile(
      `${machine.dir}/named.gguf`,
      tiny({
        metadata: {
          "general.name": { text: evil },
          "general.license": { text: evil },
          "general.architecture": { text: "llama" },
        },
      }),
    );
    const added = await machine.remit(["model", "add", `${machine.dir}/named.gguf`]);
    const listed = await machine.remit(["model", "list"]);
    for (const { stdout, stderr } of [added, listed]) {
      // deno-lint-ignore no-control-regex -- it looks for them
      assert.doesNotMatch(`${stdout}${stderr}`, /[\x1b\x07\r\u202e]/);
      assert.doesNotMatch(`${stdout}${stderr}`, /^Allowed by alice/m);
    }
  });
});
