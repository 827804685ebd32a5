/** alice reads an answer while it is written: at her terminal word by word, in a pipe as one text. */
import assert from "node:assert/strict";
import { BACKENDS, keepKey, planned, READS, says } from "../fake/model_scenes.ts";
import { onMachine } from "../fake/remit.ts";
import { openTerminal } from "../fake/terminal.ts";
import { needs } from "../needs.ts";

const ANSWER =
  "You leave on **Monday**.\n\n- pack `socks`\n\n```ts\nconst day = 1;\n```\nThat is all.";

Deno.test("alice sees the first words while the model still writes, once, with its marks as styles; a pipe gets the text as it is", async () => {
  if (!needs("script")) return;
  const backend = BACKENDS[1];
  assert.ok(backend !== undefined);
  await onMachine(async (machine) => {
    await using provider = backend.serve();
    await keepKey(machine, backend, provider);
    const words = [...await planned(machine), "--model", backend.ref(provider)];
    const more = Promise.withResolvers<void>();
    provider.next(READS, { text: [ANSWER.slice(0, 30), more.promise, ANSWER.slice(30)] });
    const terminal = openTerminal(machine.command(["run", "-p", "When?", ...words]), {
      env: { ...machine.env, NO_COLOR: "" },
      cwd: machine.dir,
    });
    try {
      // Held back by the server: what is seen now came before the answer's end.
      const early = await terminal.shows("You leave on");
      assert.doesNotMatch(early, /That is all/);
      more.resolve();
      await terminal.shows("That is all.");
      assert.equal(await terminal.ended(), 0);
      const screen = terminal.screen();
      assert.equal(screen.split("You leave on").length, 2, "the answer stands there once");
      assert.ok(screen.includes("\x1b[1mMonday\x1b[22m."), screen);
      assert.ok(screen.includes("• pack \x1b[36msocks"), screen);
      assert.doesNotMatch(screen, /```|\*\*/);
    } finally {
      await terminal.close();
    }
    // A document is not mixed with the answer's words, also where both would go to a terminal.
    provider.next(says(ANSWER));
    const asJson = openTerminal(machine.command(["run", "-p", "When?", ...words, "--json"]), {
      ...{ env: machine.env, cwd: machine.dir },
    });
    try {
      assert.equal(await asJson.ended(), 0);
      assert.equal(asJson.screen().split("You leave on").length, 2, asJson.screen());
    } finally {
      await asJson.close();
    }
    provider.next(says(ANSWER));
    const piped = await machine.remit(["run", "-p", "When?", ...words]);
    assert.equal(piped.stdout, `${ANSWER}\n`);
  });
});

Deno.test("bob's program reads a task as JSON lines while it happens; the last one is the document", async () => {
  const backend = BACKENDS[1];
  assert.ok(backend !== undefined);
  await onMachine(async (machine) => {
    const publish = {
      calls: [{
        id: "publish",
        name: "outbox_publish",
        pieces: [JSON.stringify({ path: "plans/trip.txt", name: "trip" })],
      }],
    };
    await using provider = backend.serve([READS, publish, says("You leave on Monday.")]);
    await keepKey(machine, backend, provider);
    const words = [...await planned(machine), "--model", backend.ref(provider)];
    const run = ["run", "-p", "When?", ...words, "--output-format", "stream-json"];
    const done = await machine.remit(run);
    assert.equal(done.code, 0, done.stderr);
    const lines = done.stdout.trim().split("\n").map((line) => JSON.parse(line));
    assert.ok(lines.every(({ v, type }) => v === 1 && typeof type === "string"));
    assert.deepEqual([lines[0].type, lines.at(-1).type], ["start", "result"]);
    const of = (type: string) => lines.filter((each) => each.type === type);
    assert.equal(of("text").map(({ content }) => content).join(""), "I look.You leave on Monday.");
    assert.equal(of("text").filter(({ final }) => final === true).length, 3);
    const [artifact] = of("artifact");
    assert.deepEqual([artifact.name, artifact.bytes > 0], ["trip", true]);
    assert.match(artifact.hash, /^[0-9a-f]{64}$/);
    const [call] = of("tool_call"), [result] = of("tool_result");
    assert.deepEqual([call.tool, call.args], ["file_read", { path: "plans/trip.txt" }]);
    assert.deepEqual([result.call, result.status], [call.call, "ok"]);
    const { v: _v, type: _type, ...document } = lines.at(-1);
    assert.deepEqual([document.answer, document.exit, document.task], [
      "You leave on Monday.",
      0,
      lines[0].task,
    ]);

    // One that fails says so in the stream, too, and --output-format json is --json.
    provider.next({ status: 400, body: { error: { message: "no such model" } } });
    const failed = await machine.remit(run);
    const last = failed.stdout.trim().split("\n").map((line) => JSON.parse(line)).slice(-2);
    assert.deepEqual(last.map(({ type }) => type), ["error", "result"]);
    assert.equal(last[1].exit, failed.code);
    provider.next(says("Monday."));
    const one = await machine.remit([...run.slice(0, -1), "json"]);
    assert.equal(JSON.parse(one.stdout).answer, "Monday.");
    const wrong = await machine.remit([...run.slice(0, -1), "xml"]);
    assert.equal(wrong.code, 2, wrong.stderr);
    assert.match(wrong.stderr, /it takes text, json, stream-json/);
  });
});
