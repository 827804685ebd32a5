import assert from "node:assert/strict";
import { NAMESPACE } from "../../core/start/line_parts.ts";
import {
  type Lease,
  LeaseId,
  type Leases,
  MountName,
  Pid,
  type Scope,
  TaskId,
} from "../../../contracts/authority/mod.ts";
import { Fault } from "../../../contracts/base/mod.ts";
import { NOTHING_KNOWN } from "../../../contracts/memory/mod.ts";
import type { HostCallAnswer, HostCallBody } from "../../../contracts/wire/mod.ts";
import { covers } from "../../core/lease/scope.ts";
import {
  HAS_BWRAP,
  HAS_PRLIMIT,
  makeWorld,
  realPowers,
  runs,
  type World,
} from "../../_fixture/small_children.ts";
import { makeSpawnPowers } from "../../core/start/spawn_powers.ts";
import { makeLook } from "../command/run.ts";
import { makeRunPowers } from "../command/command_spawn_powers.ts";
import { makeToolhosts, type Toolhosts, type ToolhostsParts } from "./toolhosts.ts";

const TASK = TaskId.parse("t000000000000");
const ALICE = Pid.parse(2);
const read = (path: string): Scope => ({ resource: "mount", right: "read", path });
const write = (path: string): Scope => ({ resource: "mount", right: "write", path });

/** A hand-made lease table: what is in the map is alive. */
function handLeases(...scopes: readonly Scope[]): {
  leases: Pick<Leases, "covering" | "alive" | "dead" | "onEnd">;
  revoke(path: string): void;
} {
  const rows = new Map<string, Lease>();
  let listener: (lease: Lease, why: "revoked" | "expired") => void = () => {};
  scopes.forEach((scope, n) => {
    const id = LeaseId.parse("l" + String(n).padStart(12, "0"));
    rows.set(id, {
      id,
      task: TASK,
      pid: ALICE,
      scope,
      grantedAt: 0,
      expiresAt: 1e15,
      reason: "test",
    });
  });
  const gone: Lease[] = [];
  return {
    leases: {
      covering: (pid, scope) =>
        [...rows.values()].find((lease) => lease.pid === pid && covers(lease.scope, scope)),
      alive: (id) => rows.has(id),
      dead: (_pid, scope) => gone.some((each) => covers(each.scope, scope)) ? "revoked" : undefined,
      onEnd(f): () => void {
        listener = f;
        return () => {};
      },
    },
    revoke(path): void {
      for (const [id, lease] of rows) {
        if (lease.scope.path !== path) continue;
        rows.delete(id);
        gone.push(lease);
        listener(lease, "revoked");
      }
    },
  };
}

interface Bench {
  readonly world: World;
  readonly toolhosts: Toolhosts;
  readonly root: string;
  revoke(path: string): void;
  call(
    source: string,
    scopes: readonly Scope[],
    options?: { writable?: boolean; signal?: AbortSignal; deadlineMs?: number; id?: string },
  ): Promise<HostCallAnswer>;
}

async function withBench(
  walled: boolean,
  scopes: readonly Scope[],
  work: (bench: Bench) => Promise<void>,
  more: Partial<ToolhostsParts> = {},
): Promise<void> {
  const world = await makeWorld();
  try {
    const { bwrap: _, ...bare } = world.config.programs;
    const children = await world.children(walled ? {} : { programs: bare });
    const { leases, revoke } = handLeases(...scopes);
    const toolhosts = makeToolhosts({
      contents: NOTHING_KNOWN,
      children,
      leases,
      powers: realPowers(),
      spawn: makeSpawnPowers(),
      policyNever: (path) => path.endsWith(".env") ? "built-in: never" : undefined,
      ...more,
    });
    toolhosts.open(TASK, {
      scratchQuota: 1_000_000,
      mounts: [{
        name: MountName.parse("desk"),
        dir: `${world.dir}/desk`,
        mode: "stage",
        colour: "YELLOW",
        label: "internal",
        marks: [],
      }],
      contentDir: `${world.dir}/content`,
      scratchDir: `${world.dir}/scratch`,
      prepare: () => Promise.resolve(),
      never: [],
      overlay: () => [],
    });
    let n = 0;
    await work({
      world,
      toolhosts,
      revoke,
      root: walled ? `${NAMESPACE.mounts}/desk` : `${world.dir}/desk`,
      call(
        source,
        needed,
        { writable = false, signal, deadlineMs = 100_000, id } = {},
      ): Promise<HostCallAnswer> {
        const body: HostCallBody = {
          id: id ?? `c${++n}`,
          tool: "probe",
          args: { source },
          deadlineMs,
          bytes: 1_000,
          key: "k",
          colour: "BLUE",
          label: "public",
        };
        return toolhosts.call(TASK, ALICE, body, {
          scopes: needed,
          writable,
          signal: signal ?? new AbortController().signal,
        });
      },
    });
    await toolhosts.close(TASK);
  } finally {
    await world.close();
  }
}

