import assert from "node:assert/strict";
import { Fault } from "../../../contracts/base/mod.ts";
import type { Child } from "./child.ts";
import {
  DEAF,
  HAS_BWRAP,
  HAS_SETPRIV,
  makeWorld,
  runs,
  type World,
} from "../../_fixture/small_children.ts";
import { eventually } from "../../_fixture/session_bench.ts";
import type { Verdict } from "./permission_line.ts";

const yes = (): Verdict => ({ allow: true });

async function withWorld(work: (world: World) => Promise<void>): Promise<void> {
  const world = await makeWorld();
  try {
    await work(world);
  } finally {
    await world.close();
  }
}

const HOSTILE: readonly (readonly [name: string, source: string])[] = [
  ["spins", "for (;;);"],
  ["exits", "Deno.exit(7)"],
  ["kills itself through node", `(await import("node:process")).default.abort()`],
  ["forks", `new Deno.Command("/bin/true").outputSync()`],
  ["fills its heap", "const a = []; for (;;) a.push(new Array(1e5).fill({}))"],
  [
    "fills memory outside its heap",
    "const a = []; for (;;) a.push(new Uint8Array(1 << 26).fill(1))",
  ],
  [
    "floods standard error",
    "const b = new Uint8Array(65536).fill(65); for (;;) Deno.stderr.writeSync(b)",
  ],
  ["floods the port", "for (;;) globalThis.send([0, 'x', null])"],
  [
    "sends a frame that never ends",
    "const b = new Uint8Array(65536).fill(65); for (;;) Deno.stdout.writeSync(b)",
  ],
  ["answers what nobody asked", "globalThis.send([-77, null, 1]); for (;;);"],
  [
    "starts threads that spin",
    `for (let i = 0; i < 4; i++) new Worker("data:text/javascript,for(;;);", { type: "module" }); for (;;);`,
  ],
];

for (const [name, source] of HOSTILE) {
  Deno.test(`a worker that ${name} does not disturb another one, and can be ended`, async () => {
    await withWorld(async (world) => {
      const children = await world.children();
      const [alice, mallory] = await Promise.all([children.worker(DEAF), children.worker(DEAF)]);
      const fate = mallory.port.ask("eval", source).then(() => "answered", () => "ended");
      for (let i = 0; i < 50; i++) assert.equal(await alice.port.ask("eval", `return ${i}`), i);
      await mallory.kill();
      await fate;
      assert.equal(runs(mallory.osPid), false);
      assert.ok(mallory.stderr().length <= 65_536);
      assert.equal(await alice.port.ask("eval", "return 'well'"), "well");
    });
  });
}

Deno.test("memory beyond the limits ends the worker by itself, inside and outside its heap", async () => {
  await withWorld(async (world) => {
    const children = await world.children();
    if (!children.walls().prlimit) return;
    for (const name of ["fills its heap", "fills memory outside its heap"]) {
      const child = await children.worker(DEAF);
      const source = HOSTILE.find(([each]) => each === name)?.[1] ?? "";
      const end = await Promise.race([
        child.port.ask("eval", source),
        child.exited.then(() => "!ended"),
      ]).catch((error) => (error as Fault).code);
      assert.match(String(end), /^(!RangeError|!ended|gone)/, name);
      await child.kill();
    }
  });
});

Deno.test("a worker can signal neither the kernel nor the process group that they share", async () => {
  await withWorld(async (world) => {
    const children = await world.children();
    const mallory = await children.worker(DEAF);
    for (const pid of ["0", "Deno.ppid", "-Deno.ppid"]) {
      for (const kill of ["Deno", `(await import("node:process")).default`]) {
        const said = await mallory.port.ask("eval", `${kill}.kill(${pid}, "SIGWINCH")`);
        assert.match(String(said), /^!NotCapable|^!TypeError|^!RangeError/, `${kill} ${pid}`);
      }
    }
  });
});

Deno.test("children keep nothing that another one reads: localStorage, caches, KV", async () => {
  await withWorld(async (world) => {
    const children = await world.children();
    assert.equal(children.walls().storage, true);
    const ask = (child: Child, source: string): Promise<unknown> => child.port.ask("eval", source);
    const first = await children.worker(DEAF);
    assert.match(String(await ask(first, `localStorage.setItem("a", "1"); return "kept"`)), /^!/);
    assert.match(
      String(await ask(first, `await caches.open("a"); return "kept"`)),
      /^!/,
    );
    assert.match(String(await ask(first, `await Deno.openKv(); return "kept"`)), /^!/);
    assert.match(
      String(
        await ask(
          first,
          `const { DatabaseSync } = await import("node:sqlite");
        new DatabaseSync("/tmp/remit-shared.db"); return "kept"`,
        ),
      ),
      /^!/,
    );
    const second = await children.worker(DEAF);
    assert.match(String(await ask(second, `return localStorage.getItem("a")`)), /^!/);
  });
});

