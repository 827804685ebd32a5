/** mallory's worker uses more than the operator's budgets have: at once, in turn, and after a crash. */
import assert from "node:assert/strict";
import { findCommands } from "../../../launch/program/command_programs_powers.ts";
import { NO_POLICY } from "../../../contracts/policy/mod.ts";
import type { SpendingBudget } from "../../../contracts/task/mod.ts";
import { CommandClass } from "../../../contracts/tool/mod.ts";
import type { KernelConfig } from "../../../contracts/wire/mod.ts";
import { besiege } from "../../fake/siege.ts";
import { waitUntil } from "../../fake/wait_until.ts";
import { needs } from "../../needs.ts";
import { cameOf } from "../_calls.ts";

function bounded(budgets: readonly SpendingBudget[]): Partial<KernelConfig> {
  const { commands } = findCommands({
    sh: CommandClass.parse({ program: "/bin/sh", session: true }),
  }, "");
  return { commands, policy: { ...NO_POLICY, budgets } };
}

/** Calls, all at once. */
function atOnce(calls: readonly (readonly [string, object])[]): string {
  return `({ async turn(ports) {
    const { id } = await ports.advertise();
    const told = await Promise.all(${JSON.stringify(calls)}.map(([name, args], n) =>
      ports.call(id, { id: "try-" + n, name, arguments: JSON.stringify(args) })
        .catch((e) => ({ outcome: e.code, content: e.message }))));
    return { stop: "answered", text: JSON.stringify(told) };
  } })`;
}

const start = ["process_start", { program: "sh", cwd: "desk", args: ["-c", "sleep 60"] }] as const;
const short = ["process_start", { program: "sh", cwd: "desk", args: ["-c", "true"] }] as const;

Deno.test({
  name:
    "five programs at once where two are allowed: two run, three are refused, and the refusal says which budget",
  ignore: !needs("bwrap"),
  async fn(): Promise<void> {
    await besiege(async (siege) => {
      const mallory = await siege.run({ program: atOnce(Array(5).fill(start)), limits: {} });
      const came = await cameOf(mallory);
      const told = JSON.stringify(came);
      assert.equal(came.filter(({ outcome }) => outcome === "ok").length, 2, told);
      for (const { outcome, error } of came.filter((one) => one.outcome !== "ok")) {
        assert.match(error ?? outcome, /the budget of 2 processes at once is used up/, told);
      }
    }, { config: bounded([{ per: "moment", processes: 2 }]) });
  },
});

Deno.test({
  name:
    "programs of a day are counted over tasks and over kill -9, and refused ones started nothing",
  ignore: !needs("bwrap"),
  async fn(): Promise<void> {
    await besiege(async (siege) => {
      const first = await cameOf(await siege.run({ program: atOnce([short, short]), limits: {} }));
      assert.deepEqual(first.map(({ outcome }) => outcome), ["ok", "ok"], JSON.stringify(first));
      await siege.restart();
      const program = atOnce([short, short, short]);
      const later = await cameOf(await siege.run({ program, limits: {} }));
      const told = JSON.stringify(later);
      assert.equal(later.filter(({ outcome }) => outcome === "ok").length, 1, told);
      assert.match(told, /the budget of 3 processes a day is used up \(3 processes used/);
      const [standing] = await siege.ask("budgets", null) as { spent: number; most: number }[];
      assert.deepEqual([standing?.spent, standing?.most], [3, 3]);
    }, { config: bounded([{ per: "day", processes: 3 }]) });
  },
});

const RESUMED = `
  - calls: [{ tool: process_start, args: { program: sh, cwd: desk, args: ["-c", "true"] } }]
  - calls: [{ tool: process_start, args: { program: sh, cwd: desk, args: ["-c", "true"] } }]
  - error: { code: upstream, message: "Cannot answer: the provider is away", times: 1 }
    calls: [{ tool: process_start, args: { program: sh, cwd: desk, args: ["-c", "true"] } }]
  - say: Done.
    loop: true`;

Deno.test({
  name:
    "a task that failed and is resumed after kill -9 has no new budget: what it used before still counts",
  ignore: !needs("bwrap"),
  async fn(): Promise<void> {
    await besiege(async (siege) => {
      const task = await siege.run({ turns: RESUMED, limits: { retries: 0 } });
      assert.equal((await task.end).status, "failed");
      await siege.restart();
      const status = async (): Promise<unknown> =>
        (await siege.ask("task", { task: task.id }) as { status: string }).status;
      // The provider of a new kernel may be away once more.
      for (let tries = 0; await status() === "failed" && tries < 3; tries++) {
        await siege.ask("resume", { task: task.id });
        await waitUntil("its end", async () => await status() !== "open" || undefined);
      }
      assert.equal(await status(), "done");
      const again = await siege.watch(task.id);
      await again.first(({ event, body }) => event === "taskStatus" && body["status"] === "done");
      const told = again.events.map((event) => JSON.stringify(event)).join("\n");
      assert.match(told, /the budget of 2 processes a task .* is used up \(2 processes used/);
      const used = again.events.filter((event) => JSON.stringify(event).includes("budgetUsed"));
      assert.equal(used.length, 2, told);
    }, { config: bounded([{ per: "task", processes: 2 }]) });
  },
});
