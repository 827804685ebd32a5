/** mallory's programs make threads and processes until they are stopped: together they have what the budget gives. */
import assert from "node:assert/strict";
import { findCommands } from "../../../launch/program/command_programs_powers.ts";
import { NO_POLICY } from "../../../contracts/policy/mod.ts";
import type { SpendingBudget } from "../../../contracts/task/mod.ts";
import { CommandClass } from "../../../contracts/tool/mod.ts";
import type { KernelConfig } from "../../../contracts/wire/mod.ts";
import { besiege } from "../../fake/siege.ts";
import { waitUntil } from "../../fake/wait_until.ts";
import { needs } from "../../needs.ts";
import { type Came, cameOf } from "../_calls.ts";

/** Makes what it can of threads, then of processes, and waits until its input ends. */
const BOMB = `
import os, sys, threading, time
made = forked = 0
stop = threading.Event()
try:
    for _ in range(2000):
        threading.Thread(target=stop.wait, daemon=True).start()
        made += 1
except RuntimeError:
    pass
try:
    for _ in range(2000):
        if os.fork() == 0:
            time.sleep(600)
        forked += 1
except OSError:
    pass
print("made %d forked %d" % (made, forked), flush=True)
sys.stdin.read()
os._exit(0)
`;

function bounded(budgets: readonly SpendingBudget[]): Partial<KernelConfig> {
  const { commands } = findCommands({
    py: CommandClass.parse({ program: "/usr/bin/python3", session: true }),
  }, "");
  return { commands, policy: { ...NO_POLICY, budgets } };
}

/** Starts so many one after another, each polled until it has said what it made; nobody ends them. */
function bombs(count: number): string {
  return `({ async turn(ports) {
    const told = [];
    let n = 0;
    const call = async (name, args) => {
      const { id } = await ports.advertise();
      return await ports.call(id, { id: "try-" + n++, name, arguments: JSON.stringify(args) })
        .catch((e) => ({ outcome: e.code, content: e.message }));
    };
    for (let each = 0; each < ${count}; each++) {
      const started = await call("process_start", {
        program: "py", cwd: "desk", args: ["-c", ${JSON.stringify(BOMB)}],
      });
      const session = /session (s[0-9a-f]{32}) /.exec(started.content ?? "")?.[1];
      let said = started;
      for (let text = ""; session !== undefined && !/made [0-9]+/.test(text);) {
        said = await call("process_poll", { session, waitMs: 1000 });
        text += said.content ?? "";
        said = { ...said, content: text };
        if (said.outcome !== "ok" || !text.includes("[running]")) break;
      }
      told.push(said);
    }
    return { stop: "answered", text: JSON.stringify(told) };
  } })`;
}

function madeBy({ content, error }: Came): number {
  const [, threads, processes] = /made (\d+) forked (\d+)/.exec(content) ?? [];
  assert.ok(threads !== undefined && processes !== undefined, `${content}\n${error}`);
  return Number(threads) + Number(processes);
}

Deno.test({
  name:
    "mallory's threads and processes count together, and the next program has what the first left",
  ignore: !needs("bwrap") || !needs("python3"),
  async fn(): Promise<void> {
    await besiege(async (siege) => {
      const [first, second, third, ...more] = await cameOf(
        await siege.run({ program: bombs(3), limits: {} }),
      );
      assert.ok(first !== undefined && second !== undefined && third !== undefined);
      assert.equal(more.length, 0);
      // 150 are as many as any program has (128), and 22 for the second.
      const made = [madeBy(first), madeBy(second)] as const;
      assert.ok(made[0] > 22 && made[0] <= 128, JSON.stringify(made));
      assert.ok(made[1] > 0 && made[1] <= 22, JSON.stringify(made));
      assert.notEqual(third.outcome, "ok");
      assert.match(
        third.error ?? third.content,
        /the budget of 150 threads at once is used up \(150 threads used, 8 threads more asked for\)/,
      );
      const [standing] = await siege.ask("budgets", null) as { held: number; most: number }[];
      assert.equal(standing?.most, 150);
    }, { config: bounded([{ per: "moment", threads: 150 }]) });
  },
});

Deno.test({
  name: "what a program's threads held is free when it has ended, however often one is started",
  ignore: !needs("bwrap") || !needs("python3"),
  async fn(): Promise<void> {
    await besiege(async (siege) => {
      for (let run = 0; run < 3; run++) {
        const [only] = await cameOf(await siege.run({ program: bombs(1), limits: {} }));
        assert.ok(only !== undefined);
        const made = madeBy(only);
        assert.ok(made > 0 && made <= 20, String(made));
        await waitUntil("its program has ended", async () => {
          const [standing] = await siege.ask("budgets", null) as { held: number }[];
          return standing?.held === 0 || undefined;
        });
      }
    }, { config: bounded([{ per: "moment", threads: 20 }]) });
  },
});