Deno.test({
  name: "kill -9 of the parent leaves no process, not even a spinning one or a toolhost's",
  ignore: !HAS_SETPRIV || !HAS_BWRAP,
  async fn(): Promise<void> {
    await withWorld(async (world) => {
      const source = `
        import { makeWorld, DEAF } from ${
        JSON.stringify(import.meta.resolve("../../_fixture/small_children.ts"))
      };
        const world = await makeWorld();
        const children = await world.children({ pool: { workers: 1, plugins: 0 } });
        const worker = await children.worker(DEAF);
        const { child: host } = await children.toolhost({ mounts: [], content: world.dir + "/content",
          scratch: world.dir + "/scratch", writable: false, judge: () => ({ allow: true }), handler: DEAF });
        worker.port.ask("eval", "for (;;);").catch(() => {});
        host.port.ask("eval", "for (;;);").catch(() => {});
        console.log(JSON.stringify({ dir: world.dir, pids: [worker.osPid, host.osPid] }));
        await new Promise(() => {});`;
      await Deno.writeTextFile(`${world.dir}/parent.ts`, source);
      const parent = new Deno.Command(Deno.execPath(), {
        args: [
          "run",
          "-A",
          "--no-check",
          "--config",
          new URL("../../../deno.json", import.meta.url).pathname,
          `${world.dir}/parent.ts`,
        ],
        stdout: "piped",
        stderr: "inherit",
      }).spawn();
      const lines = parent.stdout.pipeThrough(new TextDecoderStream());
      let said = "";
      for await (const text of lines) {
        said += text;
        if (said.includes("\n")) break;
      }
      const { dir, pids }: { dir: string; pids: number[] } = JSON.parse(said);
      const before = inside(dir);
      assert.ok(pids.every(runs));
      assert.ok(before.length >= 3, "worker, spare and toolhost run");
      parent.kill("SIGKILL");
      await parent.status;
      // One that is ending has given up its memory, and with it its words, before it is gone.
      await eventually(() => inside(dir).length === 0 && !pids.some(runs));
      await Deno.remove(dir, { recursive: true });
    });
  },
});

/** Processes whose command line names a folder. */
function inside(dir: string): readonly string[] {
  const found: string[] = [];
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(name) || !runs(Number(name))) continue;
    try {
      const line = Deno.readTextFileSync(`/proc/${name}/cmdline`);
      if (line.includes(dir)) found.push(line.replaceAll("\0", " "));
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return found;
}

Deno.test("the permission socket takes one connection only, and a toolhost whose judge fails ends", async () => {
  await withWorld(async (world) => {
    const { bwrap: _, ...bare } = world.config.programs;
    const children = await world.children({ programs: bare });
    const { child } = await children.toolhost({
      mounts: [],
      content: `${world.dir}/content`,
      scratch: `${world.dir}/scratch`,
      writable: false,
      judge: yes,
      handler: DEAF,
    });
    const [path = ""] = world.config.brokerSockets;
    await assert.rejects(Deno.connect({ transport: "unix", path }), /NotFound|No such file/);
    assert.equal(
      await child.port.ask(
        "eval",
        `Deno.writeTextFileSync("${world.dir}/content/f", ""); return 1`,
      ),
      1,
    );
    await child.kill();
    const { child: doomed } = await children.toolhost({
      mounts: [],
      content: `${world.dir}/content`,
      scratch: `${world.dir}/scratch`,
      writable: false,
      judge: () => {
        throw new TypeError("a bug");
      },
      handler: DEAF,
    });
    await assert.rejects(doomed.port.ask("eval", `Deno.statSync("/tmp"); for (;;);`));
    await doomed.exited;
    // Both paths are free again: as many toolhosts start one after another as are wanted.
    for (let i = 0; i < 4; i++) {
      const { child } = await children.toolhost({
        mounts: [],
        content: `${world.dir}/content`,
        scratch: `${world.dir}/scratch`,
        writable: false,
        judge: yes,
        handler: DEAF,
      });
      assert.equal(await child.port.ask("eval", "return 1"), 1);
    }
  });
});

Deno.test("a child that does not start is refused with the last words that it wrote", async () => {
  const world = await makeWorld(`throw new Error("no such luck")`);
  try {
    const children = await world.children({ pool: { workers: 1, plugins: 0 } });
    await assert.rejects(children.worker(DEAF), (error: unknown) => {
      assert.ok(error instanceof Fault);
      assert.equal(error.code, "upstream");
      assert.match(error.message, /Cannot start a worker: it ended \(exit code 1\)/);
      return true;
    });
  } finally {
    await world.close();
  }
});

Deno.test("closing ends every child, and none is started afterwards", async () => {
  await withWorld(async (world) => {
    const children = await world.children({ pool: { workers: 2, plugins: 0 } });
    const child = await children.worker(DEAF);
    void child.port.ask("eval", "for (;;);").catch(() => {});
    await children.close();
    assert.equal(runs(child.osPid), false);
    assert.deepEqual(inside(world.dir), []);
    await assert.rejects(
      children.worker(DEAF),
      (error: unknown) => (error as Fault).code === "gone",
    );
  });
});
