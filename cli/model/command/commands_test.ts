import assert from "node:assert/strict";
import { join } from "node:path";
import { toJson } from "../../../contracts/base/mod.ts";
import { sha256Hex } from "../../../port/digest.ts";
import { fakeKeyboard, type FakeOps, fakePowers, runCommandLine } from "../../_fixture/world.ts";
import { TASK, taskJson, told } from "../../_fixture/samples.ts";
import { fakeWeights } from "../../_fixture/gguf.ts";
import { fakeModels, NO_ENGINE } from "../../_fixture/models.ts";
import { honest, serveWeights } from "../../_fixture/weights_server.ts";
import { placesOf } from "../../../launch/disk/places.ts";
import { weightsPath } from "../../../models/weights/store.ts";

type Given = ReturnType<typeof fakePowers>;

const shown = (powers: Given): string => [...powers.screen.outs, ...powers.screen.lines].join("\n");
const jsonOf = (powers: Given): unknown => JSON.parse(powers.screen.outs.at(-1) ?? "null");
const configOf = (powers: Given): string => join(powers.root, ".config", "remit", "remit.yaml");

function writeConfig(powers: Given, text: string): void {
  Deno.mkdirSync(join(powers.root, ".config", "remit"), { recursive: true });
  Deno.writeTextFileSync(configOf(powers), text);
}

function weightsIn(powers: Given, filler?: string): string {
  const path = join(powers.root, "work", "tiny.gguf");
  Deno.writeFileSync(path, fakeWeights(filler === undefined ? {} : { filler }));
  return path;
}

Deno.test("list shows every backend with its state, what is configured, stored and to be had", async () => {
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => undefined },
    () => Response.json({ models: [{ name: "qwen3:4b" }, { name: "\x1b]0;owned\x07" }] }),
  );
  const powers = fakePowers({
    env: { ANTHROPIC_API_KEY: "sk-ant-0123456789" },
    models: fakeModels({ ollama: server.addr.port }),
  });
  writeConfig(
    powers,
    "version: 1\nmodel: mine\nmodels:\n  mine: gguf:tiny\n  gone: nothing-there\n",
  );
  assert.equal(await runCommandLine(["model", "add", weightsIn(powers)], powers), 0);
  assert.equal(await runCommandLine(["model", "list"], powers), 0);
  const text = shown(powers);
  assert.match(text, /✓ anthropic +anthropic:NAME +key in the environment \(ANTHROPIC_API_KEY\)/);
  assert.match(text, /– openai +openai:NAME +no key: remit secret set openai/);
  assert.match(text, /✓ ollama +ollama:NAME +runs with qwen3:4b/);
  assert.match(text, /✓ gguf +gguf:PATH .*1 in the store/);
  assert.match(text, /✓ mine \(chosen\) +gguf:tiny +in the store/);
  assert.match(text, /– gone +nothing-there +not in the store/);
  assert.match(text, /tiny +\d+ bytes +no +alice 2023-11-14 +mit/);
  assert.match(text, /qwen2\.5-1\.5b +1\.12 GB +unpinned +Apache-2\.0/);
  // deno-lint-ignore no-control-regex -- it looks for them
  assert.doesNotMatch(text, /[\x1b\x07]|sk-ant/);
  assert.equal(await runCommandLine(["model", "list", "--json"], powers), 0);
  const { model, backends } = jsonOf(powers) as { model: string; backends: { name: string }[] };
  assert.equal(model, "mine");
  assert.deepEqual(backends.map(({ name }) => name), [
    ...["scripted", "anthropic", "openai", "ollama", "gguf"],
  ]);
});

Deno.test("use takes no file that is not there, nor a far server without a model's name", async () => {
  const powers = fakePowers();
  for (
    const [text, says] of [
      ["gguf:nowhere.gguf", /there is no file "[^"]*nowhere\.gguf"/],
      ["scripted:nowhere.yaml", /there is no file/],
      ["gguf:.", /there is no file/],
      [
        "https://api.openai.com",
        /names no model; write openai:NAME@https:\/\/api\.openai\.com\/v1/,
      ],
    ] as const
  ) {
    assert.equal(await runCommandLine(["model", "use", text], powers), 2, text);
    assert.match(shown(powers), says);
    assert.throws(() => Deno.statSync(configOf(powers)), Deno.errors.NotFound);
  }
});

