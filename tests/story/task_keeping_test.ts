/** alice keeps house: she looks at a task, puts it away, erases it, and the chain still verifies. */
import assert from "node:assert/strict";
import * as z from "zod";
import { holding } from "../fake/files_beneath.ts";
import { onMachine } from "../fake/remit.ts";
import { readRun } from "../fake/run_document.ts";
import { alicesPlans, playing } from "../fake/scenes.ts";

const READS_AND_REACHES = `
scenario: reads and reaches
turns:
  - calls: [{ tool: file_read, args: { path: plans/trip.txt } }]
  - calls: [{ tool: file_read, args: { path: plans/secret.env } }]
  - calls: [{ tool: http_fetch, args: { url: "https://evil.example/", method: GET } }]
  - say: I read that you leave on Monday.
`;

/** Stands in the arguments of a call that asks, and nowhere else in the state. */
const MARK = "alice-keeps-this-to-herself";
const ASKS_TO_WRITE = `
scenario: asks to write
turns:
  - calls: [{ tool: file_write, args: { path: plans/mine.txt, content: ${MARK} } }]
  - say: Written.
`;
const Waiting = z.array(z.object({ id: z.string() }));

function recordsOf(stdout: string): Record<string, unknown>[] {
  const Line = z.record(z.string(), z.unknown());
  return stdout.split("\n").filter((line) => line !== "")
    .map((line) => Line.parse(JSON.parse(line)));
}

Deno.test("alice asks the audit log what was done and what was refused, and by which rule", async () => {
  await onMachine(async (machine) => {
    const words = [...await alicesPlans(machine), ...await playing(machine, READS_AND_REACHES)];
    await machine.write("plans/secret.env", "KEY=value-of-the-key\n");
    const run = readRun(
      (await machine.remit(["run", "-p", "Read", "--json", ...words])).stdout,
    );
    const query = async (...args: string[]): Promise<Record<string, unknown>[]> =>
      recordsOf((await machine.remit(["audit", "query", ...args])).stdout);

    const reads = await query("--tool", "file_read");
    assert.deepEqual(reads.map(({ outcome }) => outcome), ["ok", "refusedByPolicy"]);
    const forbidden = await query("--decision", "forbidden");
    assert.deepEqual(forbidden.map(({ tool }) => tool), ["file_read", "http_fetch"]);
    assert(forbidden.every(({ rule }) => typeof rule === "string" && rule !== ""));
    assert.equal((await query("--task", run.task)).length, 3);
    assert.equal((await query("--since", "1h")).length, 3);
    assert.equal((await query("--since", "2100-01-01")).length, 0);
    assert.equal((await query("--model", "scripted:reads and reaches")).length, 3);
    assert.equal((await query("--model", "another")).length, 0);
    const [read] = reads;
    assert.deepEqual(JSON.parse(String(read?.["arguments"])), { path: "plans/trip.txt" });
    assert.deepEqual(read?.["scope"], ["mount:read:plans/trip.txt"]);
    for (
      const field of [
        "session",
        "principal",
        "conversation",
        "nonce",
        "descriptor",
        "observedVersion",
      ]
    ) assert.notEqual(read?.[field], undefined, field);
    assert.equal((await machine.remit(["audit", "query", "--since", "soon"])).code, 2);
  });
});

Deno.test("alice shows, archives and purges a task: its content is gone, its chain and its receipts hold", async () => {
  await onMachine(async (machine) => {
    const words = [...await alicesPlans(machine), ...await playing(machine, READS_AND_REACHES)];
    const request = "Read my most private plan";
    const run = readRun(
      (await machine.remit(["run", "-p", request, "--json", ...words])).stdout,
    );
    const shown = await machine.remit(["task", "show", run.task]);
    assert.match(shown.stdout, /^objective +Read my most private plan$/m);
    assert.match(shown.stdout, /^status +done, exit 0$/m);
    assert.match(shown.stdout, /^mount +plans = .* \(stage, YELLOW\)$/m);
    const cancelled = await machine.remit(["task", "cancel", run.task]);
    assert.equal(cancelled.code, 1, "what has ended cannot be cancelled");
    assert.equal(cancelled.stderr, `remit: Cannot cancel task ${run.task}: it is "done"\n`);

    const exported = await machine.remit(["receipt", "export", run.task]);
    const file = await machine.write("receipts.jsonl", exported.stdout);

    assert.equal((await machine.remit(["task", "archive", run.task])).code, 0);
    assert.equal((await machine.remit(["task", "show"])).stdout, "no tasks\n");
    assert.equal((await machine.remit(["task", "purge", run.task])).code, 0);
    const log = await machine.remit(["log", run.task]);
    assert(!log.stdout.includes("private plan") && !log.stdout.includes("trip.txt"), log.stdout);
    assert.match(log.stdout, /outcome +.*file_read +.*ok/, "that it was read is still on record");
    const verified = await machine.remit(["audit", "verify", "--head", run.head]);
    assert.equal(verified.code, 0, verified.stdout);
    assert.equal((await machine.remit(["receipt", "verify", file])).code, 0);

    // What is gone is not told as damage.
    const told: readonly (readonly [readonly string[], string])[] = [
      [["diff", run.task], "show the changes of"],
      [["undo", run.task], "undo"],
    ];
    for (const [words, verb] of told) {
      const { code, stderr } = await machine.remit(words);
      assert.equal(code, 1, stderr);
      assert.equal(stderr, `remit: Cannot ${verb} task ${run.task}: its content is erased\n`);
    }
    const followed = await machine.remit(["log", run.task, "--follow"]);
    assert.equal(followed.stderr, `remit: Cannot watch task ${run.task}: it was purged\n`);

    assert.equal((await machine.remit(["task", "show", "t00000000000x"])).code, 2);
    assert.equal((await machine.remit(["log", "nonsense"])).code, 2);
  });
});

Deno.test("alice ends a task that asked her something: nothing of it waits for her, and purged it is in no byte of the state", async () => {
  await onMachine(async (machine) => {
    const [mount = "", plans = ""] = await alicesPlans(machine);
    const words = [mount, `${plans}:rw`, ...await playing(machine, ASKS_TO_WRITE)];
    const run = readRun((await machine.remit(["run", "-p", "Write", "--json", ...words])).stdout);
    assert.equal(run.exit, 75);
    const [question, ...more] = Waiting.parse(await machine.json(["questions"]));
    assert(question !== undefined && more.length === 0);
    assert.notDeepEqual(await holding(machine.state, MARK), [], "it is kept while it is asked");

    assert.equal((await machine.remit(["task", "cancel", run.task])).code, 0);
    assert.deepEqual(await machine.json(["questions"]), []);
    const late = await machine.remit(["answer", question.id, "allow"]);
    assert.equal(late.code, 1);
    assert.match(late.stderr, /Cannot answer question q\w+: it is lapsed/);

    assert.equal((await machine.remit(["task", "purge", run.task])).code, 0);
    const gone = await machine.remit(["answer", question.id, "allow"]);
    assert.match(gone.stderr, /Cannot show question q\w+: there is none/);
    assert.deepEqual(await holding(machine.state, MARK), []);
    assert.equal((await machine.remit(["stop"])).code, 0);
    assert.deepEqual(await holding(machine.state, MARK), []);
    assert.deepEqual(await machine.json(["questions"]), [], "the next kernel reads what is left");
    assert.equal((await machine.remit(["audit", "verify"])).code, 0);
  });
});
