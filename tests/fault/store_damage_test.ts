/** Damage of the database, found and mended through the commands that a person has. */
import assert from "node:assert/strict";
import { endProcesses, processesNaming } from "../fake/processes.ts";
import { type Machine, onMachine } from "../fake/remit.ts";
import { heldKernel } from "../fake/held_kernel.ts";
import { waitUntil } from "../fake/wait_until.ts";
import { cutTail, DAMAGES, spoilDocument } from "./damage.ts";

const SCENARIO = `
scenario: look
turns:
  - calls: [{ tool: file_read, args: { path: desk/plan.md } }]
  - say: I have read it.
`;

/** A machine with a task done, its kernel ended, its log whole. */
interface Ground {
  readonly machine: Machine;
  readonly database: string;
  /** Head of the whole log. */
  readonly head: string;
  /** Puts the whole log back, without what a repair left. */
  restore(): Promise<void>;
  run(): ReturnType<Machine["remit"]>;
  /** Ends the kernel: the next command meets what lies on the disk. */
  still(): Promise<void>;
}

async function onGround(f: (ground: Ground) => Promise<void>): Promise<void> {
  await onMachine(async (machine) => {
    await machine.write("desk/plan.md", "call the supplier\n");
    const model = await machine.write("look.yaml", SCENARIO);
    const run = (): ReturnType<Machine["remit"]> =>
      machine.remit(["run", "-p", "look", "--mount", "desk=desk", "--model", `scripted:${model}`]);
    const done = await run();
    assert.equal(done.code, 0, done.stderr);
    const { head } = await machine.json(["audit", "verify"]) as { head: string };
    await stopped(machine);
    const folder = `${machine.state}/kernel`;
    const database = `${folder}/remit.db`;
    const whole = await Deno.readFile(database);
    const restore = async (): Promise<void> => {
      await endProcesses(machine.state);
      for await (const { name } of Deno.readDir(folder)) {
        if (name.startsWith("remit.db") || name === "damaged") {
          await Deno.remove(`${folder}/${name}`);
        }
      }
      await Deno.writeFile(database, whole, { mode: 0o600 });
    };
    const still = (): Promise<void> => endProcesses(machine.state);
    await f({ machine, database, head, restore, run, still });
  });
}

/** Ends the kernel in peace, so that everything is in the database's file. */
async function stopped(machine: Machine): Promise<void> {
  await machine.remit(["stop"]);
  const gone = async (): Promise<true | undefined> =>
    (await processesNaming(machine.state)).length === 0 ? true : undefined;
  await waitUntil("the kernel ends", gone);
}

interface Report {
  readonly ok: boolean;
  readonly head: string;
  readonly bad?: { readonly seq: number; readonly flaw: string; readonly why: string };
}

async function verify(machine: Machine, head?: string): Promise<Report & { code: number }> {
  const args = ["audit", "verify", "--json", ...(head === undefined ? [] : ["--head", head])];
  const { code, stdout, stderr } = await machine.remit(args);
  assert.notEqual(stdout, "", stderr);
  return { ...JSON.parse(stdout) as Report, code };
}

async function kept(database: string): Promise<readonly string[]> {
  const folder = database.slice(0, database.lastIndexOf("/"));
  const names: string[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    if (/^remit\.db\.damaged-\d+$/.test(name)) names.push(name);
  }
  return names;
}

Deno.test("damage of the log is found, stops every task, and is mended only by `audit repair` (long)", async (t) => {
  await onGround(async ({ machine, database, restore, run, still }) => {
    for (const damage of DAMAGES) {
      await t.step(damage.name, async () => {
        await restore();
        const seq = await damage.do(database);
        const before = await Deno.readFile(database);

        const found = await verify(machine);
        assert.equal(found.code, 1);
        assert.equal(found.bad?.seq, seq, JSON.stringify(found));
        const refused = await run();
        assert.notEqual(refused.code, 0);
        assert.match(refused.stderr, /Nothing runs over a damaged log.*audit repair/s);
        await still();
        assert.deepEqual(await Deno.readFile(database), before, "nobody has touched the file");

        const mended = await machine.remit(["audit", "repair"]);
        assert.equal(mended.code, 0, mended.stderr);
        const [old, ...more] = await kept(database);
        assert.deepEqual(more, []);
        assert.deepEqual(await Deno.readFile(`${database.slice(0, -8)}${old}`), before);
        assert.equal((await verify(machine)).code, 0);
        const done = await run();
        assert.equal(done.code, 0, done.stderr);
      });
    }
  });
});

Deno.test("a whole tail that was cut off shows against a kept head, and only against it", async () => {
  await onGround(async ({ machine, database, head, still }) => {
    cutTail(database);
    const blind = await verify(machine);
    assert.equal(blind.code, 0, JSON.stringify(blind));
    await still();
    const seen = await verify(machine, head);
    assert.equal(seen.code, 1);
    assert.equal(seen.bad?.flaw, "cutTail");
    const said = await machine.remit(["audit", "verify"]);
    assert.match(said.stderr, /cut off shows only with a head/);
  });
});

Deno.test("bytes of the write-ahead log of a killed kernel: what they held is missed against a head (long)", async () => {
  await onGround(async ({ machine, database, run, still }) => {
    // One that ended in peace would leave no write-ahead log.
    using _held = await heldKernel(machine);
    assert.equal((await run()).code, 0);
    const { head } = await verify(machine);
    await still();
    const wal = await Deno.readFile(`${database}-wal`);
    assert.ok(wal.length > 4_096);
    // A frame's header and the page after it; SQLite takes nothing from there on.
    for (let at = 32 + 24 + 2_000; at < wal.length; at += 4_096 + 24) wal[at] = (wal[at] ?? 0) ^ 1;
    await Deno.writeFile(`${database}-wal`, wal);
    const found = await verify(machine, head);
    assert.equal(found.code, 1);
    assert.equal(found.bad?.flaw, "cutTail", JSON.stringify(found));
  });
});

Deno.test("a spoilt record beside an intact log stops tasks, and is made anew from the log", async () => {
  await onGround(async ({ machine, database, run, still }) => {
    const before = await machine.json(["task", "show"]);
    await still();
    spoilDocument(database);
    const found = await verify(machine);
    assert.equal(found.code, 1);
    assert.match(found.bad?.why ?? "", /beside them/);
    assert.match((await run()).stderr, /Nothing runs over a damaged log/);
    assert.equal((await machine.remit(["audit", "repair"])).code, 0);
    await still();
    assert.deepEqual(await machine.json(["task", "show"]), before);
    assert.equal((await verify(machine)).code, 0);
  });
});