Deno.test("use writes the one line, and leaves every comment where it was", async () => {
  const powers = fakePowers();
  writeConfig(
    powers,
    "# mine\nversion: 1 # always\n\nmodel: ollama:old   # the small one\nlimits: {money: 2}   # USD\n",
  );
  assert.equal(await runCommandLine(["model", "use", "anthropic:claude-x"], powers), 0);
  assert.equal(
    Deno.readTextFileSync(configOf(powers)),
    "# mine\nversion: 1 # always\n\nmodel: anthropic:claude-x   # the small one\nlimits: {money: 2}   # USD\n",
  );
  assert.match(shown(powers), /- model: ollama:old/);
  assert.match(shown(powers), /\+ model: anthropic:claude-x/);
  writeConfig(powers, "version: 1\nnever: [ '*.pem']\n");
  assert.equal(await runCommandLine(["model", "use", "ollama:new"], powers), 0);
  assert.equal(
    Deno.readTextFileSync(configOf(powers)),
    "version: 1\nnever: [ '*.pem']\nmodel: ollama:new\n",
  );
});

Deno.test("use makes the file when there is none, and means the same file from anywhere", async () => {
  const powers = fakePowers();
  weightsIn(powers);
  assert.equal(await runCommandLine(["model", "use", "gguf:tiny.gguf"], powers), 0);
  assert.equal(
    Deno.readTextFileSync(configOf(powers)),
    `version: 1\nmodel: gguf:${join(powers.environment.cwd, "tiny.gguf")}\n`,
  );
  assert.equal(await runCommandLine(["model", "use", "no-such-name"], powers), 2);
  assert.match(shown(powers), /remit model list/);
  writeConfig(powers, "version: 1\nmodle: x\n");
  assert.equal(await runCommandLine(["model", "use", "ollama:x"], powers), 2);
  assert.equal(Deno.readTextFileSync(configOf(powers)), "version: 1\nmodle: x\n");
});

Deno.test("what is in the store is verified byte by byte, and removed", async () => {
  const powers = fakePowers();
  const add = ["model", "add", weightsIn(powers), "--name", "mine", "--licence", "my own"];
  assert.equal(await runCommandLine(add, powers), 0);
  assert.equal(await runCommandLine(["model", "verify"], powers), 0);
  assert.match(shown(powers), /✓ mine +its bytes are what was pinned, not signed/);
  const path = weightsPath(placesOf(powers.environment, undefined), sha256Hex(fakeWeights()));
  Deno.chmodSync(path, 0o600);
  const poisoned = fakeWeights({ filler: "poisoned" });
  Deno.writeFileSync(path, poisoned);
  assert.equal(await runCommandLine(["model", "verify", "mine"], powers), 1);
  assert.match(shown(powers), new RegExp(`✗ mine +CHANGED.*${sha256Hex(poisoned)}`));
  assert.match(shown(powers), /remit model remove mine/);
  Deno.removeSync(path);
  assert.equal(await runCommandLine(["model", "verify", "mine", "--json"], powers), 1);
  assert.deepEqual(jsonOf(powers), [{
    name: "mine",
    sha256: sha256Hex(fakeWeights()),
    ok: false,
    says: "its file is gone",
  }]);
  assert.equal(await runCommandLine(["model", "remove", "mine"], powers), 0);
  assert.equal(await runCommandLine(["model", "remove", "mine"], powers), 2);
  assert.equal(await runCommandLine(add, powers), 0, "and can be added again");
  assert.equal(await runCommandLine([...add.slice(0, 3), "--name", "mine"], powers), 1);
});

Deno.test("a signature file that is none, or of a stranger, keeps weights out", async () => {
  const powers = fakePowers();
  const file = join(powers.root, "sig.json");
  const add = ["model", "add", weightsIn(powers), "--signature", file];
  assert.equal(await runCommandLine(add, powers), 2);
  Deno.writeTextFileSync(file, "{}");
  assert.equal(await runCommandLine(add, powers), 2);
  assert.match(shown(powers), /"remit-weights-v1"/);
  Deno.writeTextFileSync(file, JSON.stringify({ key: "a".repeat(64), value: "b".repeat(128) }));
  assert.equal(await runCommandLine(add, powers), 64);
  assert.deepEqual(powers.disk.list(placesOf(powers.environment, undefined).models), []);
});

