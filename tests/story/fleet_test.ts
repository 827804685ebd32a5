/** carol has two kernels on one database. One is killed half-way; she sees one list, one question, and one chain that holds. */
import assert from "node:assert/strict";
import { startPostgres } from "../../store/_fixture/postgres_powers.ts";
import { type Machine, onMachine } from "../fake/remit.ts";
import { waitUntil } from "../fake/wait_until.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const IDLE = { env: { REMIT_IDLE_SECONDS: "300" } };

async function ok(machine: Machine, args: readonly string[]): Promise<string> {
  const done = await machine.remit(args);
  assert.equal(done.code, 0, `${args.join(" ")}: ${done.stderr}`);
  return done.stdout;
}

interface Listed {
  readonly id?: string;
  readonly status?: string;
  readonly name?: string;
  readonly alive?: boolean;
}
const rows = async (machine: Machine, args: readonly string[]): Promise<readonly Listed[]> =>
  await machine.json(args) as readonly Listed[];

Deno.test("carol answers at one kernel what the other asked before it was killed", async () => {
  await using server = await startPostgres();
  const work = await Deno.makeTempDir({ prefix: "remit-shared-" });
  const owner = `${await server.database("story")}&work=${work}&lease=2&kernel=one`;
  await onMachine(async (one) => {
    await onMachine(async (two) => {
      await ok(one, ["fleet", "list", "--store", owner]);
      const address = (await ok(one, ["fleet", "enroll", "two"])).trim();
      assert.match(address, /^postgres:\/\/remit_two:[0-9a-f]{48}@/);
      const keys = ["-a", `${one.state}/person`, `${two.state}/`];
      await Deno.mkdir(two.state, { mode: 0o700 });
      assert.ok((await new Deno.Command("cp", { args: keys }).output()).success);
      await ok(two, ["fleet", "list", "--store", address]);
      assert.deepEqual(
        (await rows(one, ["fleet", "list"])).map(({ name, alive }) => [name, alive]),
        [["one", true], ["two", true]],
      );

      // The second takes nothing, so that the first does.
      await ok(two, ["fleet", "cordon", "two"]);
      const desk = `${one.dir}/desk`;
      const copy = { args: ["-r", `${ROOT}examples/desk`, desk] };
      assert.ok((await new Deno.Command("cp", copy).output()).success);
      const queued = await two.json([
        ...["run", "-p", "Bring the notes up to date", "--anywhere", "--mount", `desk=${desk}`],
        ...["--model", `scripted:${ROOT}examples/desk/demo.yaml`],
      ]) as { readonly task: string };
      const [question] = await waitUntil("its question at the other kernel", async () => {
        const open = await rows(two, ["questions"]);
        return open.length > 0 ? open : undefined;
      });
      assert.deepEqual(await rows(two, ["task", "list"]), [], "it is the first one's");

      const { kernel } = await one.json(["doctor"]) as { kernel?: { pid?: number } };
      assert.ok(kernel?.pid);
      Deno.kill(kernel.pid, "SIGKILL");
      await ok(two, ["fleet", "uncordon", "two"]);
      await waitUntil("the takeover", async () => {
        const [task] = await rows(two, ["task", "list"]);
        return task?.id === queued.task ? true : undefined;
      });
      const answered = await waitUntil("an answer that is taken", async () => {
        const done = await two.remit(["answer", question?.id ?? "", "allow"]);
        return done.code === 0 ? done : undefined;
      });
      assert.match(answered.stderr, /change +changed/, "she saw what it changes");
      const plan = await Deno.readTextFile(`${desk}/notes/plan.md`);
      assert.match(plan, /\[x\] call the supplier back/);

      assert.deepEqual(await rows(two, ["fleet", "tasks"]), []);
      const [task] = await rows(two, ["task", "list"]);
      assert.equal(task?.status, "done");
      await ok(two, ["fleet", "verify"]);
      await ok(two, ["audit", "verify"]);
      const log = await ok(two, ["log", queued.task]);
      assert.match(log, /taskCreated[^]*recovered|taskCreated[^]*questionAnswered/);
      // The first one comes back, has nothing to do, and its log holds, too.
      await ok(one, ["fleet", "verify"]);
      assert.deepEqual(await rows(one, ["task", "list"]), []);
    }, IDLE);
  }, IDLE);
  await Deno.remove(work, { recursive: true });
});

Deno.test("a state that has a log keeps it: --store is for a new one, and is said once", async () => {
  await using server = await startPostgres();
  const url = await server.database("other");
  await onMachine(async (machine) => {
    await ok(machine, ["task", "list"]);
    const refused = await machine.remit(["task", "list", "--store", url]);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /keeps its log elsewhere already/);
    const alone = await machine.remit(["fleet", "list"]);
    assert.match(alone.stderr, /Cannot ask a fleet/);
  });
  await onMachine(async (machine) => {
    assert.match(
      (await machine.remit(["task", "list", "--store", "mysql://x"])).stderr,
      /postgres:\/\//,
    );
    await ok(machine, ["task", "list", "--store", url]);
    const mode = (await Deno.stat(`${machine.state}/store`)).mode ?? 0;
    assert.equal(mode & 0o777, 0o600);
    await ok(machine, ["audit", "verify"]);
  });
});
