/** alice keeps what went to a provider and back, and runs the same task again from it, without the provider. */
import assert from "node:assert/strict";
import { EXIT } from "../../contracts/base/mod.ts";
import {
  type Backend,
  BACKENDS,
  configured,
  keepKey,
  planned,
  READS,
  says,
} from "../fake/model_scenes.ts";
import { type Machine, onMachine } from "../fake/remit.ts";
import { readRun } from "../fake/run_document.ts";

/** Records a run of two requests, and then takes the server and its key away. */
async function record(machine: Machine, backend: Backend | undefined): Promise<{
  readonly recorded: string;
  readonly file: string;
  readonly run: readonly string[];
  replay(text: string): Promise<readonly [code: number, said: string]>;
}> {
  assert.ok(backend !== undefined);
  const run = ["run", "-p", "When do I leave?", ...await planned(machine)];
  const file = `${machine.dir}/kept.jsonl`;
  {
    await using provider = backend.serve([READS, says("On Monday, ünd früh.")]);
    await keepKey(machine, backend, provider);
    const words = ["--model", backend.ref(provider), "--record", file];
    const first = await machine.remit([...run, ...words]);
    assert.equal(first.code, 0, first.stderr);
    assert.equal(first.stdout, "On Monday, ünd früh.\n");
  }
  if (backend.key !== undefined) await machine.remit(["secret", "remove", "mine"]);
  return {
    ...{ recorded: await machine.read("kept.jsonl"), file, run },
    async replay(text) {
      const changed = await machine.write("changed.jsonl", text);
      const { code, stderr } = await machine.remit([...run, "--replay", changed]);
      return [code, stderr];
    },
  };
}

for (const backend of BACKENDS) {
  Deno.test(`a recording of ${backend.title} plays to the same answer, and a changed byte is a fault (long)`, async () => {
    await onMachine(async (machine) => {
      const { recorded, replay, file, run } = await record(machine, backend);
      const again = await machine.remit([...run, "--replay", file, "--json"]);
      assert.equal(again.code, 0, again.stderr);
      const { answer, read, spent } = readRun(again.stdout);
      assert.deepEqual([answer, read], ["On Monday, ünd früh.", ["plans/trip.txt"]]);
      assert.deepEqual([spent.turns, spent.calls, spent.inputTokens], [2, 1, 22]);
      assert.doesNotMatch(again.stderr, /leaves this machine/);
      // A byte of what was asked: "When do I leave?" is not what this task asks.
      const asked = await replay(recorded.replace("When do I leave?", "When do I Leave?"));
      assert.equal(asked[0], EXIT.failure, asked[1]);
      assert.match(asked[1], /request 1 differs from the recording at byte \d+ of its body/);
    });
  });
}

Deno.test("what is no longer as it was recorded, what is missing and what is no recording, are clear faults (long)", async () => {
  await onMachine(async (machine) => {
    const { recorded, replay } = await record(machine, BACKENDS[1]);
    // A byte of the file that the tool read, on the disk.
    await machine.write("plans/trip.txt", "Leave on Sunday.\n");
    const changed = await replay(recorded);
    assert.equal(changed[0], EXIT.failure, changed[1]);
    assert.match(changed[1], /request 2 differs from the recording at byte \d+ of its body/);
    await planned(machine);
    const lines = recorded.split("\n");
    const short = await replay(lines.slice(0, -2).join("\n"));
    assert.equal(short[0], EXIT.failure, short[1]);
    assert.match(short[1], /the recording has 1 requests, this is number 2/);
    const broken = await replay([lines[0], `{"v":2${lines[1]?.slice(6)}`, ""].join("\n"));
    assert.equal(broken[0], EXIT.invalidInput, broken[1]);
    assert.match(broken[1], /line 1 of the recording is not an exchange/);
    const headless = await replay(lines.slice(1).join("\n"));
    assert.equal(headless[0], EXIT.invalidInput, headless[1]);
    assert.match(headless[1], /its first line does not say which model was recorded/);
  });
});

Deno.test("a recording holds neither the key nor a header that says who asked, and only its owner reads it", async () => {
  await onMachine(async (machine) => {
    for (const backend of BACKENDS) {
      await using provider = backend.serve([says("Well.")]);
      await keepKey(machine, backend, provider);
      const file = `${machine.dir}/${backend.title}.jsonl`;
      const words = ["--model", backend.ref(provider), "--record", file];
      const done = await machine.remit(["run", "-p", "Hello", ...words]);
      assert.equal(done.code, 0, done.stderr);
      const text = await Deno.readTextFile(file);
      for (const line of text.trim().split("\n").slice(1)) {
        const { request, response } = JSON.parse(line);
        const headers = Object.keys({ ...request.headers, ...response.headers }).join();
        assert.doesNotMatch(headers, /key|authorization|user-agent|cookie/i);
      }
      assert.ok(backend.key === undefined || !text.includes(backend.key.value));
      assert.equal(((await Deno.stat(file)).mode ?? 0) & 0o777, 0o600);
      await machine.remit(["secret", "remove", "mine"]);
    }
  });
});

Deno.test("a recording of a model that escalates and one that shortens plays each its own part", async () => {
  await onMachine(async (machine) => {
    const [, backend] = BACKENDS;
    assert.ok(backend !== undefined);
    const wrong = { calls: [{ id: "w1", name: "no_such_tool", pieces: ["{}"] }] };
    const run = ["run", "-p", "Try", ...await planned(machine), "--json"];
    const file = `${machine.dir}/two.jsonl`;
    {
      await using small = backend.serve([wrong]);
      await using large = backend.serve([READS, says("The large one.")]);
      await configured(
        machine,
        `models:
  small: { ref: "${backend.ref(small)}", secret: first, escalate: { to: large, after: 1 } }
  large: { ref: "${backend.ref(large)}", secret: second }
`,
      );
      for (const [name, { origin }] of [["first", small], ["second", large]] as const) {
        const words = ["secret", "set", name, "--origin", origin, ...backend.key?.words ?? []];
        await machine.remit(words, `${backend.key?.value}\n`);
      }
      const first = await machine.remit([...run, "--model", "small", "--record", file]);
      assert.equal(first.code, 0, first.stderr + first.stdout);
      assert.equal(readRun(first.stdout).answer, "The large one.");
      assert.deepEqual([small.asked.length, large.asked.length], [1, 2]);
    }
    const again = await machine.remit([...run, "--replay", file]);
    assert.equal(again.code, 0, again.stderr + again.stdout);
    assert.equal(readRun(again.stdout).answer, "The large one.");
  });
});