Deno.test("pull shows what it gets; unsigned weights need a yes where keys are named", async () => {
  const weights = fakeWeights({ filler: "weights ".repeat(4) });
  await using server = serveWeights(honest(weights));
  const powers = fakePowers();
  const home = join(powers.root, "home");
  Deno.mkdirSync(join(home, "models", "weights", "pull"), { recursive: true });
  Deno.writeTextFileSync(
    join(home, "models", "weights", "pull", "models.yaml"),
    `version: 1\nmodels:\n  - { name: tiny, title: Tiny, url: "${server.url}", about: ${weights.length}, ` +
      "licence: MIT, why: it is small }\n",
  );
  const there = { ...powers, environment: { ...powers.environment, home } };
  writeConfig(powers, `version: 1\nmodelKeys: [${"a".repeat(64)}]\n`);
  assert.equal(await runCommandLine(["model", "pull", "tiny"], there), 64);
  assert.match(shown(powers), /unpinned: what comes now is pinned by you/);
  assert.match(shown(powers), /add --yes/);
  assert.equal(server.asked.length, 0);
  const no = { ...there, keyboard: fakeKeyboard(["no"]) };
  assert.equal(await runCommandLine(["model", "pull", "tiny"], no), 64);
  assert.equal(await runCommandLine(["model", "pull", "tiny", "--yes", "--json"], there), 0);
  assert.equal((jsonOf(powers) as { sha256: string }).sha256, sha256Hex(weights));
  assert.equal(await runCommandLine(["model", "pull", "none"], there), 2);
  assert.match(shown(powers), /the catalogue has tiny; .*remit model add FILE\.gguf/);
});

Deno.test("what has no digest yet is pinned by a person's word: asked for at a terminal, by --yes without one", async () => {
  const weights = fakeWeights({ filler: "weights ".repeat(4) });
  await using server = serveWeights(honest(weights));
  const powers = fakePowers();
  const home = join(powers.root, "home");
  const place = join(home, "models", "weights", "pull");
  Deno.mkdirSync(place, { recursive: true });
  const list = (more: string): void =>
    Deno.writeTextFileSync(
      join(place, "models.yaml"),
      `version: 1\nmodels:\n  - { name: tiny, title: Tiny, url: "${server.url}", about: ${weights.length}, ` +
        `licence: MIT, why: it is small${more} }\n`,
    );
  const there = { ...powers, environment: { ...powers.environment, home } };
  const pull = ["model", "pull", "tiny"];
  list("");
  assert.equal(await runCommandLine(pull, there), 64);
  assert.match(
    shown(powers),
    /Cannot pull "tiny", which is unpinned: nobody is at a terminal to say yes; add --yes/,
  );
  assert.equal(await runCommandLine(pull, { ...there, keyboard: fakeKeyboard([""]) }), 64);
  assert.equal(server.asked.length, 0, "nothing was fetched");
  const carol = fakeKeyboard(["y"]);
  assert.equal(await runCommandLine(pull, { ...there, keyboard: carol }), 0);
  assert.match(carol.prompts.join(), /pin what comes now\?/);
  assert.equal(await runCommandLine(["model", "remove", "tiny"], there), 0);
  assert.equal(await runCommandLine([...pull, "--yes"], there), 0);
  assert.equal(await runCommandLine(["model", "remove", "tiny"], there), 0);
  list(`, sha256: ${sha256Hex(weights)}, bytes: ${weights.length}`);
  assert.equal(await runCommandLine(pull, there), 0, "what is pinned needs no word");
});

Deno.test("the native engine is fetched once, after a yes", async () => {
  let fetched = 0;
  const engine = {
    offer: { package: "@node-llama-cpp/linux-x64@3.22.1", about: "llama.cpp" },
    found: () => fetched > 0 ? "/cache/native" : undefined,
    fetch(): Promise<{ folder: string; bytes: number; files: number }> {
      fetched += 1;
      return Promise.resolve({ folder: "/cache/native", bytes: 30_000_000, files: 20 });
    },
  };
  const powers = fakePowers({ models: fakeModels({ engine }) });
  assert.equal(await runCommandLine(["model", "accelerate"], powers), 64);
  assert.equal(fetched, 0);
  assert.equal(await runCommandLine(["model", "accelerate", "--yes"], powers), 0);
  assert.match(shown(powers), /package @node-llama-cpp\/linux-x64@3\.22\.1/);
  assert.match(shown(powers), /20 files, 30\.0 MB/);
  assert.equal(await runCommandLine(["model", "accelerate"], powers), 0);
  assert.equal(fetched, 1);
  const none = fakePowers({ models: fakeModels({ engine: NO_ENGINE }) });
  assert.equal(await runCommandLine(["model", "accelerate"], none), 1);
});

/** A kernel whose model does what `events` and `answer` say. */
function testing(
  events: readonly (readonly [string, object, object?])[],
  answer: (word: string) => string,
): FakeOps {
  let word = "";
  return {
    run(body) {
      const { mounts } = body as { mounts: { dir: string }[] };
      const note = Deno.readTextFileSync(join(mounts[0]?.dir ?? "", "note.txt"));
      word = /k[0-9a-z]{12}/.exec(note)?.[0] ?? "";
      return { task: TASK };
    },
    watch(_body, kernel) {
      kernel.tell({ kind: "chunk", text: "…" });
      kernel.end("done", 0);
      return null;
    },
    task: () => taskJson({ answer: answer(word) }),
    staged: () => toJson({ patch: null, changes: [], applied: [], content: "/nowhere" }),
    receipts: () => [],
    head: () => ({ head: "c".repeat(64) }),
    log: (body) =>
      ((body as { from?: number }).from ?? 0) > 0
        ? []
        : events.map(([event, fields, inner], n) => toJson(told(n, event, fields, inner))),
  };
}

