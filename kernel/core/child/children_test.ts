import assert from "node:assert/strict";
import { NAMESPACE } from "../start/line_parts.ts";
import { MountName } from "../../../contracts/authority/mod.ts";
import type { Child } from "./child.ts";
import type { Verdict } from "./permission_line.ts";
import { makeStartQueue } from "./children.ts";
import { makeWorkerPool } from "./worker_pool.ts";
import { DEAF, HAS_BWRAP, makeWorld, runs } from "../../_fixture/small_children.ts";

const yes = (): Verdict => ({ allow: true });

Deno.test("alice takes a worker that answers and holds no permission", async () => {
  const world = await makeWorld();
  try {
    const children = await world.children();
    const child = await children.worker(DEAF);
    assert.equal(await child.port.ask("eval", "return 1 + 1"), 2);
    for (const name of ["read", "write", "net", "env", "run", "sys", "ffi", "import"]) {
      assert.equal(
        await child.port.ask(
          "eval",
          `return (await Deno.permissions.query({name:"${name}"})).state`,
        ),
        "denied",
        name,
      );
    }
    assert.match(
      String(await child.port.ask("eval", `return Deno.readTextFileSync("/etc/passwd")`)),
      /^!NotCapable/,
    );
    await child.kill();
    assert.equal(runs(child.osPid), false);
    assert.deepEqual(await child.exited, { code: null, signal: "SIGKILL" });
  } finally {
    await world.close();
  }
});

Deno.test("alice takes a warm worker from the pool, and the pool is filled again", async () => {
  const world = await makeWorld();
  try {
    const children = await world.children({ pool: { workers: 2, plugins: 0 } });
    const pids = new Set<number>();
    for (let i = 0; i < 4; i++) {
      const child = await children.worker(DEAF);
      assert.equal(await child.port.ask("eval", "return 'here'"), "here");
      pids.add(child.osPid);
    }
    assert.equal(pids.size, 4);
  } finally {
    await world.close();
  }
});

Deno.test("a pool rests after a minute without a take: few stay, nothing wakes it, and the next take fills it", async () => {
  let [now, alive, timers] = [0, 0, [] as { at: number; f: () => void }[]];
  const settled = async (): Promise<void> => {
    for (let n = 0; n < 50; n++) await Promise.resolve();
  };
  const turn = async (ms: number): Promise<void> => {
    await settled();
    for (const end = now + ms; now < end; await settled()) {
      now = Math.min(end, ...timers.map(({ at }) => at));
      const due = timers.filter(({ at }) => at <= now);
      timers = timers.filter(({ at }) => at > now);
      for (const { f } of due) f();
    }
  };
  const start = (): Child => {
    const { promise: exited, resolve } = Promise.withResolvers<Deno.CommandStatus>();
    alive++;
    const kill = (): Promise<void> => {
      alive--;
      return Promise.resolve(resolve({ success: false, code: 1, signal: "SIGKILL" }));
    };
    return { exited, kill, port: { ask: () => Promise.resolve(null) } } as unknown as Child;
  };
  const after = (ms: number, f: () => void): () => void => {
    const timer = { at: now + ms, f };
    timers.push(timer);
    return () => timers = timers.filter((each) => each !== timer);
  };
  const pool = makeWorkerPool({
    ...{ size: 3, resting: 1, queue: makeStartQueue(2), powers: { after }, start },
  });
  await turn(59_000);
  assert.equal(alive, 3);
  await turn(2_000);
  assert.equal(alive, 1, "one stays for whoever comes next");
  await turn(1_000);
  assert.deepEqual(timers, [], "a pool at rest waits for nothing");
  const taken = await pool.take(DEAF);
  await turn(1_000);
  assert.equal(alive, 4, "the one that was taken, and a full pool");
  await taken.kill();
  await turn(60_000);
  assert.equal(alive, 1);
  pool.close();
  assert.deepEqual(timers, []);
});

for (const walled of [true, false]) {
  Deno.test({
    name: `a toolhost ${walled ? "with" : "without"} bubblewrap reaches only what its judge allows`,
    ignore: walled && !HAS_BWRAP,
    async fn(): Promise<void> {
      const world = await makeWorld();
      try {
        const { bwrap: _, ...bare } = world.config.programs;
        const children = await world.children(walled ? {} : { programs: bare });
        assert.equal(children.walls().bwrap, walled);
        const asked: string[] = [];
        const { child, roots } = await children.toolhost({
          mounts: [{ name: MountName.parse("desk"), dir: `${world.dir}/desk`, mode: "stage" }],
          content: `${world.dir}/content`,
          scratch: `${world.dir}/scratch`,
          writable: false,
          judge: (permission, value) => {
            asked.push(`${permission} ${value}`);
            return value?.endsWith("a.md") ? yes() : { allow: false, reason: "Cannot: no lease" };
          },
          handler: DEAF,
        });
        const root = roots.mounts[0]?.root;
        assert.equal(root, walled ? `${NAMESPACE.mounts}/desk` : `${world.dir}/desk`);
        assert.equal(
          await child.port.ask("eval", `return Deno.readTextFileSync("${root}/notes/a.md")`),
          "alpha\n",
        );
        assert.match(
          String(await child.port.ask("eval", `return Deno.readTextFileSync("${root}/keys.env")`)),
          /NotCapable: Cannot: no lease/,
        );
        const write = String(
          await child.port.ask("eval", `Deno.writeTextFileSync("${root}/notes/a.md", "x")`),
        );
        if (walled) assert.match(write, /Read-only file system/);
        assert.ok(asked.includes(`read ${root}/keys.env`));
        await child.kill();
      } finally {
        await world.close();
      }
    },
  });
}
