/** The relay, or the agent, is killed while the other lives: nothing may hang, be paid unseen or be applied unasked. */
import assert from "node:assert/strict";
import { EXIT } from "../../../contracts/base/mod.ts";
import { addForeign, startProvider } from "../../fake/foreign_agent.ts";
import { type Machine, onMachine } from "../../fake/remit.ts";
import { kill9 } from "../../fake/processes.ts";
import { readRun } from "../../fake/run_document.ts";
import { alicesPlans } from "../../fake/scenes.ts";
import { waitUntil } from "../../fake/wait_until.ts";

const BEFORE = "Leave on Monday.\nTake the boat.\n";
const ASK = 'ask POST /v1/responses {"model":"m","max_output_tokens":9,"input":[]}';

/** Pids of the processes of this machine's state whose command line matches. */
async function pidsOf(machine: Machine, what: RegExp): Promise<readonly number[]> {
  const found: number[] = [];
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const line = (await Deno.readTextFile(`/proc/${name}/cmdline`).catch(() => ""))
      .replaceAll("\0", " ");
    if (what.test(line) && (await ofMachine(machine, Number(name)))) found.push(Number(name));
  }
  return found;
}

/** Whether one of its ancestors is a process over this machine's folders. */
async function ofMachine(machine: Machine, pid: number): Promise<boolean> {
  const root = machine.dir.slice(0, machine.dir.lastIndexOf("/"));
  for (let at = pid; at > 1;) {
    const line = await Deno.readTextFile(`/proc/${at}/cmdline`).catch(() => "");
    if (line.includes(root)) return true;
    const status = await Deno.readTextFile(`/proc/${at}/status`).catch(() => "");
    at = Number(/^PPid:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  }
  return false;
}

function start(machine: Machine, mount: readonly string[], steps: readonly string[]) {
  return machine.start([
    ...["run", "--agent", "fake", "-p", steps.join("\n"), ...mount, "--json"],
  ]);
}

const RELAY = /\.remit-inside\/deno run .* \/run\/agent\/s/,
  AGENT = /deno run .*\/agent\/agent\.js\s*$/;
const STEPS: readonly (readonly [string, readonly string[], number])[] = [
  ["before it asks", ["write trip.txt mallory", "hang"], 0],
  ["while its provider answers", ["write trip.txt mallory", ASK], 1],
  ["after an answer", ["write trip.txt mallory", ASK, "hang"], 1],
];

for (const [when, steps, asked] of STEPS) {
  Deno.test(`the relay is killed ${when}: the run ends with the reason, and nothing of it stays`, async () => {
    await using provider = startProvider(() =>
      when.startsWith("while")
        ? new Response(new ReadableStream({ start: (to) => to.enqueue(new Uint8Array([32])) }))
        : Response.json({ usage: { input_tokens: 7, output_tokens: 3 } })
    );
    await onMachine(async (machine) => {
      const mount = await alicesPlans(machine);
      await addForeign(machine, provider, ["--price", "100/100"]);
      const running = start(machine, mount, steps);
      const [relay] = await waitUntil("the relay and the agent work", async () => {
        const [relays, agents] = [await pidsOf(machine, RELAY), await pidsOf(machine, AGENT)];
        const ready = agents.length > 0 && provider.asked.length >= asked;
        return relays.length > 0 && ready ? relays : undefined;
      });
      for (const pid of await pidsOf(machine, RELAY)) {
        try {
          Deno.kill(pid, "SIGKILL");
        } catch (error) {
          // Its namespace's first process took it along.
          if (!(error instanceof Deno.errors.NotFound)) throw error;
        }
      }
      assert.ok(relay !== undefined);
      const done = await running.done;
      const run = readRun(done.stdout);
      assert.match(JSON.stringify(run), /the relay to its provider ended/, done.stdout);
      assert.deepEqual(run.changes, []);
      assert.equal(await machine.read("plans/trip.txt"), BEFORE);
      await waitUntil(
        "no agent is left",
        async () => (await pidsOf(machine, AGENT)).length === 0 || undefined,
      );
      // What was asked is paid: as it was told, or at least its input.
      if (asked > 0) assert.ok(run.spent.money > 0, done.stdout);
    });
  });

  Deno.test(`the agent is killed ${when}: what it wrote till then waits for its review`, async () => {
    await using provider = startProvider(() =>
      when.startsWith("while")
        ? new Response(new ReadableStream({ start: (to) => to.enqueue(new Uint8Array([32])) }))
        : Response.json({ usage: { input_tokens: 7, output_tokens: 3 } })
    );
    await onMachine(async (machine) => {
      const mount = await alicesPlans(machine);
      await addForeign(machine, provider, ["--price", "100/100"]);
      const running = start(machine, mount, steps);
      await waitUntil("the agent works", async () => {
        const agents = await pidsOf(machine, AGENT);
        const wrote = agents.length > 0 && await hasWritten(agents[0] ?? 0);
        return wrote && provider.asked.length >= asked ? true : undefined;
      });
      for (const pid of await pidsOf(machine, AGENT)) Deno.kill(pid, "SIGKILL");
      const done = await running.done;
      const run = readRun(done.stdout);
      assert.equal(run.exit, EXIT.waiting, done.stdout);
      assert.match(run.answer ?? "", /the agent failed: it ended before it answered/);
      assert.deepEqual(run.changes.map(({ path, state }) => [path, state]), [
        ["plans/trip.txt", "staged"],
      ]);
      assert.equal(await machine.read("plans/trip.txt"), BEFORE);
      if (asked > 0) assert.ok(run.spent.money > 0, done.stdout);
      await waitUntil(
        "no relay is left",
        async () => (await pidsOf(machine, RELAY)).length === 0 || undefined,
      );
    });
  });
}

async function hasWritten(pid: number): Promise<boolean> {
  const text = await Deno.readTextFile(`/proc/${pid}/cwd/trip.txt`).catch(() => "");
  return text === "mallory\n";
}

Deno.test("a task whose kernel was killed while its agent worked is taken up: the agent works anew, once applied", async () => {
  let answers = 0;
  await using provider = startProvider(() => {
    answers += 1;
    return answers === 1
      ? new Response(new ReadableStream({ start: (to) => to.enqueue(new Uint8Array([32])) }))
      : Response.json({ usage: { input_tokens: 7, output_tokens: 3 } });
  });
  await onMachine(async (machine) => {
    const mount = await alicesPlans(machine);
    await addForeign(machine, provider, ["--price", "100/100"]);
    const running = start(machine, mount, ["write trip.txt Leave on Tuesday.", ASK]);
    await waitUntil("its provider is asked", () => provider.asked[0]);
    for (const pid of await pidsOf(machine, /kernel\.js/)) kill9(pid);
    await running.done;
    const [task] = await machine.json(["task", "list"]) as readonly { id: string }[];
    // Nobody without its grant takes it up meanwhile.
    const again = await machine.remit(["resume", task?.id ?? "", "--json"]);
    const run = readRun(again.stdout);
    assert.equal(run.exit, EXIT.waiting, `${again.stderr}${again.stdout}`);
    assert.match(run.answer ?? "", /ask: 200/);
    assert.equal(await machine.read("plans/trip.txt"), BEFORE);
    const question = run.asked.find(({ tool }) => tool === "patch_apply")?.question ?? "";
    // Alice answers tomorrow: the kernel of then knows the agent all the same.
    for (const pid of await machine.processes()) kill9(pid);
    const done = await machine.remit(["answer", question, "allow"]);
    assert.equal(done.code, 0, done.stderr);
    assert.equal(await machine.read("plans/trip.txt"), "Leave on Tuesday.\n");
    assert.equal(provider.asked.length, 2);
    assert.match((await machine.remit(["cost", "--by", "agent"])).stdout, /^fake /m);
  });
});
