/** alice points Remit at a file of weights: they run on her machine, without any right, or with native code behind a wall. */
import { isDeepStrictEqual } from "node:util";
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { makeTinyGguf } from "../../models/_fixture/tiny_gguf.ts";
import { descendants } from "../fake/processes.ts";
import { configured, eventsOf, planned } from "../fake/model_scenes.ts";
import { provideEngine } from "../fake/native_engine.ts";
import { type Machine, onMachine } from "../fake/remit.ts";
import { readRun, type RunDocument } from "../fake/run_document.ts";
import { waitUntil } from "../fake/wait_until.ts";
import { needs } from "../needs.ts";

/** Random weights that begin nearly every answer with a call: what they call is chance, that it is well-formed is not. */
const EAGER = makeTinyGguf({ seed: 11, eager: true, contextTokens: 32_768 });
const AGENT = `agents:
  reader:
    name: reader
    persona: You read.
    labels: {}
    limits: { iterations: 6, outputTokens: 600 }
    env: {}
    capabilities: [{ tool: file_list }, { tool: file_read }, { tool: file_stat }]
`;

async function weighed(machine: Machine, more: string): Promise<readonly string[]> {
  await Deno.writeFile(`${machine.dir}/tiny.gguf`, EAGER);
  await configured(machine, `${AGENT}${more}`);
  return [
    "run",
    "-p",
    "When?",
    ...await planned(machine),
    "--agent",
    "reader",
    "--temperature",
    "1",
  ];
}

/** Every call fitted its schema: what was refused names nothing that is there, and nothing else was wrong. */
function assertWellFormed({ exit, refused, read, spent, receipts }: RunDocument): void {
  assert.ok([0, 66].includes(exit), `exit ${exit}`);
  assert.ok(spent.turns > 0 && spent.inputTokens > 0 && spent.outputTokens > 0);
  assert.equal(spent.money, 0);
  assert.ok(refused.length + read.length > 0, "it made no call at all");
  for (const { outcome, rule, why } of refused) {
    assert.notEqual(outcome, "unknownTool", why);
    if (outcome === "invalidArguments") {
      // Random weights name what is not there, or write past the end of their answer.
      assert.match(
        rule,
        /^built-in: (references name what is there|only whole calls are made)/,
        why,
      );
    }
  }
  assert.ok(receipts.length > 0);
}

Deno.test("alice runs her file in WASM: pinned at its first use, calls that always fit, the same seed the same task", async () => {
  await onMachine(async (machine) => {
    const run = await weighed(machine, "");
    const model = ["--model", `gguf:${machine.dir}/tiny.gguf`];
    const first = await machine.remit([...run, ...model, "--seed", "1", "--json"]);
    const one = readRun(first.stdout);
    assertWellFormed(one);
    assert.equal(one.model, "gguf:tiny");
    assert.match(first.stderr, /pinned \S+tiny\.gguf: from now on it means exactly these bytes/);
    assert.doesNotMatch(first.stderr, /leaves this machine/);
    // The same by its name in the store, although the file is gone.
    await Deno.remove(`${machine.dir}/tiny.gguf`);
    const again = await machine.remit([...run, "--model", "tiny", "--seed", "1", "--json"]);
    const two = readRun(again.stdout);
    assert.doesNotMatch(again.stderr, /pinned/);
    // A machine that is slow may end one of them a turn earlier: as far as both went, they are one.
    const both = Math.min(one.refused.length, two.refused.length);
    assert.ok(both > 0 || one.read.length > 0);
    assert.deepEqual(two.refused.slice(0, both), one.refused.slice(0, both));
    if (one.spent.turns === two.spent.turns && one.refused.length === two.refused.length) {
      assert.deepEqual([two.refused, two.read, two.answer], [one.refused, one.read, one.answer]);
    }
    const [spent] = (await eventsOf(machine, two.task)).filter(({ type }) => type === "budget");
    const digest = createHash("sha256").update(EAGER).digest("hex");
    assert.ok(String(spent?.["model"]).includes(digest.slice(0, 12)), String(spent?.["model"]));
    const list = await machine.remit(["model", "list"]);
    assert.match(list.stdout, /tiny +634\.6 kB +no/);
    assert.equal((await machine.remit(["audit", "verify"])).code, 0);
    // Its process waits for the next task, with all of its weights in memory, until she needs the room.
    const unload = async (...words: string[]): Promise<unknown> =>
      JSON.parse((await machine.remit(["model", "unload", ...words, "--json"])).stdout);
    assert.deepEqual(await unload("ollama:other"), { ended: [], used: [] });
    // A limit that cuts an answer ends the process itself, which a busy machine comes to: the next run has a new one.
    let tiny = await unload("tiny");
    for (let tries = 0; tries < 3 && isDeepStrictEqual(tiny, { ended: [], used: [] }); tries++) {
      await machine.remit([...run, "--model", "tiny", "--seed", "1", "--json"]);
      tiny = await unload("tiny");
    }
    assert.deepEqual(tiny, { ended: ["gguf:tiny"], used: [] });
    assert.deepEqual(await unload(), { ended: [], used: [] });
    const third = await machine.remit([...run, "--model", "tiny", "--seed", "1", "--json"]);
    assert.equal(readRun(third.stdout).model, "gguf:tiny", third.stderr);
  });
});

Deno.test("a model in WASM is asked whether it can drive the loop, and chance cannot (long)", async () => {
  await onMachine(async (machine) => {
    // Chance does not know when to end.
    const mine = `{ ref: "gguf:${machine.dir}/tiny.gguf", outputTokens: 64 }`;
    await weighed(machine, `models:\n  mine: ${mine}\n`);
    const test = await machine.remit(["model", "test", "mine", "--seed", "1", "--json"]);
    assert.notEqual(test.code, 0, test.stderr);
    const { drives, used, requests, money } = JSON.parse(test.stdout);
    assert.deepEqual([drives, used, money], [false, false, 0]);
    assert.ok(requests > 0);
  });
});

Deno.test("alice accelerates: llama.cpp's own code, fetched once, runs the same file behind a wall of its own", async () => {
  if (!needs("bwrap")) return;
  await onMachine(async (machine) => {
    const run = await weighed(
      machine,
      "models:\n  fast: { ref: tiny, accelerated: true, outputTokens: 200 }\n",
    );
    await provideEngine();
    const add = await machine.remit(["model", "add", `${machine.dir}/tiny.gguf`]);
    assert.equal(add.code, 0, add.stderr);
    const there = await machine.remit(["model", "accelerate"]);
    assert.equal(there.code, 0, there.stderr);
    assert.match(there.stdout, /The native engine is there/);
    const going = machine.start([...run, "--model", "fast", "--seed", "1", "--json"]);
    const lines = await waitUntil("the native service", async () => {
      const [kernel] = await machine.processes();
      const below = kernel === undefined ? [] : await descendants(kernel);
      const found = below.find(({ command }) => command.includes("--allow-ffi"));
      return found?.command;
    });
    assert.match(lines, /--unshare-all/);
    assert.ok(!lines.includes("--share-net"));
    const done = await going.done;
    assertWellFormed(readRun(done.stdout));
  });
});
