/** Two kernels of one machine on one database, each with a state of its own, and a swarm that both may work on. */
import assert from "node:assert/strict";
import { startPostgres } from "../../store/_fixture/postgres_powers.ts";
import { openEngine } from "../../store/postgres/engine_powers.ts";
import { kill9 } from "./processes.ts";
import { type Machine, onMachine } from "./remit.ts";
import { startService } from "./service.ts";
import { WORKER } from "./swarm.ts";
import { waitUntil } from "./wait_until.ts";

const IDLE = { env: { REMIT_IDLE_SECONDS: "300" } };
/** The example's worker, whose answers take time. */
export const SLOW_WORKER = WORKER.replace(
  "scenario: worker",
  "scenario: worker\nstream: { firstMs: 700 }",
);

/** One row of a command's JSON output. */
export type Row = Readonly<Record<string, unknown>>;

/** Two kernels of one machine on one database, which share their work. */
export interface Two {
  readonly one: Machine;
  readonly two: Machine;
  readonly work: string;
  /** Queries the database itself. */
  query(sql: string): Promise<readonly Row[]>;
}

export async function ok(machine: Machine, args: readonly string[]): Promise<string> {
  const done = await machine.remit(args);
  assert.equal(done.code, 0, `${args.join(" ")}: ${done.stderr}`);
  return done.stdout;
}
export const rows = async (machine: Machine, args: readonly string[]): Promise<readonly Row[]> =>
  await machine.json(args) as readonly Row[];

export async function withTwo(f: (two: Two) => Promise<void>): Promise<void> {
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

/** A line of a swarm's journal. */
export interface Event {
  readonly kind: string;
  readonly issue?: string;
  readonly session?: string;
  readonly task?: string;
}

/** The events of the only swarm, from the shared folder. */
export async function journalOf(work: string): Promise<readonly Event[]> {
  for await (const { name } of Deno.readDir(`${work}/swarm`)) {
    const text = await Deno.readTextFile(`${work}/swarm/${name}/journal.jsonl`).catch(() => "");
    return text.split("\n").filter((line) => line.endsWith("}")).map((line) => JSON.parse(line));
  }
  return [];
}

/** The pid of a state's kernel. */
async function kernelOf(machine: Machine): Promise<number | undefined> {
  for (const pid of await machine.processes()) {
    const line = await Deno.readTextFile(`/proc/${pid}/cmdline`).catch(() => "");
    if (line.includes("kernel.js") && line.includes(machine.state)) return pid;
  }
  return undefined;
}

/** Kills the process with -9. */
export async function killKernel(machine: Machine): Promise<void> {
  kill9(await waitUntil("a kernel", () => kernelOf(machine)));
}

/** Every assignment is one task, every merge one commit, and every task has an assignment. */
export async function nothingTwice({ work }: Two, gateway: Gateway): Promise<void> {
  const events = await journalOf(work);
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

/** The kernels as carol sees them. */
export interface Gateway extends AsyncDisposable {
  rows(args: readonly string[]): Promise<readonly Row[]>;
  run(args: readonly string[]): Promise<string>;
}

/** Sends carol's request to a kernel's gateway, with a token. */
export async function gatewayOf(machine: Machine): Promise<Gateway> {
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
