/**
 * carol has two kernels on one database, each behind its gateway, and sits at a third machine that has an address and a
 * token, and no database. One kernel is killed half-way with its service; she sees one list, one queue, one cost and one
 * chain that holds, and answers there.
 */
import assert from "node:assert/strict";
import { openEngine } from "../../store/postgres/engine_powers.ts";
import { startPostgres } from "../../store/_fixture/postgres_powers.ts";
import { type Machine, onMachine } from "../fake/remit.ts";
import { type Service, startService } from "../fake/service.ts";
import { waitUntil } from "../fake/wait_until.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const IDLE = { env: { REMIT_IDLE_SECONDS: "300" } };

type Row = Readonly<Record<string, unknown>>;

async function ok(machine: Machine, args: readonly string[]): Promise<string> {
  const done = await machine.remit(args);
  assert.equal(done.code, 0, `${args.join(" ")}: ${done.stderr}`);
  return done.stdout;
}
const rows = async (machine: Machine, args: readonly string[]): Promise<readonly Row[]> =>
  await machine.json(args) as readonly Row[];

async function copy(from: string, to: string): Promise<void> {
  assert.ok((await new Deno.Command("cp", { args: ["-a", from, to] }).output()).success);
}

/** A token of a kernel's gateway. */
async function tokenOf(machine: Machine): Promise<string> {
  return (await ok(machine, ["fleet", "token", "create", "carol"])).trim();
}

/** What the database itself says. */
async function query(url: string, sql: string): Promise<[Row, ...Row[]]> {
  const engine = openEngine(url);
  try {
    const [first = {}, ...rest] = await engine.read(sql, []);
    return [first, ...rest];
  } finally {
    await engine.close();
  }
}

/** What carol types at the machine that has no kernel. */
function through(home: Machine, service: Service, token: string): Machine {
  const env = { ...home.env, REMIT_FLEET_TOKEN: token };
  const at = ["--fleet", service.url];
  const run = async (args: readonly string[]) => {
    const [program = "", ...words] = home.command([...at, ...args]);
    const done = await new Deno.Command(program, {
      ...{ args: words, cwd: home.dir, clearEnv: true, env, stdin: "null" },
      ...{ stdout: "piped", stderr: "piped" },
    }).output();
    const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
    return { code: done.code, stdout: text(done.stdout), stderr: text(done.stderr) };
  };
  return {
    ...home,
    remit: run,
    async json(args) {
      const done = await run([...args, "--json"]);
      assert.ok([0, 1].includes(done.code), `${args.join(" ")}: ${done.stderr}`);
      return JSON.parse(done.stdout);
    },
  };
}