const code = (expected: string) => (error: unknown): boolean => {
  assert.ok(error instanceof Fault, String(error));
  assert.equal(error.code, expected);
  return true;
};

for (const walled of [true, false]) {
  const where = walled ? "with bubblewrap" : "without bubblewrap";
  const test = (name: string, fn: () => Promise<void>): void =>
    Deno.test({ name: `${name} (${where})`, ignore: walled && !HAS_BWRAP, fn });

  test("alice's tool reads what its call covers and nothing else", async () => {
    await withBench(walled, [read("desk")], async ({ call, root, world }) => {
      const notes = [read("desk/notes")];
      const content = async (source: string): Promise<string> =>
        (await call(source, notes)).content;
      assert.equal(await content(`return Deno.readTextFileSync("${root}/notes/a.md")`), "alpha\n");
      for (
        const path of [
          `${root}/keys.env`,
          `${root}`,
          `${root}/notes/../keys.env`,
          "/etc/passwd",
          "/proc/self/environ",
          `${world.dir}/run`,
          "/",
        ]
      ) {
        assert.match(
          await content(`return Deno.readTextFileSync("${path}")`),
          /^!(NotCapable|NotFound)/,
          path,
        );
      }
      assert.match(
        await content(`Deno.writeTextFileSync("${root}/notes/a.md", "x")`),
        /^!NotCapable: Cannot write "desk\/notes\/a.md": no call under way has a lease/,
      );
      assert.match(await content(`Deno.symlinkSync("/etc", "${root}/l")`), /^!NotCapable/);
      assert.match(
        await content(`return new Deno.Command("${NAMESPACE.deno}").outputSync().code`),
        /^!NotCapable/,
      );
      assert.match(await content(`return Deno.env.get("HOME")`), /^!NotCapable/);
    });
  });

  test("the never-list stands above every lease", async () => {
    await withBench(walled, [read("desk")], async ({ call, root }) => {
      const { content } = await call(`return Deno.readTextFileSync("${root}/keys.env")`, [
        read("desk"),
      ]);
      assert.match(content, /never-list \(built-in: never\)/);
    });
  });

  test("what a tool left running reads nothing after its call has ended", async () => {
    await withBench(walled, [read("desk")], async ({ call, root }) => {
      const scopes = [read("desk/notes")];
      const later = `globalThis.late = () => Deno.readTextFileSync("${root}/notes/a.md");` +
        `return globalThis.late()`;
      assert.equal((await call(later, scopes)).content, "alpha\n");
      const { content } = await call("return globalThis.late()", []);
      assert.match(content, /no call under way has a lease/);
    });
  });

  test("content and scratch are open to the task's tools without a lease", async () => {
    await withBench(walled, [], async ({ call, world }) => {
      const dir = walled ? NAMESPACE.content : `${world.dir}/content`;
      await call(
        `Deno.writeTextFileSync("${dir}/x.tmp", "x"); Deno.renameSync("${dir}/x.tmp", "${dir}/x")`,
        [],
      );
      assert.equal(await Deno.readTextFile(`${world.dir}/content/x`), "x");
    });
  });

  test("a writable call writes its mount in a process of its own, which ends with it", async () => {
    await withBench(walled, [write("desk/notes")], async ({ call, root, world, toolhosts }) => {
      await call("return 1", []);
      const before = toolhosts.osPids(TASK);
      await call(
        `globalThis.mark = 1; Deno.writeTextFileSync("${root}/notes/a.md", "beta")`,
        [write("desk/notes")],
        { writable: true },
      );
      assert.equal(await Deno.readTextFile(`${world.dir}/desk/notes/a.md`), "beta");
      assert.deepEqual(toolhosts.osPids(TASK), before);
      assert.equal((await call("return typeof globalThis.mark", [])).content, "undefined");
    });
  });

  test("a call without a lease is refused before it reaches the tool", async () => {
    await withBench(walled, [read("desk")], async ({ call, toolhosts, revoke }) => {
      await assert.rejects(call("return 1", [read("home")]), code("refused"));
      revoke("desk");
      await assert.rejects(call("return 1", [read("desk")]), code("leaseRevoked"));
      assert.equal(toolhosts.osPids(TASK).length, 1);
    });
  });

  test("a lease revoked in the middle of a long read ends the process that has the file open", async () => {
    await withBench(walled, [read("desk"), read("")], async ({ call, root, world, ...bench }) => {
      await Deno.writeFile(`${world.dir}/desk/notes/big`, new Uint8Array(1 << 20));
      const source = `const f = Deno.openSync("${root}/notes/big"); const b = new Uint8Array(1024);
        for (;;) { f.seekSync(0, 0); f.readSync(b); await new Promise((r) => setTimeout(r)); }`;
      const first = await call("return 1", []);
      assert.equal(first.content, "1");
      const [pid = 0] = bench.toolhosts.osPids(TASK);
      const reading = call(source, [read("desk/notes")]);
      // Served after the file was opened, by a process that goes on reading it.
      assert.equal((await call("return 2", [])).content, "2");
      bench.revoke("desk");
      // The task goes on with a fresh one, also before the first has ended.
      const next = call("return 3", []);
      await assert.rejects(reading, code("leaseRevoked"));
      assert.equal((await next).content, "3");
      assert.equal(runs(pid), false);
      assert.notEqual(bench.toolhosts.osPids(TASK)[0], pid);
    });
  });

  test("a tool that spins is killed a moment after its deadline, and after a cancel", async () => {
    await withBench(walled, [], async ({ call, toolhosts }) => {
      await call("return 1", []);
      const [pid = 0] = toolhosts.osPids(TASK);
      await assert.rejects(call("for (;;);", [], { deadlineMs: 20 }), code("timedOut"));
      assert.equal(runs(pid), false);
      const abort = new AbortController();
      await call("return 1", []);
      const spinning = call("for (;;);", [], { signal: abort.signal });
      abort.abort();
      await assert.rejects(spinning, code("cancelled"));
      await assert.rejects(call("return 1", [], { signal: abort.signal }), code("cancelled"));
    });
  });

  test("a toolhost that dies or lies ends its call as upstream, and the next one works", async () => {
    await withBench(walled, [], async ({ call }) => {
      const never = "await new Promise(() => {})";
      await assert.rejects(call("Deno.exit(3)", []), code("upstream"));
      await assert.rejects(call("globalThis.send([0,0,0,0,0])", []), code("upstream"));
      await assert.rejects(
        call(`globalThis.send([-3,null,{evil:1}]); ${never}`, []),
        code("upstream"),
      );
      await assert.rejects(
        call(`globalThis.send([-4,"gone","I am not",null]); ${never}`, []),
        code("gone"),
      );
      assert.equal((await call("return 1", [])).content, "1");
    });
  });
}

