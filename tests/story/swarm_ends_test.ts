/** A swarm that is stopped, whose command is killed, whose kernel is killed: what was done stands, and it goes on. */
import assert from "node:assert/strict";
import { type Machine, onMachine } from "../fake/remit.ts";
import { smallRepository, swarmFile, WORKER } from "../fake/swarm.ts";
import { kill9 } from "../fake/processes.ts";
import { waitUntil } from "../fake/wait_until.ts";
import { needs } from "../needs.ts";

/** The same worker, whose words take their time. */
const SLOW = WORKER.replace("scenario: worker", "scenario: worker\nstream: { firstMs: 700 }");
/** A worker that never answers. */
const HANGS = `scenario: worker\nturns: [{ when: { always: true }, hang: true }]\n`;

interface Swarm {
  readonly id: string;
  readonly status: string;
  readonly merged: number;
}

/** The events of the only swarm. */
async function journal(
  machine: Machine,
): Promise<readonly { readonly kind: string; readonly task?: string }[]> {
  for await (const { name } of Deno.readDir(`${machine.state}/swarm`)) {
    const text = await Deno.readTextFile(`${machine.state}/swarm/${name}/journal.jsonl`).catch(() =>
      ""
    );
    return text.split("\n").filter((line) => line.endsWith("}")).map((line) => JSON.parse(line));
  }
  return [];
}

async function kernelOf(machine: Machine): Promise<number | undefined> {
  for (const pid of await machine.processes()) {
    const line = await Deno.readTextFile(`/proc/${pid}/cmdline`).catch(() => "");
    if (line.includes("kernel.js")) return pid;
  }
  return undefined;
}

async function until(machine: Machine, kind: string): Promise<void> {
  await waitUntil(`${kind} in the journal`, async () => {
    const events = await journal(machine).catch(() => []);
    return events.some((event) => event.kind === kind) ? true : undefined;
  });
}

Deno.test("carol kills the command with -9: the same tasks go on, none is started twice, and the diff is put to her", async () => {
  if (!needs("git")) return;
  await onMachine(async (machine) => {
    await smallRepository(machine);
    const plan = await swarmFile(machine, { worker: SLOW });
    const first = machine.start(["swarm", "run", plan]);
    await until(machine, "started");
    first.kill("SIGKILL");
    await first.done;
    const [{ id, status }] = await machine.json(["swarm", "list"]) as [Swarm];
    assert.equal(status, "interrupted");
    const again = await machine.remit(["swarm", "resume", id, "--json"]);
    assert.equal(again.code, 75, again.stderr);
    const events = await journal(machine);
    assert.equal(events.filter(({ kind }) => kind === "merged").length, 3);
    const told = events.flatMap(({ kind, task }) =>
      kind === "started" || kind === "offered" ? task : []
    );
    const tasks = await machine.json(["task", "list"]) as readonly { readonly id: string }[];
    assert.deepEqual(tasks.map((each) => each.id).sort(), [...told].sort());
  });
});

Deno.test("a worker's process is killed with -9: another worker is told what became of it, and does the work", async () => {
  if (!needs("git")) return;
  await onMachine(async (machine) => {
    await smallRepository(machine);
    const plan = await swarmFile(machine, {
      worker: `scenario: worker
turns:
  - when: { user: "An earlier try", inference: 1 }
    calls: [{ tool: file_edit, args: { path: repo/phrases.txt, old: Hello, new: Good day } }]
  - { when: { user: "An earlier try" }, say: Done. }
  - { when: { always: true }, hang: true }
`,
    });
    const text = await Deno.readTextFile(plan);
    const lines = text.split("\n").filter((line) => !/id: (?:parting|readme)/.test(line));
    await Deno.writeTextFile(plan, lines.join("\n"));
    const run = machine.start(["swarm", "run", plan, "--json"]);
    await until(machine, "started");
    const worker = await waitUntil("a worker's process", async () => {
      const [row] = await machine.json(["ps"]) as readonly { readonly os: readonly number[] }[];
      return row?.os[0];
    });
    kill9(worker);
    const done = await run.done;
    assert.equal(done.code, 75, `${done.stderr}${done.stdout}`);
    const { issues: [issue] } = JSON.parse(done.stdout);
    assert.equal(issue.status, "merged");
    const [first, second] = issue.attempts;
    assert.deepEqual([first.outcome.reason, second.outcome.kind], ["failed", "patch"]);
    assert.match(issue.handoffs[0].why, /its task is failed/);
  });
});

Deno.test("the kernel is killed under a swarm: the next one takes its tasks up, and the swarm ends as it would have", async () => {
  if (!needs("git")) return;
  await onMachine(async (machine) => {
    await smallRepository(machine);
    const plan = await swarmFile(machine, { worker: SLOW });
    const run = machine.start(["swarm", "run", plan, "--json"]);
    await until(machine, "started");
    kill9(await waitUntil("a kernel", () => kernelOf(machine)));
    const done = await run.done;
    assert.equal(done.code, 75, done.stderr);
    assert.equal(JSON.parse(done.stdout).status, "done");
  });
});

