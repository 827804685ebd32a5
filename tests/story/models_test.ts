/** alice points Remit at the model that she has, and the loop is the same with each. */
import assert from "node:assert/strict";
import { serveOllama, serveOpenai } from "../../models/_fixture/providers/mod.ts";
import {
  BACKENDS,
  CHECKS,
  configured,
  eventsOf,
  keepKey,
  KEY,
  PLAN,
  planned,
  READS,
  says,
  tells,
} from "../fake/model_scenes.ts";
import { onMachine } from "../fake/remit.ts";
import { readRun } from "../fake/run_document.ts";

for (const backend of BACKENDS) {
  Deno.test(`alice asks ${backend.title}: it reads her file by a tool, answers, and leaves receipts`, async () => {
    await onMachine(async (machine) => {
      const mount = await planned(machine);
      await using provider = backend.serve([READS, says("You leave on Monday, ünd a 🚢.")]);
      await keepKey(machine, backend, provider);
      const run = ["run", "-p", "When do I leave?", ...mount, "--model", backend.ref(provider)];
      const done = await machine.remit([...run, "--json"]);
      assert.equal(done.code, 0, done.stderr);
      const { answer, read, receipts, spent, model } = readRun(done.stdout);
      assert.equal(answer, "You leave on Monday, ünd a 🚢.");
      assert.deepEqual(read, ["plans/trip.txt"]);
      assert.equal(receipts.length, 1);
      assert.deepEqual([spent.calls, spent.turns, spent.money], [1, 2, 0]);
      assert.deepEqual([spent.inputTokens, spent.outputTokens], [22, 14]);
      assert.equal(model, backend.ref(provider));
      // What the tool gave went back to the model, and no request was refused.
      assert.equal(provider.asked.length, 2);
      assert.ok(JSON.stringify(provider.asked[1]).includes(PLAN));
      assert.doesNotMatch(done.stderr, /leaves this machine/, "loopback is this machine");
      assert.equal((await machine.remit(["audit", "verify"])).code, 0);

      provider.next(CHECKS, tells(backend, provider));
      const test = await machine.remit(["model", "test", backend.ref(provider)]);
      assert.equal(test.code, 0, test.stdout + test.stderr);
      assert.match(
        test.stdout,
        /✓ it calls a tool[^]*✓ it uses the result[^]*It can drive the loop/,
      );
    });
  });
}

Deno.test("model test says of a model that it calls nothing, or does not listen to what a tool gave", async () => {
  await onMachine(async (machine) => {
    const backend = BACKENDS[1] ?? raise();
    await using provider = backend.serve([says("It is banana.")]);
    await keepKey(machine, backend, provider);
    await configured(machine, `models: { mine: "${backend.ref(provider)}" }\n`);
    const talks = await machine.remit(["model", "test", "mine"]);
    assert.equal(talks.code, 1, talks.stderr);
    assert.match(talks.stdout, /✗ it did not call the tool[^]*It cannot drive the loop/);
    const wrong = { calls: [{ id: "w", name: "file_read", pieces: ['{"file":1}'] }] };
    provider.next(wrong, CHECKS, says("It is banana."));
    const deaf = await machine.remit(["model", "test", "mine", "--json"]);
    assert.equal(deaf.code, 1);
    const { drives, called, used, invalid, requests } = JSON.parse(deaf.stdout);
    assert.deepEqual([drives, called, used, invalid, requests], [false, true, false, 1, 3]);
  });
});

