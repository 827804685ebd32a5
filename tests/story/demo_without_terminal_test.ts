/** The demo as a machine runs it: nobody sits there, and every promise of its closing words is kept. */
import assert from "node:assert/strict";
import { filesBeneath } from "../fake/files_beneath.ts";
import { onMachine } from "../fake/remit.ts";
import { readRun } from "../fake/run_document.ts";

const DESK = new URL("../../examples/desk", import.meta.url).pathname;
const SECRETS = ["carol-EXAMPLE", "not-a-real-password", "EXAMPLE-EXAMPLE"];
const OLD = "- [ ] call the supplier back about the lanterns";
const NEW = "- [x] call the supplier back about the lanterns";

function deskOf(said: string): string {
  const [, desk = ""] = /^ {2}desk +(\S+)/m.exec(said) ?? [];
  assert.notEqual(desk, "", said);
  return desk;
}

const namesBeneath = async (dir: string): Promise<readonly string[]> =>
  (await Array.fromAsync(filesBeneath(dir), ({ path }) => path.slice(dir.length + 1))).sort();

async function assertNoSecrets(dir: string): Promise<void> {
  for await (const { path, bytes } of filesBeneath(dir)) {
    const text = new TextDecoder("latin1").decode(bytes);
    for (const secret of SECRETS) assert(!text.includes(secret), `${secret} lies in ${path}`);
  }
}

Deno.test("carol starts the demo without a terminal: it ends with 0, says what it did, and every command it names works", async () => {
  await onMachine(async (machine) => {
    const before = await Deno.readTextFile(`${DESK}/notes/plan.md`);
    const run = await machine.remit(["run"]);
    assert.equal(run.code, 0, run.stderr);
    const said = run.stderr;
    const desk = deskOf(said);

    // It says what it is, and who answers in place of a person.
    assert.match(said, /scripted/);
    assert.match(said, /answers +\S+answers\.json/);
    assert.doesNotMatch(said, /passphrase/i);
    // deno-lint-ignore no-control-regex -- escapes are what it looks for
    assert.doesNotMatch(run.stdout + said, /\x1b/, "NO_COLOR, and no terminal");

    // The five closing parts.
    assert.match(said, /^ {2}read +desk/m);
    assert.match(said, /desk\/notes\/plan\.md$/m);
    assert.match(said, /desk\/inbox\/2026-11-18-supplier\.eml$/m);
    assert.match(said, /^ {2}changed +desk\/notes\/plan\.md +changed, applied$/m);
    assert.match(said, /^ {2}refused +file_read desk\/keys\.env .*never-list/m);
    assert.match(said, /http_fetch https:\S+ +by \S*remit\.yaml:\d+$/m);
    assert.match(said, /^ {2}asked +patch_apply: allow, by answers-file$/m);
    assert.match(said, /^ {2}spent +\S.*: \d+ model turns, \d+ calls, \d+ tokens$/m);

    // The agent's answer is standard output, and nothing else is.
    assert.match(run.stdout, /^Done\. In notes\/plan\.md the call to the supplier is ticked off/);
    assert.doesNotMatch(run.stdout, /remit/);

    // The change is in the folder that it named, and nothing else changed there.
    const after = await Deno.readTextFile(`${desk}/notes/plan.md`);
    assert(before.includes(OLD) && after.includes(NEW) && !after.includes(OLD));
    const names = await namesBeneath(desk);
    assert.deepEqual(
      names,
      (await namesBeneath(DESK))
        .filter((name) => name !== "demo.yaml" && name !== "answers.json"),
    );

    // What it tells you to type, works.
    const [, task = ""] = /^ {2}see +.* log (\S+) /m.exec(said) ?? [];
    const [, head = ""] = /\b([0-9a-f]{64})\b/.exec(said) ?? [];
    const log = await machine.remit(["log", task]);
    assert.equal(log.code, 0);
    assert.match(log.stdout, /refused .*keys\.env/);
    const followed = await machine.remit(["log", task, "--follow"]);
    assert.deepEqual(
      [followed.code, followed.stdout, followed.stderr],
      [0, log.stdout, ""],
      "following what has ended is reading it",
    );
    const diff = await machine.remit(["diff", task]);
    assert(diff.stdout.includes(`+${NEW}`) && diff.stdout.includes("applied"), diff.stdout);
    const verified = await machine.remit(["audit", "verify", "--head", head]);
    assert.equal(verified.code, 0, verified.stdout + verified.stderr);
    const wrong = await machine.remit(["audit", "verify", "--head", "f".repeat(64)]);
    assert.equal(wrong.code, 1, "a head that is not in the log is not there");

    // Undo is exact.
    const undone = await machine.remit(["undo", task]);
    assert.equal(undone.code, 0, undone.stderr);
    assert.equal(await Deno.readTextFile(`${desk}/notes/plan.md`), before);

    // What nobody was to read is nowhere: not in a log, a store, an output.
    for (const text of [run.stdout, said, log.stdout, diff.stdout]) {
      for (const secret of SECRETS) assert(!text.includes(secret));
    }
    await assertNoSecrets(machine.state);
  });
});