const INFERRED = ["inferred", { inputTokens: 100, outputTokens: 5, money: 0 }] as const;
const READ = [
  ["intent", { call: "c", tool: "file_read" }, { arguments: '{"path":"check/note.txt"}' }],
  ["outcome", { call: "c", tool: "file_read", outcome: "ok" }],
] as const;

Deno.test("a model that calls the tool and uses what it gave can drive the loop", async () => {
  const powers = fakePowers({
    ops: testing([INFERRED, ...READ, INFERRED], (word) => `It is ${word.toUpperCase()}.`),
  });
  assert.equal(await runCommandLine(["model", "test", "ollama:m"], powers), 0);
  assert.match(
    shown(powers),
    /✓ it calls a tool[^]*2 requests, 200 tokens in, 10 out[^]*It can drive/,
  );
  const [, body] = powers.kernels_.last?.asked.find(([op]) => op === "run") ?? [];
  const { agent, mounts, onQuestion } = body as {
    agent: { capabilities: unknown };
    mounts: { mode: string }[];
    onQuestion: string;
  };
  assert.deepEqual(agent.capabilities, [{ tool: "file_read" }]);
  assert.deepEqual(mounts.map(({ mode }) => mode), ["ro"]);
  assert.equal(onQuestion, "deny");
});

Deno.test("carol's Ctrl-C while the model is still being opened ends the check's task", async () => {
  let press = (_count: number): void => undefined;
  const ops = testing([INFERRED], () => "");
  const powers = {
    ...fakePowers({
      ops: {
        ...ops,
        run(body, kernel) {
          press(1);
          return ops["run"]?.(body, kernel) ?? null;
        },
        interrupt: () => null,
      },
    }),
    interrupts: {
      listen: (listener: (count: number) => void) => {
        press = listener;
        return () => undefined;
      },
    },
  };
  await runCommandLine(["model", "test", "ollama:m"], powers);
  const asked = powers.kernels_.last?.asked.find(([op]) => op === "interrupt");
  assert.deepEqual(asked?.[1], { task: TASK, second: true });
});

Deno.test("a check tells how fast a model of this machine reads and writes", async () => {
  const ops = testing([INFERRED], () => "Hm.");
  const fake = fakePowers({
    ops: {
      ...ops,
      watch(_body, kernel) {
        // What came before the first report is not known.
        for (const done of [64, 128]) kernel.tell({ kind: "reading", done, total: 128 });
        kernel.tell(told(0, ...INFERRED));
        kernel.end("done", 0);
        return null;
      },
    },
  });
  // Each look at the clock is two seconds after the last.
  let now = 0;
  const powers = { ...fake, environment: { ...fake.environment, now: () => now += 2_000 } };
  await runCommandLine(["model", "test", "ollama:m"], powers);
  assert.match(shown(powers), /reads 32 tokens\/s, writes 2\.5 tokens\/s/);
});

Deno.test("a model that only talks, guesses, or calls wrongly cannot, and it is said why", async () => {
  const invalid = ["refused", {
    call: "c",
    tool: "file_read",
    outcome: "invalidArguments",
  }] as const;
  for (
    const [events, answer, says] of [
      [[INFERRED], () => "I would read the file.", /it did not call the tool/],
      [[INFERRED, invalid], () => "", /its call did not fit/],
      [[INFERRED, ...READ, INFERRED], () => "Done.", /does not use the result/],
    ] as const
  ) {
    const powers = fakePowers({ ops: testing(events, answer) });
    assert.equal(await runCommandLine(["model", "test", "ollama:m"], powers), 1);
    assert.match(shown(powers), says);
    assert.match(shown(powers), /It cannot drive the loop/);
    assert.equal(await runCommandLine(["model", "test", "ollama:m", "--json"], powers), 1);
    assert.equal((jsonOf(powers) as { drives: boolean }).drives, false);
  }
});

Deno.test("doctor says which models can be reached", async () => {
  const powers = fakePowers({ env: { OPENAI_API_KEY: "sk-0123456789" } });
  writeConfig(powers, "version: 1\nmodels:\n  near: ollama:m@http://127.0.0.1:1\n");
  assert.equal(await runCommandLine(["doctor"], powers), 0);
  assert.match(shown(powers), /Models\n +– near +127\.0\.0\.1:1 cannot be reached/);
  assert.match(shown(powers), /✓ openai +key in the environment \(OPENAI_API_KEY\)/);
});
