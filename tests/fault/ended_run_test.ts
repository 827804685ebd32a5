/** A run of tests that is ended in its midst: at a time limit, by a person, or by the machine when memory is short. */
import assert from "node:assert/strict";
import { type Proc, processesNaming, stillRunning } from "../fake/processes.ts";
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
    ["SIGINT of the runner", "runner", "SIGINT"],
    ["SIGKILL of the runner", "runner", "SIGKILL"],
    ["SIGKILL of the task that runs the runner", "task", "SIGKILL"],
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
    try {
      const machine = await waitUntil("a suite with a kernel and a service", async () => {
        return await Deno.readTextFile(ready).catch(() => undefined);
      });
      const started = await processesNaming(machine);
      const has = (program: RegExp): Proc[] =>
        started.filter(({ command }) => program.test(command));
      assert.ok(has(/kernel\.js/).length > 0, "a kernel runs");
      assert.ok(has(/cli\/main\.ts serve/).length > 0, "a service runs");
      const [run] = await processesNaming(`${dir}/run.ts`).then((all) =>
        all.filter(({ ppid }) => ppid === task.pid)
      );
      Deno.kill(whom === "task" ? task.pid : run?.pid ?? assert.fail(), signal);
      await waitUntil("the end of all that the suite started", async () => {
        return (await stillRunning(started)).length === 0 ? true : undefined;
      });
      await waitUntil("the end of the run's folder", () => {
        const folder = machine.slice(0, machine.lastIndexOf("/s"));
        return Deno.lstat(folder).then(() => undefined, () => true);
      });
      await task.status;
    } finally {
      for (const { pid } of await processesNaming(dir)) Deno.kill(pid, "SIGKILL");
      await Deno.remove(dir, { recursive: true });
    }
  });
}
