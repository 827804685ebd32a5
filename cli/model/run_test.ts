import assert from "node:assert/strict";
import { join } from "node:path";
import { type Json, toJson } from "../../contracts/base/mod.ts";
import {
  type FakeKernel,
  fakeKeyboard,
  type FakeOps,
  fakePowers,
  runCommandLine,
} from "../_fixture/world.ts";
import { TASK, taskJson, told } from "../_fixture/samples.ts";
import { fakeModels } from "../_fixture/models.ts";

const KEY = "sk-ant-api03-never-to-be-seen";
const nothingStaged = { patch: null, changes: [], applied: [], content: "/nowhere" };

function ops(more: FakeOps = {}, play?: (kernel: FakeKernel) => void): FakeOps {
  return {
    lend: () => null,
    run: () => ({ task: TASK }),
    resume: () => null,
    questions: () => [],
    watch: (_body, kernel) => {
      play?.(kernel);
      kernel.end("done", 0);
      return null;
    },
    task: () => taskJson(),
    staged: () => toJson(nothingStaged),
    receipts: () => [],
    head: () => ({ head: "c".repeat(64) }),
    log: () => [],
    ...more,
  };
}

/** Every file beneath a folder, as one text. */
function everything(folder: string): string {
  return [...Deno.readDirSync(folder)].map(({ name, isDirectory, isFile }) => {
    const path = join(folder, name);
    if (isDirectory) return everything(path);
    return isFile ? new TextDecoder("latin1").decode(Deno.readFileSync(path)) : "";
  }).join("\n");
}

const say = (powers: ReturnType<typeof fakePowers>): string =>
  [...powers.screen.outs, ...powers.screen.lines].join("\n");

Deno.test("alice's key goes to the kernel before the task, and nowhere else", async () => {
  const models = fakeModels();
  const powers = fakePowers({ ops: ops(), env: { ANTHROPIC_API_KEY: KEY }, models });
  const run = ["run", "-p", "tidy", "--model", "anthropic:claude-x", "--temperature", "0.5"];
  assert.equal(await runCommandLine(run, powers), 0);
  const asked = powers.kernels_.last?.asked ?? [];
  assert.deepEqual(asked.slice(0, 2).map(([op]) => op), ["lend", "run"]);
  assert.deepEqual(asked[0]?.[1], {
    name: "env-anthropic",
    value: KEY,
    origin: "https://api.anthropic.com",
    header: "x-api-key",
    prefix: "",
  });
  const rest = JSON.stringify(asked.slice(1));
  assert.match(rest, /env-anthropic/);
  for (
    const [what, text] of Object.entries({ rest, said: say(powers), kept: everything(powers.root) })
  ) {
    assert.ok(!text.includes(KEY), what);
  }
  assert.deepEqual(models.built, ["remote"], "its program was there before the kernel");
});

Deno.test("before the first request it says where text goes and what it may cost", async () => {
  const powers = fakePowers({ ops: ops(), env: { ANTHROPIC_API_KEY: KEY } });
  const request = "x".repeat(4_000);
  assert.equal(await runCommandLine(["run", "-p", request, "--model", "anthropic:c"], powers), 0);
  const said = powers.screen.lines.join("\n");
  assert.match(said, /text leaves this machine for api\.anthropic\.com, model c\n/);
  assert.match(said, /about 1000 tokens, 0\.03 USD/);
  assert.match(said, /price unknown: counted as 30\/150 USD[^\n]*this task ends at 1 USD/);
  const json = fakePowers({ ops: ops(), env: { ANTHROPIC_API_KEY: KEY } });
  await runCommandLine(["run", "-p", "x", "--model", "anthropic:c", "--json"], json);
  assert.match(json.screen.lines.join("\n"), /text leaves this machine/);
});

Deno.test("a price of remit.yaml is shown as it is, and a model of this machine is not announced", async () => {
  const powers = fakePowers({ ops: ops(), env: { ANTHROPIC_API_KEY: KEY } });
  Deno.mkdirSync(join(powers.root, ".config", "remit"), { recursive: true });
  Deno.writeTextFileSync(
    join(powers.root, ".config", "remit", "remit.yaml"),
    "version: 1\nmodel: dear\nmodels:\n  dear: { ref: 'anthropic:c', price: { input: 3, output: 15 } }\n",
  );
  assert.equal(await runCommandLine(["run", "-p", "x"], powers), 0);
  assert.match(powers.screen.lines.join("\n"), / 3\/15 USD a million tokens in and out; this task/);
  const here = fakePowers({ ops: ops() });
  assert.equal(await runCommandLine(["run", "-p", "x", "--model", "ollama:m"], here), 0);
  assert.doesNotMatch(here.screen.lines.join("\n"), /leaves this machine/);
});

