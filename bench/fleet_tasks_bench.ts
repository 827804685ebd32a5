/**
 * Tasks that wait in a database, done by one kernel and by four on this machine: what several kernels add where they share
 * its processors, and how soon a task goes on whose kernel was killed.
 * @module
 */
import { toJson } from "../contracts/base/json.ts";
import { type Fleet, hasTask, inFleet, until } from "../tests/fake/fleet.ts";
import type { LiveKernel } from "../tests/fake/kernel.ts";
import { type Row, shown } from "./row.ts";

const TASKS = 100, KERNELS = 4;
const SCENARIO = "scenario: short\nturns:\n  - say: Done.\n";

/** Queues tasks at one kernel and waits until all are over; tasks a second. */
async function work({ query }: Fleet, at: LiveKernel): Promise<number> {
  const request = {
    request: "say that it is done",
    session: "s0bench0bench",
    ingress: { channel: "terminal", principal: "carol", colour: "BLUE", label: "internal" },
    profile: "operator",
    mounts: [],
    model: {
      ref: "scripted:test.yaml",
      config: JSON.stringify({ file: "test.yaml", text: SCENARIO }),
    },
    limits: {},
    onQuestion: "queue",
    phase: "work",
    interactive: false,
  };
  const over = async (): Promise<number> =>
    Number((await query("SELECT count(*) AS n FROM remit.tasks WHERE over"))[0]?.["n"]);
  const before = await over();
  const began = performance.now();
  for (let i = 0; i < TASKS; i++) await at.ask("fleet", toJson({ kind: "run", request }));
  await until(
    "the end of all",
    async () => await over() - before >= TASKS ? true : undefined,
    300_000,
  );
  return TASKS / (performance.now() - began) * 1_000;
}

/** Rows of tasks over several kernels. */
export async function fleetTasksBench(): Promise<Row[]> {
  const rows: Row[] = [];
  await inFleet(KERNELS, async (fleet) => {
    const [first, ...more] = fleet.homes;
    if (first === undefined) return;
    const one = await first.start();
    await work(fleet, one);
    const baseline = await work(fleet, one);
    const others = await Promise.all(more.map((home) => home.start()));
    await work(fleet, one);
    const value = await work(fleet, one);
    rows.push(shown({
      name: `queued tasks, ${KERNELS} kernels on this machine against one`,
      ...{ value, unit: "tasks/s", baseline },
    }));
    const [last] = others;
    if (last === undefined) return;
    const task = await one.run({ scenario: SCENARIO, interactive: true, mounts: [] });
    await one.kill();
    const died = performance.now();
    const [row] = await fleet.query(
      "SELECT greatest(0, extract(epoch FROM lease_until - clock_timestamp()) * 1000) AS ms FROM remit.kernels WHERE name = 'k0'",
    );
    const left = Number(row?.["ms"]);
    await Promise.any(others.map((kernel) => hasTask(kernel, task, 60_000)));
    rows.push(shown({
      name: "takeover of a killed kernel's task, after its lease had run out",
      ...{ value: performance.now() - died - left, unit: "ms", baseline: 0 },
    }));
  });
  return rows;
}
