/**
 * carol runs a swarm over two kernels on one database, and one of them is killed half-way: the other goes on with its
 * tasks, nothing is assigned or merged twice, and she has one list, one queue, one cost and one chain that holds.
 */
import assert from "node:assert/strict";
import {
  gatewayOf,
  journalOf,
  killKernel,
  nothingTwice,
  ok,
  type Row,
  rows,
  SLOW_WORKER,
  withTwo,
} from "../fake/fleet_swarm.ts";
import { PHRASES, smallRepository, swarmFile } from "../fake/swarm.ts";
import { openTerminal } from "../fake/terminal.ts";
import { waitUntil } from "../fake/wait_until.ts";
import { needs } from "../needs.ts";

Deno.test("the kernel that has a swarm's tasks is killed: the other takes them over, and carol's yes at a gateway ends it", async () => {
  if (!needs("git")) return;
  await withTwo(async (fleet) => {
    const { one, two, work } = fleet;
    await smallRepository(two);
    const plan = await swarmFile(two, { worker: SLOW_WORKER });
    // The first kernel has all of the tasks; the scheduler sits at the second.
    await ok(two, ["fleet", "cordon", "two"]);
    const run = two.start(["swarm", "run", plan, "--json"]);
    const taken = await waitUntil("a task of the swarm at the other kernel", async () => {
      const [task] = await rows(one, ["task", "list"]);
      return task?.["id"];
    });
    await killKernel(one);
    assert.equal((await rows(two, ["fleet", "list"])).length, 2);
    await ok(two, ["fleet", "uncordon", "two"]);
    const done = await run.done;
    assert.equal(done.code, 75, `${done.stderr}${done.stdout}`);
    const { status, task } = JSON.parse(done.stdout);
    assert.equal(status, "done");
    assert.ok((await journalOf(work)).some((event) => event.task === taken));
    await using gateway = await gatewayOf(two);
    await nothingTwice(fleet, gateway);
    const [question, ...more] = await gateway.rows(["questions"]);
    assert.deepEqual([question?.["task"], more], [task, []], "one question: the diff");
    const cost = JSON.parse(await gateway.run(["cost", "--by", "model", "--json"]));
    const turns = cost.rows.reduce((sum: number, row: Row) => sum + Number(row["inferences"]), 0);
    const [{ n } = { n: 0 }] = await fleet.query(
      "SELECT count(*) AS n FROM remit.events WHERE kind = 'inferred'",
    );
    assert.equal(turns, Number(n), "one cost: each inference once, the killed one's, too");
    assert.equal(await two.read("repo/phrases.txt"), PHRASES);
    await gateway.run(["answer", String(question?.["id"]), "allow"]);
    await waitUntil(
      "the folder with the changes",
      async () => (await two.read("repo/phrases.txt")).includes("Farewell") ? true : undefined,
    );
    await gateway.run(["audit", "verify"]);
    await ok(two, ["fleet", "verify"]);
  });
});

Deno.test("scheduler and kernel are killed together: the swarm is resumed at the other kernel, with the tasks that there are", async () => {
  if (!needs("git")) return;
  await withTwo(async (fleet) => {
    const { one, two, work } = fleet;
    await smallRepository(one);
    const plan = await swarmFile(one, { worker: SLOW_WORKER });
    // Its models are named from the folder where each command is typed.
    await swarmFile(two, { worker: SLOW_WORKER });
    await ok(two, ["fleet", "cordon", "two"]);
    const run = one.start(["swarm", "run", plan]);
    await waitUntil("a task that is begun", async () => {
      const begun = (await journalOf(work).catch(() => [])).some(({ kind }) => kind === "started");
      return begun ? (await rows(one, ["task", "list"]))[0] : undefined;
    });
    run.kill("SIGKILL");
    await run.done;
    await killKernel(one);
    await ok(two, ["fleet", "uncordon", "two"]);
    const [swarm] = await rows(two, ["swarm", "list"]);
    assert.equal(swarm?.["status"], "interrupted", "each kernel's state lists it");
    const done = await two.remit(["swarm", "resume", String(swarm?.["id"]), "--json"]);
    assert.equal(done.code, 75, `${done.stderr}${done.stdout}`);
    assert.equal(JSON.parse(done.stdout).status, "done");
    await using gateway = await gatewayOf(two);
    await nothingTwice(fleet, gateway);
    await gateway.run(["audit", "verify"]);
  });
});

Deno.test("a swarm is stopped from another kernel's state: what waited is withdrawn, what runs elsewhere is cancelled", async () => {
  if (!needs("git") || !needs("script")) return;
  await withTwo(async (fleet) => {
    const { one, two, query } = fleet;
    await smallRepository(two);
    const worker = "scenario: worker\nturns: [{ when: { always: true }, hang: true }]\n";
    const plan = await swarmFile(two, { worker, limits: "{ attempts: 1 }" });
    for (const name of ["one", "two"]) await ok(two, ["fleet", "cordon", name]);
    const run = openTerminal(two.command(["swarm", "run", plan]), {
      env: two.env,
      cwd: two.dir,
    });
    await run.shows("waits for a kernel that takes work");
    const [swarm] = await rows(one, ["swarm", "list"]);
    const id = String(swarm?.["id"]);
    await ok(one, ["swarm", "stop", id]);
    assert.equal(await run.ended(), 130, run.screen());
    await ok(two, ["fleet", "uncordon", "one"]);
    const waiting = await query("SELECT task FROM remit.work WHERE NOT taken");
    assert.deepEqual([waiting.length, await rows(one, ["task", "list"])], [0, []]);

    const again = two.start(["swarm", "resume", id, "--json"]);
    const running = async () =>
      (await rows(one, ["task", "list"])).some(({ status }) => status === "open");
    await waitUntil("a task at the other kernel", async () => await running() || undefined);
    await ok(one, ["swarm", "stop", id]);
    const ended = await again.done;
    assert.equal(ended.code, 130, ended.stderr);
    const tasks = await rows(one, ["task", "list"]);
    assert.ok(tasks.length > 0 && tasks.every(({ status }) => status === "cancelled"));
  });
});