Deno.test("a swarm that is stopped cancels its tasks; resumed, it does the rest", async () => {
  if (!needs("git")) return;
  await onMachine(async (machine) => {
    await smallRepository(machine);
    const plan = await swarmFile(machine, { worker: HANGS, limits: "{ attempts: 1 }" });
    const run = machine.start(["swarm", "run", plan, "--json"]);
    await until(machine, "started");
    const [{ id }] = await machine.json(["swarm", "list"]) as [Swarm];
    // One command runs a swarm.
    const other = await machine.remit(["swarm", "resume", id]);
    assert.match(other.stderr, /another command runs it/);
    assert.match((await machine.remit(["swarm", "stop", id])).stdout, /its tasks are cancelled/);
    const done = await run.done;
    assert.equal(done.code, 130, done.stderr);
    assert.equal(JSON.parse(done.stdout).status, "stopped");
    const tasks = await machine.json(["task", "list"]) as readonly { readonly status: string }[];
    assert(
      tasks.length > 0 && tasks.every(({ status }) => status === "cancelled"),
      JSON.stringify(tasks),
    );
    assert.match((await machine.remit(["swarm", "stop", id])).stdout, /is not running/);
    // The models are read again: a stopped try counts as none.
    await swarmFile(machine);
    const again = await machine.remit(["swarm", "resume", id, "--json"]);
    assert.equal(again.code, 75, again.stderr);
    assert.equal(JSON.parse(again.stdout).status, "done");
  });
});

Deno.test("a wrong file, folder, model or agent begins no swarm, and says which line", async () => {
  if (!needs("git")) return;
  await onMachine(async (machine) => {
    const folder = await smallRepository(machine);
    const says = async (
      text: string,
      why: RegExp,
      words: readonly string[] = [],
    ): Promise<void> => {
      const path = await machine.write("bad.yaml", text);
      const done = await machine.remit(["swarm", "run", path, ...words]);
      assert.match(done.stderr, why, text);
      assert.notEqual(done.code, 0);
    };
    const issue = "version: 1\nissues: [{ id: a, title: A }]\n";
    await says("version: 2\nissues: []\n", /Cannot read swarm .*version.*docs\/swarm\.md/);
    await says(issue, /names no repository/);
    await says(`${issue}repository: nowhere\n`, /no such folder/);
    await says(`${issue}repository: .\n`, /no \.git/);
    await says(`${issue}repository: repo\n`, /no model is chosen/);
    await says(
      `${issue}repository: repo\nroles: { coder: { agent: nobody } }\n`,
      /Cannot run agent "nobody"/,
      ["--model", `scripted:${await machine.write("m.yaml", WORKER)}`],
    );
    await says(`${issue}author: reviewer\n`, /nobody reviews work of their own role/);
    for (
      const words of [[], ["x.yaml", "-p", "y"], ["-p", "y"], [
        "-p",
        "y",
        "--mount",
        `r=${folder}:rw`,
      ]]
    ) {
      const done = await machine.remit(["swarm", "run", ...words]);
      assert.equal(done.code, 2, words.join(" "));
    }
    assert.deepEqual(await machine.json(["swarm", "list"]), []);
    assert.match((await machine.remit(["swarm", "resume", "../x"])).stderr, /Cannot find swarm/);
    assert.match(
      (await machine.remit(["swarm", "report"])).stdout,
      /no swarm has ended a task yet/,
    );
  });
});

Deno.test("a worker's question waits for alice, names its tree, and the swarm goes on with her answer", async () => {
  if (!needs("git")) return;
  await onMachine(async (machine) => {
    await smallRepository(machine);
    await machine.write(
      "remit.yaml",
      "version: 1\nrules:\n  - { tool: file_edit, mode: consent }\n",
    );
    await machine.remit(["trust"]);
    const plan = await swarmFile(machine);
    const text = await Deno.readTextFile(plan);
    await Deno.writeTextFile(
      plan,
      text.split("\n").filter((line) => !/id: (?:parting|readme)/.test(line)).join("\n"),
    );
    const run = machine.start(["swarm", "run", plan, "--json"]);
    const [question] = await waitUntil("a question", async () => {
      const asked = await machine.json(["questions"]) as readonly { readonly id: string }[];
      return asked.length > 0 ? asked : undefined;
    });
    const answered = await machine.remit(["answer", question?.id ?? "", "allow"]);
    assert.equal(answered.code, 0, answered.stderr);
    const done = await run.done;
    // The diff is put to her by a play that writes whole files: nothing but the review is asked.
    assert.equal(done.code, 75, done.stderr);
    assert.equal(JSON.parse(done.stdout).status, "done");
  });
});