Deno.test("carol's program reads one JSON document, twice over, and a stranger checks its receipts (long)", async () => {
  await onMachine(async (machine) => {
    const run = await machine.remit(["run", "--json"]);
    assert.equal(run.code, 0, run.stderr);
    const document = readRun(run.stdout);
    assert.equal(document.status, "done");
    assert.deepEqual(
      document.changes.map(({ path, kind, state }) => ({ path, kind, state })),
      [{ path: "desk/notes/plan.md", kind: "changed", state: "applied" }],
    );
    assert.deepEqual(document.refused.map(({ tool, subject }) => [tool, subject]), [
      ["file_read", "desk/keys.env"],
      ["http_fetch", "https://collect.example/in"],
    ]);
    assert(document.refused.every(({ rule, why }) => rule !== "" && why !== ""));
    assert.deepEqual(document.asked.map(({ tool, decision, by }) => [tool, decision, by]), [
      ["patch_apply", "allow", "answers-file"],
    ]);
    assert(document.read.includes("desk/notes/plan.md"), document.read.join());
    assert(!document.read.includes("desk/keys.env"), "refused is not read");
    assert.equal(document.spent.money, 0);
    // Seven calls, each with a receipt: also for what was refused.
    const kinds = document.receipts.map(({ events }) => events.at(-1)?.kind);
    assert.deepEqual(kinds.toSorted(), [
      ...Array<string>(5).fill("outcome"),
      ...Array<string>(2).fill("refused"),
    ]);

    const shown = await machine.remit(["receipt", "show", document.task]);
    assert.equal(shown.code, 0);
    assert.match(shown.stdout, /patch_apply/);

    const exported = await machine.remit(["receipt", "export", document.task]);
    assert.equal(exported.stdout.trim().split("\n").length, 7);
    const file = await machine.write("receipts.jsonl", exported.stdout);
    const [, key = ""] = /"key":"([\w-]+)"/.exec(exported.stdout) ?? [];
    const good = await machine.remit(["receipt", "verify", file, "--key", key]);
    assert.equal(good.code, 0, good.stdout);
    const stranger = await machine.remit(["receipt", "verify", file, "--key", "A".repeat(43)]);
    assert.equal(stranger.code, 1, "signed by this kernel, not by another");

    // Bytes all over the file, each flipped alone.
    const bytes = new TextEncoder().encode(exported.stdout);
    for (const part of [0.1, 0.5, 0.9]) {
      const flipped = bytes.slice();
      const at = Math.floor(bytes.length * part);
      flipped[at] = (bytes[at] ?? 0) ^ 1;
      await Deno.writeFile(`${machine.dir}/flipped.jsonl`, flipped);
      const bad = await machine.remit(["receipt", "verify", "flipped.jsonl", "--key", key]);
      assert.notEqual(bad.code, 0, `byte ${at} of ${bytes.length}`);
    }

    const again = readRun((await machine.remit(["run", "--json"])).stdout);
    assert.equal(again.status, "done");
    assert.notEqual(again.task, document.task);
    const verified = await machine.remit(["audit", "verify", "--head", document.head]);
    assert.equal(verified.code, 0, "the head of the first run is still in the log");
  });
});
