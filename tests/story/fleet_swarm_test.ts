/**
 * carol runs a swarm over two kernels on one database, and one of them is killed half-way: the other goes on with its
 * tasks, nothing is assigned or merged twice, and she has one list, one queue, one cost and one chain that holds.
 */
import assert from "node:assert/strict";
import { startPostgres } from "../../store/_fixture/postgres_powers.ts";
import { openEngine } from "../../store/postgres/engine_powers.ts";
import { kill9 } from "../fake/processes.ts";
import { type Machine, onMachine } from "../fake/remit.ts";
import { startService } from "../fake/service.ts";
import { PHRASES, smallRepository, swarmFile, WORKER } from "../fake/swarm.ts";
import { waitUntil } from "../fake/wait_until.ts";
import { needs } from "../needs.ts";

const IDLE = { env: { REMIT_IDLE_SECONDS: "300" } };
/** The example's worker, whose words take their time. */
const SLOW = WORKER.replace("scenario: worker", "scenario: worker\nstream: { firstMs: 700 }");

type Row = Readonly<Record<string, unknown>>;

/** Two kernels of one machine on one database, which share their work. */
interface Two {
  readonly one: Machine;
  readonly two: Machine;
  readonly work: string;
  /** What the database itself says. */
  query(sql: string): Promise<readonly Row[]>;
}

async function ok(machine: Machine, args: readonly string[]): Promise<string> {
  const done = await machine.remit(args);
  assert.equal(done.code, 0, `${args.join(" ")}: ${done.stderr}`);
  return done.stdout;
}
const rows = async (machine: Machine, args: readonly string[]): Promise<readonly Row[]> =>
  await machine.json(args) as readonly Row[];

async function withTwo(f: (two: Two) => Promise<void>): Promise<void> {
  await using server = await startPostgres();
  const work = await Deno.makeTempDir({ prefix: "remit-shared-" });
  const owner = `${await server.database("swarm")}&work=${work}&lease=2&kernel=one`;
  const engine = openEngine(owner);
  await onMachine(async (one) => {
    await onMachine(async (two) => {
      await ok(one, ["fleet", "list", "--store", owner]);
      const address = (await ok(one, ["fleet", "enroll", "two"])).trim();
      await Deno.mkdir(two.state, { mode: 0o700 });
      const keys = ["-a", `${one.state}/person`, `${two.state}/`];
      assert.ok((await new Deno.Command("cp", { args: keys }).output()).success);
      await ok(two, ["fleet", "list", "--store", address]);
      await f({ one, two, work, query: (sql) => engine.read(sql, []) });
    }, IDLE);
  }, IDLE);
  await engine.close();
  await Deno.remove(work, { recursive: true });
}

interface Event {
  readonly kind: string;
  readonly issue?: string;
  readonly session?: string;
  readonly task?: string;
}

/** The events of the only swarm, as the shared folder has them. */
async function journal(work: string): Promise<readonly Event[]> {
  for await (const { name } of Deno.readDir(`${work}/swarm`)) {
    const text = await Deno.readTextFile(`${work}/swarm/${name}/journal.jsonl`).catch(() => "");
    return text.split("\n").filter((line) => line.endsWith("}")).map((line) => JSON.parse(line));
  }
  return [];
}

async function killKernel(machine: Machine): Promise<void> {
  const { kernel } = await machine.json(["doctor"]) as { kernel?: { pid?: number } };
  assert.ok(kernel?.pid);
  kill9(kernel.pid);
}

/** Every assignment is one task, every merge one commit, and no task is there that nobody assigned. */
async function nothingTwice({ work }: Two, gateway: Gateway): Promise<void> {
  const events = await journal(work);
  const of = (kind: string): readonly Event[] => events.filter((event) => event.kind === kind);
  const sessions = of("assigned").map(({ session }) => session);
  assert.equal(new Set(sessions).size, sessions.length, "no assignment twice");
  assert.deepEqual(of("merged").map(({ issue }) => issue).sort(), [
    ...["greeting", "parting", "readme"],
  ]);
  const told = [...of("started"), ...of("offered")].map(({ task }) => task);
  const tasks = await gateway.rows(["tasks"]);
  assert.deepEqual(tasks.map(({ id }) => id).sort(), told.toSorted());
}

interface Gateway extends AsyncDisposable {
  rows(args: readonly string[]): Promise<readonly Row[]>;
  run(args: readonly string[]): Promise<string>;
}

/** What carol asks the gateway of a kernel, with a token. */
async function gatewayOf(machine: Machine): Promise<Gateway> {
  const token = (await ok(machine, ["fleet", "token", "create", "carol"])).trim();
  const service = await startService(machine);
  const run = async (args: readonly string[]): Promise<string> => {
    const [program = "", ...words] = machine.command(["--fleet", service.url, ...args]);
    const done = await new Deno.Command(program, {
      ...{ args: words, cwd: machine.dir, clearEnv: true, stdin: "null" },
      env: { ...machine.env, REMIT_FLEET_TOKEN: token },
    }).output();
    assert.equal(done.code, 0, `${args.join(" ")}: ${new TextDecoder().decode(done.stderr)}`);
    return new TextDecoder().decode(done.stdout);
  };
  return {
    run,
    rows: async (args) => JSON.parse(await run([...args, "--json"])),
    async [Symbol.asyncDispose]() {
      service.kill("SIGTERM");
      await service.ended;
    },
  };
}

Deno.test("the kernel that has a swarm's tasks is killed: the other takes them over, and carol's yes at a gateway ends it", async () => {
  if (!needs("git")) return;
  await withTwo(async (fleet) => {
    const { one, two, work } = fleet;
    await smallRepository(two);
    const plan = await swarmFile(two, { worker: SLOW });
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
    assert.ok((await journal(work)).some((event) => event.task === taken));
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
    const plan = await swarmFile(one, { worker: SLOW });
    // Its models are named from the folder where each command is typed.
    await swarmFile(two, { worker: SLOW });
    await ok(two, ["fleet", "cordon", "two"]);
    const run = one.start(["swarm", "run", plan]);
    await waitUntil("a task that is begun", async () => {
      const begun = (await journal(work).catch(() => [])).some(({ kind }) => kind === "started");
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