Deno.test("without a key nothing is started, and both ways to give one are named", async () => {
  const powers = fakePowers({ ops: ops() });
  assert.equal(await runCommandLine(["run", "-p", "x", "--model", "anthropic:c"], powers), 1);
  assert.match(
    say(powers),
    /remit secret set anthropic --origin https:\/\/api\.anthropic\.com --header x-api-key/,
  );
  assert.match(say(powers), /export ANTHROPIC_API_KEY=/);
  assert.equal(powers.kernels_.last, undefined);
});

Deno.test("a secret that was kept is named, and its value stays with the kernel", async () => {
  const powers = fakePowers({ ops: ops(), input: `${KEY}\n` });
  const set = "secret set mine --origin https://api.anthropic.com --header x-api-key".split(" ");
  assert.equal(await runCommandLine(set, powers), 0);
  assert.equal(await runCommandLine(["run", "-p", "x", "--model", "anthropic:c"], powers), 0);
  const asked = JSON.stringify(powers.kernels_.last?.asked);
  assert.match(asked, /\\"secret\\":\\"mine\\"/);
  assert.ok(!asked.includes(KEY) && !asked.includes('"lend"'));
});

Deno.test("without a model it names what is at hand, with the exact command", async () => {
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => undefined },
    () => Response.json({ models: [{ name: "qwen3:4b" }] }),
  );
  const powers = fakePowers({
    ops: ops(),
    env: { OPENROUTER_API_KEY: KEY },
    models: fakeModels({ ollama: server.addr.port }),
  });
  assert.equal(await runCommandLine(["run", "-p", "x"], powers), 2);
  assert.match(
    say(powers),
    /OPENROUTER_API_KEY[^]*--model openai:NAME@https:\/\/openrouter\.ai\/api\/v1/,
  );
  assert.match(say(powers), /Ollama runs on this machine with 1 model[^]*--model ollama:qwen3:4b/);
  assert.ok(!say(powers).includes(KEY));
});

Deno.test("the demo stays scripted and says so, also where a key is at hand", async () => {
  const powers = fakePowers({ ops: ops(), env: { ANTHROPIC_API_KEY: KEY } });
  assert.equal(await runCommandLine(["run"], powers), 0);
  const said = powers.screen.lines.join("\n");
  assert.match(said, /The model is scripted[^]*no real/);
  assert.match(said, /ANTHROPIC_API_KEY[^]*--model anthropic:NAME/);
  const asked = powers.kernels_.last?.asked ?? [];
  assert.deepEqual(asked.find(([op]) => op === "lend"), undefined);
  const [, body] = asked.find(([op]) => op === "run") ?? [];
  assert.match((body as { model?: { ref?: string } }).model?.ref ?? "", /^scripted:/);
});

Deno.test("a run is recorded as it goes, and replayed without key, provider or announcement", async () => {
  const exchange = '{"v":1,"request":{"url":"https://api.anthropic.com/v1/messages","body":""}}';
  const env = { ANTHROPIC_API_KEY: KEY };
  const powers = fakePowers({
    ops: ops({}, (kernel) => kernel.tell({ kind: "wire", exchange })),
    env,
  });
  const file = join(powers.root, "rec.jsonl");
  const run = ["run", "-p", "x", "--model", "anthropic:c", "--record", file];
  assert.equal(await runCommandLine(run, powers), 0);
  const lines = Deno.readTextFileSync(file).trim().split("\n");
  assert.deepEqual(lines.slice(1), [exchange]);
  assert.ok(!lines.join("").includes(KEY));

  const again = fakePowers({ ops: ops() });
  assert.equal(await runCommandLine(["run", "-p", "x", "--replay", file], again), 0);
  const asked = again.kernels_.last?.asked ?? [];
  const [, body] = asked.find(([op]) => op === "run") ?? [];
  const { model } = body as { model: { ref: string; config: string } };
  assert.equal(model.ref, "anthropic:c@https://api.anthropic.com/v1");
  assert.equal((JSON.parse(model.config) as { replay?: string }).replay, exchange);
  assert.equal(asked[0]?.[0], "run", "nothing is lent");
  assert.doesNotMatch(say(again), /leaves this machine/);
  for (const flags of [["--model", "anthropic:c"], ["--seed", "1"], ["--record", "x"]]) {
    assert.equal(await runCommandLine(["run", "-p", "x", "--replay", file, ...flags], again), 2);
  }
});

