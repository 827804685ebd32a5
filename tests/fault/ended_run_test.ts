/** A run of tests that is ended in its midst: at a time limit, by a person, or by the machine when memory is short. */
import assert from "node:assert/strict";
import { guardRun } from "../../scripts/testing/guard.ts";
import { endProcesses, processesNaming, stillRunning } from "../fake/processes.ts";
import { waitUntil } from "../fake/wait_until.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** A test that has a kernel and a service running, says so, and never ends. */
const hanging = (ready: string): string =>
  `import { heldKernel } from "${ROOT}tests/fake/held_kernel.ts";
  import { onMachine } from "${ROOT}tests/fake/remit.ts";
  import { startService } from "${ROOT}tests/fake/service.ts";
  Deno.test("never ends", () => onMachine(async (machine) => {
    await heldKernel(machine);
    await startService(machine);
    await Deno.writeTextFile("${ready}.draft", machine.dir.slice(0, -"/work".length));
    await Deno.rename("${ready}.draft", "${ready}");
    await new Promise(() => setInterval(() => {}, 60_000));
  }, { env: { REMIT_IDLE_SECONDS: "3600" } }));`;

/** A runner of that one suite, as \`scripts/test.ts\` is one of all. */
const runner = (file: string): string =>
  `import { guardRun } from "${ROOT}scripts/testing/guard.ts";
  import { runSuite } from "${ROOT}scripts/testing/run_suite.ts";
  await using run = await guardRun();
  const suite = { name: "a", files: ["${"../".repeat(40)}${file}"], alone: false, doc: false };
  await runSuite(suite, { seed: 1, onLine: (line) => console.error(line), end: run.end });`;

for (
  const [how, whom, signal] of [
    ["SIGTERM of the runner", "runner", "SIGTERM"],
    ["SIGKILL of the runner", "runner", "SIGKILL"],
    ["SIGKILL of the task that runs the runner", "task", "SIGKILL"],
    ["SIGKILL of the runner and its guard, once another run begins", "both", "SIGKILL"],
  ] as const
) {
  Deno.test(`a kernel and a service of a suite end with its run, which ends by ${how}`, async () => {
    const dir = await Deno.realPath(await Deno.makeTempDir({ prefix: "remit-ended-" }));
    const ready = `${dir}/ready`;
    await Deno.writeTextFile(`${dir}/hangs_test.ts`, hanging(ready));
    await Deno.writeTextFile(`${dir}/run.ts`, runner(`${dir}/hangs_test.ts`));
    const tasks = { go: `deno run -A --no-check --config ${ROOT}deno.json ${dir}/run.ts` };
    await Deno.writeTextFile(`${dir}/deno.json`, JSON.stringify({ tasks }));
    const task = new Deno.Command(Deno.execPath(), {
      args: ["task", "--quiet", "--config", `${dir}/deno.json`, "go"],
      ...{ stdin: "null", stdout: "null", stderr: "null" },
    }).spawn();
    let machine = "";
    try {
      machine = await waitUntil("a suite with a kernel and a service", async () => {
        return await Deno.readTextFile(ready).catch(() => undefined);
      });
      const folder = machine.slice(0, machine.lastIndexOf("/s"));
      const started = await processesNaming(machine);
      const runs = (program: RegExp): boolean =>
        started.some(({ command }) => program.test(command));
      assert.ok(runs(/kernel\.js/), "a kernel runs");
      assert.ok(runs(/cli\/main\.ts serve/), "a service runs");
      const own = await processesNaming(`${dir}/run.ts`);
      const run = own.find(({ ppid }) => ppid === task.pid) ?? assert.fail();
      if (whom === "both") {
        const guards = await processesNaming(`guard.ts ${folder} `);
        assert.equal(guards.length, 1);
        for (const { pid } of guards) Deno.kill(pid, "SIGKILL");
      }
      Deno.kill(whom === "task" ? task.pid : run.pid, signal);
      await task.status;
      if (whom === "both") {
        await waitUntil("the end of the runner", async () => {
          return (await stillRunning([run])).length === 0 ? true : undefined;
        });
        await using _next = await guardRun();
      }
      await waitUntil("the end of all that the suite started", async () => {
        return (await stillRunning(started)).length === 0 ? true : undefined;
      });
      await waitUntil("the end of the run's folder", () => {
        return Deno.lstat(folder).then(() => undefined, () => true);
      });
    } finally {
      for (const text of [dir, machine]) if (text !== "") await endProcesses(text);
      await Deno.remove(dir, { recursive: true });
    }
  });
}