Deno.test("over a gateway carol has one list, one queue, one cost and one chain, whoever was killed", async () => {
  await using server = await startPostgres();
  const work = await Deno.makeTempDir({ prefix: "remit-shared-" });
  const owner = `${await server.database("story")}&work=${work}&lease=2&kernel=one`;
  const play = ["--model", `scripted:${ROOT}examples/desk/demo.yaml`];
  const ask = ["run", "-p", "Bring the notes up to date"];
  await onMachine(async (one) => {
    await onMachine(async (two) => {
      await onMachine(async (home) => {
        await ok(one, ["fleet", "list", "--store", owner]);
        const address = (await ok(one, ["fleet", "enroll", "two"])).trim();
        for (const each of [two, home]) {
          await Deno.mkdir(each.state, { mode: 0o700 });
          await copy(`${one.state}/person`, `${each.state}/`);
        }
        await ok(two, ["fleet", "list", "--store", address]);
        const tokens = [await tokenOf(one), await tokenOf(two)] as const;
        const first = await startService(one);
        const second = await startService(two);
        try {
          const [a, b] = [through(home, first, tokens[0]), through(home, second, tokens[1])];
          const kernels = (await rows(a, ["fleet", "list"])).map((
            { name, alive },
          ) => [name, alive]);
          assert.deepEqual(kernels, [["one", true], ["two", true]]);
          assert.deepEqual(await rows(b, ["fleet", "list"]).then((all) => all.length), 2);
          await assert.rejects(Deno.stat(`${home.state}/kernel/remit.db`), "she has no kernel");

          // The first one has the task; its question is everybody's.
          const desk = `${one.dir}/desk`;
          await copy(`${ROOT}examples/desk`, desk);
          await ok(b, ["fleet", "cordon", "two"]);
          const queued = await one.json([
            ...[...ask, ...play, "--anywhere", "--mount", `desk=${desk}`],
          ]) as { readonly task: string };
          assert.ok(queued.task);
          const [question] = await waitUntil("its question at the other gateway", async () => {
            const open = await rows(b, ["questions"]);
            return open.length > 0 ? open : undefined;
          });
          const listed = async (at: Machine) => (await rows(at, ["tasks"])).map(({ id }) => id);
          assert.deepEqual(await listed(a), [queued.task]);
          assert.deepEqual(await listed(b), [queued.task], "one list, at either gateway");
          const processes = await rows(b, ["ps"]);
          assert.ok(processes.every(({ kernel }) => kernel === "one"), JSON.stringify(processes));
          const shown = await b.json(["task", "show", queued.task]) as Row;
          assert.equal(shown["status"], "needsApproval");
          assert.match(
            await ok(b, ["log", queued.task.slice(0, 9)]),
            /taskCreated[^]*questionAsked/,
          );

          const { kernel } = await one.json(["doctor"]) as { kernel?: { pid?: number } };
          assert.ok(kernel?.pid);
          Deno.kill(kernel.pid, "SIGKILL");
          assert.notEqual(await first.ended, 0, "a service ends with its kernel");
          assert.deepEqual(await listed(b), [queued.task], "nothing is gone with it");
          assert.equal((await rows(b, ["questions"])).length, 1);
          await ok(b, ["fleet", "uncordon", "two"]);
          await waitUntil("the takeover", async () => {
            const [task] = await rows(two, ["task", "list"]);
            return task?.["id"] === queued.task ? true : undefined;
          });
          const answered = await waitUntil("an answer that is taken", async () => {
            const done = await b.remit(["answer", String(question?.["id"]), "allow"]);
            return done.code === 0 ? done : undefined;
          });
          assert.match(answered.stderr, /change +changed/, "she saw what it changes");
          await waitUntil("its end", async () => {
            const state = await b.json(["task", "show", queued.task]) as Row;
            return state["status"] === "done" ? true : undefined;
          });
          assert.match(await Deno.readTextFile(`${desk}/notes/plan.md`), /\[x\] call the supplier/);

          // A request from her own machine, without a folder of it.
          const words = "scenario: words\nturns:\n  - say: The notes are as they should be.\n";
          const brief = await home.write("words.yaml", words);
          const refused = await b.remit([...ask, "--mount", `desk=${desk}`]);
          assert.match(refused.stderr, /with --mount: that lies on this machine/);
          const done = await b.remit([...ask, "--model", `scripted:${brief}`]);
          assert.equal(done.code, 0, done.stderr);
          assert.match(done.stdout, /The notes are as they should be/);
          assert.equal((await listed(b)).length, 2);
          const [mine] = (await rows(b, ["tasks"])).filter(({ id }) => id !== queued.task);
          assert.deepEqual(mine?.["ingress"], {
            ...{ channel: "http", colour: "YELLOW", label: "internal" },
            principal: (mine?.["ingress"] as Row)["principal"],
          });
          assert.equal(mine?.["profile"], "guest", "as her token says");

          const cost = await b.json(["cost", "--by", "model"]) as { readonly rows: readonly Row[] };
          const turns = cost.rows.reduce((sum, row) => sum + Number(row["inferences"]), 0);
          const [{ n }] = await query(
            owner,
            "SELECT count(*) AS n FROM remit.events WHERE kind = 'inferred'",
          );
          assert.equal(turns, Number(n), "each once, the killed one's, too");
          const report = await b.json(["audit", "verify"]) as Row;
          assert.equal(report["ok"], true);
          assert.equal((report["kernels"] as readonly Row[]).length, 2);
        } finally {
          for (const each of [first, second]) {
            try {
              each.kill("SIGTERM");
            } catch (_error) {
              // It has ended with its kernel.
            }
            await each.ended;
          }
        }
      }, IDLE);
    }, IDLE);
  }, IDLE);
  await Deno.remove(work, { recursive: true });
});