Deno.test("a task that is resumed gets its key again, from its own log", async () => {
  const model = {
    ref: "ollama:small@http://127.0.0.1:11434",
    config: JSON.stringify({ model: "small", url: "http://127.0.0.1:11434" }),
    escalate: {
      after: 1,
      to: {
        ref: "anthropic:c@https://api.anthropic.com/v1",
        config: JSON.stringify({
          ...{ model: "c", url: "https://api.anthropic.com/v1", secret: "env-anthropic" },
        }),
      },
    },
  };
  const created = toJson(told(0, "taskCreated", {}, { request: { model } }));
  const log = (body: Json): Json => ((body as { from?: number }).from ?? 0) > 0 ? [] : [created];
  const models = fakeModels();
  const powers = fakePowers({ ops: ops({ log }), env: { ANTHROPIC_API_KEY: KEY }, models });
  assert.equal(await runCommandLine(["resume", TASK], powers), 0, say(powers));
  const done = (powers.kernels_.last?.asked ?? []).map(([op]) => op);
  assert.ok(done.indexOf("lend") >= 0 && done.indexOf("lend") < done.indexOf("resume"));
  assert.deepEqual(models.built, ["remote"]);
});

Deno.test("bob's numbers that are none are refused before anything starts", async () => {
  const powers = fakePowers({ ops: ops() });
  for (
    const flags of ["--temperature=hot", "--temperature=3", "--seed=1.5", "--seed=-1", "--seed="]
  ) {
    assert.equal(await runCommandLine(["run", "-p", "x", "--model", "ollama:m", flags], powers), 2);
  }
  assert.equal(powers.kernels_.last, undefined);
});

Deno.test("a session announces a provider, switches models, and lends the new one's key", async () => {
  const powers = fakePowers({
    ops: ops(),
    env: { ANTHROPIC_API_KEY: KEY },
    keyboard: fakeKeyboard(["/model anthropic:c", "hello", undefined]),
  });
  assert.equal(await runCommandLine(["--model", "ollama:m"], powers), 0);
  const done = (powers.kernels_.last?.asked ?? []).map(([op]) => op);
  assert.ok(done.indexOf("lend") >= 0 && done.indexOf("lend") < done.indexOf("run"));
  assert.match(powers.screen.lines.join("\n"), /leaves this machine for api\.anthropic\.com/);
});

Deno.test("who takes a provider's model in the midst of a session is told, once, that the conversation goes there", async () => {
  const powers = fakePowers({
    ops: ops({
      watch: (_body, kernel) => {
        kernel.end("open", null);
        return null;
      },
      say: (_body, kernel) => {
        kernel.end("open", null);
        return null;
      },
      model: () => null,
    }),
    env: { ANTHROPIC_API_KEY: KEY },
    keyboard: fakeKeyboard([
      ...["hello", "/model anthropic:c", "and now?", "more", "/model anthropic:d", "once more"],
      undefined,
    ]),
  });
  assert.equal(await runCommandLine(["--model", "ollama:m"], powers), 0);
  const asked = (powers.kernels_.last?.asked ?? []).map(([op]) => op);
  assert.equal(asked.filter((op) => op === "run").length, 1, "one task for all of it");
  assert.equal(asked.filter((op) => op === "say").length, 3);
  const said = powers.screen.lines.join("\n");
  const announced = said.match(/leaves this machine for api\.anthropic\.com, model [cd]/g) ?? [];
  assert.deepEqual(announced.map((line) => line.at(-1)), ["c", "d"]);
  assert.match(
    said,
    /about 2 tokens, [^\n]*the conversation so far, instructions and tools go with/,
  );
});