Deno.test({
  name: "a symlink flipped in a loop between check and open never yields the secret in a namespace",
  ignore: !HAS_BWRAP,
  async fn(): Promise<void> {
    await withBench(true, [read("desk")], async ({ call, root, world }) => {
      await Deno.mkdir(`${world.dir}/outside`);
      await Deno.writeTextFile(`${world.dir}/outside/f`, "SECRET");
      await Deno.mkdir(`${world.dir}/desk/inside`);
      await Deno.writeTextFile(`${world.dir}/desk/inside/f`, "public");
      const flipper = new Deno.Command(Deno.execPath(), {
        args: [
          "eval",
          `for (;;) for (const to of ["inside", "../outside", "${world.dir}/outside"]) {
             try { Deno.removeSync("${world.dir}/desk/x"); } catch {}
             Deno.symlinkSync(to, "${world.dir}/desk/x"); }`,
        ],
        stdout: "null",
        stderr: "null",
      }).spawn();
      try {
        const { content } = await call(
          `const seen = { good: 0, none: 0, secret: 0 }; const until = Date.now() + 2000;
           const both = () => seen.good > 10 && seen.none > 10;
           while (Date.now() < until || (!both() && Date.now() < until + 60000)) {
             try { const t = Deno.readTextFileSync("${root}/x/f");
               if (t === "public") seen.good++; else seen.secret++; }
             catch { seen.none++; } }
           return JSON.stringify(seen)`,
          [read("desk")],
        );
        const seen = JSON.parse(content);
        assert.equal(seen.secret, 0);
        assert.ok(seen.good > 10 && seen.none > 10, content);
      } finally {
        flipper.kill("SIGKILL");
        await flipper.status;
      }
    });
  },
});

