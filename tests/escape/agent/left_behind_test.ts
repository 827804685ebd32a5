/** An agent of others starts a process that outlives it, and a kernel is killed while one works. */
import assert from "node:assert/strict";
import { addForeign, handOver, startProvider } from "../../fake/foreign_agent.ts";
import { onMachine } from "../../fake/remit.ts";
import { alicesPlans } from "../../fake/scenes.ts";
import { waitUntil } from "../../fake/wait_until.ts";

Deno.test("what an agent of others started ends with its turn", async () => {
  await using provider = startProvider();
  await onMachine(async (machine) => {
    await alicesPlans(machine);
    await addForeign(machine, provider);
    const run = await handOver(machine, ["background mark.txt"]);
    assert.match(run.output, /mark\.txt/);
    assert.deepEqual(await sleepers(), []);
  });
});

Deno.test("after kill -9 of the kernel no agent, no relay and no change is left", async () => {
  await using provider = startProvider();
  await onMachine(async (machine) => {
    const mount = await alicesPlans(machine);
    await addForeign(machine, provider);
    await machine.write(
      "../answers.json",
      JSON.stringify({ answers: [{ tool: "command", answer: "allow", max: 1 }] }),
    );
    const steps = [
      "write trip.txt mallory",
      "background mark.txt",
      'ask POST /v1/responses {"model":"m"}',
      "hang",
    ];
    const running = machine.start([
      ...["run", "--agent", "fake", "-p", steps.join("\n"), ...mount, "--json"],
      ...["--answers", `${machine.dir}/../answers.json`],
    ]);
    await waitUntil("the agent works", () => provider.asked[0]);
    await waitUntil("its own process", async () => (await sleepers()).length === 1 || undefined);
    for (const pid of await kernels(machine.state)) Deno.kill(pid, "SIGKILL");
    await running.done;
    await waitUntil("nothing is left", async () => (await sleepers()).length === 0 || undefined);
    assert.equal(await machine.read("plans/trip.txt"), "Leave on Monday.\nTake the boat.\n");
    await waitUntil(
      "no relay is left",
      async () => (await machine.processes()).length === 0 || undefined,
    );
  });
});

async function commandLines(): Promise<readonly (readonly [number, string])[]> {
  const found: [number, string][] = [];
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const line = await Deno.readTextFile(`/proc/${name}/cmdline`).catch(() => "");
    found.push([Number(name), line.replaceAll("\0", " ")]);
  }
  return found;
}

async function sleepers(): Promise<readonly number[]> {
  return (await commandLines()).filter(([, line]) => line.startsWith("sleep 987654")).map(([pid]) =>
    pid
  );
}

async function kernels(state: string): Promise<readonly number[]> {
  return (await commandLines()).filter(([, line]) =>
    line.includes("kernel.js") && line.includes(state)
  ).map(([pid]) => pid);
}
