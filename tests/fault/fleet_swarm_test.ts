/**
 * Kernels under a swarm are killed at each of its steps, and one dies with what its worker had staged: no assignment is
 * given twice, no change is merged twice, and every chain holds.
 */
import assert from "node:assert/strict";
import { EXIT } from "../../contracts/base/mod.ts";
import {
  gatewayOf,
  journalOf,
  killKernel,
  nothingTwice,
  ok,
  rows,
  SLOW_WORKER,
  withTwo,
} from "../fake/fleet_swarm.ts";
import { smallRepository, swarmFile } from "../fake/swarm.ts";
import { waitUntil } from "../fake/wait_until.ts";
import { needs } from "../needs.ts";

Deno.test("kernels are killed at every step of a swarm: what was done stands, and nothing is done twice", async () => {
  if (!needs("git")) return;
  await withTwo(async (fleet) => {
    const { one, two, work } = fleet;
    await smallRepository(two);
    const limits = "{ workers: 2, attempts: 6 }";
    const plan = await swarmFile(two, { worker: SLOW_WORKER, limits });
    const run = two.start(["swarm", "run", plan, "--json"]);
    // The other one's kernel, and once the one that the scheduler speaks to.
    for (
      const [step, whose] of [
        ...[["assigned", one], ["started", one], ["ended", one], ["checked", two]] as const,
        ...[["merged", one], ["offered", two]] as const,
      ]
    ) {
      await waitUntil(`${step} in the journal`, async () => {
        const events = await journalOf(work).catch(() => []);
        return events.some(({ kind }) => kind === step) ? true : undefined;
      });
      await killKernel(whose);
      await ok(whose, ["fleet", "list"]);
    }
    const first = await run.done;
    const said = `${first.stderr}${first.stdout}`;
    assert.ok([EXIT.waiting, EXIT.upstreamFailure].includes(first.code as never), said);
    // Its own kernel was killed when the diff was being put to the person: it is put again, and is the same.
    const [swarm] = await rows(two, ["swarm", "list"]);
    const done = await two.remit(["swarm", "resume", String(swarm?.["id"]), "--json"]);
    const offered = (await journalOf(work)).filter(({ kind }) => kind === "offered");
    assert.equal(offered.length, 1);
    assert.equal(done.code, 75, `${done.stderr}${done.stdout}`);
    assert.equal(JSON.parse(done.stdout).status, "done");
    await using gateway = await gatewayOf(two);
    await nothingTwice(fleet, gateway);
    await gateway.run(["audit", "verify"]);
    await ok(one, ["fleet", "verify"]);
  });
});

Deno.test("what a worker had staged dies with its kernel before anybody collected it: another worker is assigned", async () => {
  if (!needs("git")) return;
  await withTwo(async (fleet) => {
    const { one, two, work } = fleet;
    await smallRepository(two);
    // Long enough that the scheduler is stopped before any of them ends.
    const worker = SLOW_WORKER.replace("firstMs: 700", "firstMs: 3000");
    const plan = await swarmFile(two, { worker, limits: "{ workers: 3 }" });
    await ok(two, ["fleet", "cordon", "two"]);
    const run = two.start(["swarm", "run", plan, "--json"]);
    const begun = async () => (await journalOf(work)).filter(({ kind }) => kind === "started");
    await waitUntil("three tasks", async () => {
      return (await begun().catch(() => [])).length >= 3 ? true : undefined;
    });
    // The scheduler does not look while they end.
    run.kill("SIGSTOP");
    await waitUntil("three tasks that are done", async () => {
      const tasks = await rows(one, ["task", "list"]);
      return tasks.every(({ status }) => status === "done") ? true : undefined;
    });
    await killKernel(one);
    await ok(two, ["fleet", "uncordon", "two"]);
    run.kill("SIGCONT");
    const done = await run.done;
    assert.equal(done.code, 75, `${done.stderr}${done.stdout}`);
    const { issues } = JSON.parse(done.stdout) as {
      readonly issues: readonly {
        readonly attempts: readonly { readonly outcome?: { readonly why?: string } }[];
      }[];
    };
    const lost = issues.flatMap(({ attempts }) => attempts).filter(({ outcome }) =>
      /does not answer any more/.test(outcome?.why ?? "")
    );
    assert.ok(lost.length > 0, JSON.stringify(issues));
    await using gateway = await gatewayOf(two);
    await nothingTwice(fleet, gateway);
    await gateway.run(["audit", "verify"]);
  });
});