Deno.test("alice's own name for a model stands for it, chosen by remit.yaml, by --model, and for good", async () => {
  await onMachine(async (machine) => {
    const backend = BACKENDS[1] ?? raise();
    const mount = await planned(machine);
    await using provider = backend.serve([says("One."), says("Two."), says("Three.")]);
    await keepKey(machine, backend, provider);
    await configured(
      machine,
      `models:\n  mine: { ref: "${backend.ref(provider)}", temperature: 0.25, seed: 9 }\n`,
    );
    const run = ["run", "-p", "Count", ...mount];
    const none = await machine.remit(run);
    assert.equal(none.code, 2, "without a choice there is no model, and none is guessed");
    assert.match(none.stderr, /no model is chosen; add --model REF, or "remit model use NAME"/);
    assert.equal((await machine.remit([...run, "--model", "mine"])).stdout, "One.\n");
    assert.equal((await machine.remit(["model", "use", "mine"])).code, 0);
    assert.equal((await machine.remit(run)).stdout, "Two.\n");
    const list = await machine.remit(["model", "list"]);
    assert.match(list.stdout, /mine \(chosen\)/);
    assert.equal((await machine.remit([...run, "--temperature", "1", "--seed", "3"])).code, 0);
    assert.deepEqual(
      provider.asked.map(({ temperature, seed }) => [temperature, seed]),
      [[0.25, 9], [0.25, 9], [1, 3]],
    );
  });
});

Deno.test("a URL alone means the one model of that server", async () => {
  await onMachine(async (machine) => {
    const mount = await planned(machine);
    await using llamacpp = serveOpenai({
      variant: "llamacpp",
      model: "only",
      answers: [says("A.")],
    });
    await using ollama = serveOllama({
      models: [{ name: "one:1b", contextTokens: 65_536 }],
      answers: [says("B.")],
    });
    for (
      const [{ url }, model] of [[llamacpp, "openai:only"], [ollama, "ollama:one:1b"]] as const
    ) {
      const run = ["run", "-p", "Hello", ...mount, "--model", url, "--json"];
      const done = await machine.remit(run);
      assert.equal(done.code, 0, done.stderr);
      assert.equal(readRun(done.stdout).model, `${model}@${url}`);
    }
  });
});

Deno.test("text that leaves the machine is announced, with host, model and price, and costs money", async () => {
  await onMachine(async (machine) => {
    const mount = await planned(machine);
    await using provider = serveOpenai({ key: null, answers: [READS, says("Monday.")] });
    // Linux connects 0.0.0.0 to itself; to Remit it is a host like any other.
    const url = provider.url.replace("127.0.0.1", "0.0.0.0");
    const price = "price: { input: 1000, output: 2000 }";
    await configured(machine, `models: { far: { ref: "openai:tiny@${url}", ${price} } }\n`);
    const done = await machine.remit(["run", "-p", "When?", ...mount, "--model", "far", "--json"]);
    assert.equal(done.code, 0, done.stderr);
    const { host } = new URL(url);
    assert.ok(done.stderr.includes(`text leaves this machine for ${host}, model tiny, and is NOT`));
    assert.match(done.stderr, /about 2 tokens, 0\.0020 USD[^]*1000\/2000 USD a million tokens/);
    assert.match(done.stderr, /this task ends at 1 USD/);
    const { spent, task } = readRun(done.stdout);
    assert.equal(spent.money, (22 * 1_000 + 14 * 2_000) / 1e6);
    const kinds = (await eventsOf(machine, task)).map(({ event }) => event);
    assert.equal(kinds.filter((kind) => kind === "modelAsked").length, 2, kinds.join());
  });
});

Deno.test("without a word about models the demo plays its script and says so, also where a key is at hand", async () => {
  const env = { ANTHROPIC_API_KEY: KEY };
  await onMachine(async (machine) => {
    const demo = await machine.remit(["run"]);
    assert.equal(demo.code, 0, demo.stderr);
    assert.match(demo.stderr, /The model is scripted[^]*no real\s+model is asked/);
    assert.match(demo.stderr, /scripted:\S+demo\.yaml/);
    assert.match(demo.stderr, /ANTHROPIC_API_KEY[^]*--model anthropic:NAME/);
    assert.doesNotMatch(demo.stderr, /leaves this machine/);
    assert.ok(!`${demo.stdout}${demo.stderr}`.includes(KEY));
  }, { env });
});

function raise(): never {
  throw new Error("Cannot test: there is no such backend");
}