Deno.test("without bubblewrap a link that leaves its mount is refused by its real place", async () => {
  await withBench(false, [read("desk")], async ({ call, root, world }) => {
    await Deno.symlink("/etc/passwd", `${world.dir}/desk/passwd`);
    await Deno.symlink("notes/../keys.env", `${world.dir}/desk/innocent`);
    await Deno.symlink("/tmp/nowhere-yet", `${world.dir}/scratch/out`);
    const of = async (source: string): Promise<string> =>
      (await call(source, [read("desk")])).content;
    assert.match(await of(`return Deno.readTextFileSync("${root}/passwd")`), /lies in no mount/);
    assert.match(await of(`return Deno.readTextFileSync("${root}/innocent")`), /never-list/);
    assert.match(
      await of(`Deno.writeTextFileSync("${world.dir}/scratch/out", "x")`),
      /leads nowhere/,
    );
    assert.match(
      await of(`Deno.writeTextFileSync("${world.dir}/scratch/out/deeper/x", "x")`),
      /leads nowhere/,
    );
    assert.match(await of(`return Deno.readTextFileSync("${root}/new/folder/f")`), /^!NotFound/);
    assert.match(await of(`return Deno.readTextFileSync("/nowhere/f")`), /lies in no mount/);
  });
});

Deno.test({
  name:
    "a folder that was put in another's place is the one that is read, and one that is gone is named",
  ignore: !HAS_BWRAP || !HAS_PRLIMIT,
  async fn(): Promise<void> {
    let now = 0;
    const look = makeLook(makeRunPowers(), "/usr/bin/prlimit");
    const powers = { ...realPowers(), now: () => now += 10_000 };
    await withBench(true, [read("desk")], async ({ call, root, world, toolhosts }) => {
      const { dir } = world;
      const content = async (): Promise<string> =>
        (await call(`return Deno.readTextFileSync("${root}/notes/a.md")`, [read("desk")])).content;
      assert.equal(await content(), "alpha\n");
      const before = toolhosts.osPids(TASK);
      assert.equal(await content(), "alpha\n");
      assert.deepEqual(toolhosts.osPids(TASK), before);
      await Deno.rename(`${dir}/desk`, `${dir}/aside`);
      const gone = (error: unknown): boolean =>
        error instanceof Fault && error.code === "notFound" &&
        /the folder of mount "desk" is not there any more; it was moved or deleted/.test(
          error.message,
        );
      await assert.rejects(content(), gone);
      await assert.rejects(call("return 1", [write("desk")], { writable: true }), gone);
      await Deno.mkdir(`${dir}/desk/notes`, { recursive: true });
      await Deno.writeTextFile(`${dir}/desk/notes/a.md`, "beta\n");
      assert.equal(await content(), "beta\n");
      // Another folder by a link is not the one that was granted.
      await Deno.remove(`${dir}/desk`, { recursive: true });
      await Deno.symlink(`${dir}/aside`, `${dir}/desk`);
      await assert.rejects(content(), gone);
      // With its parent moved away, too, and back.
      await Deno.remove(`${dir}/desk`);
      await Deno.rename(`${dir}/aside`, `${dir}/desk`);
      assert.equal(await content(), "alpha\n");
    }, { powers, look });
  },
});
