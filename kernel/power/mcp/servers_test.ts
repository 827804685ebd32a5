import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { HAS_BWRAP, runs } from "../../_fixture/small_children.ts";
import { EVAL_SERVER, makeMcpWorld, TASK } from "../../_fixture/mcp_world.ts";
import { Pid, TaskId } from "../../../contracts/authority/mod.ts";
import { Fault, type JsonObject } from "../../../contracts/base/mod.ts";
import type { McpElicited } from "../../../contracts/wire/mod.ts";
import type { McpPlace } from "./calls.ts";
import { waitUntil } from "../../../tests/fake/wait_until.ts";

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, ignore: !HAS_BWRAP, fn });
}

const fault = (code: string, words = /./) => (error: unknown): boolean =>
  error instanceof Fault && error.code === code && words.test(error.message);
const SPIN = "for (;;);";
const HANG = "await new Promise(() => setInterval(() => {}, 1000))";

/** Time that a test lets pass by hand: what waits `ms` or longer is due when it says so. */
function handTurned(): {
  readonly powers: { now(): number; after(ms: number, f: () => void): () => void };
  pass(ms: number): void;
} {
  let now = Date.now();
  const waiting = new Map<() => void, number>();
  return {
    powers: {
      now: () => now,
      after(ms, f): () => void {
        waiting.set(f, now + ms);
        return () => void waiting.delete(f);
      },
    },
    pass(ms): void {
      now += ms;
      for (const [f, due] of [...waiting]) if (due <= now && waiting.delete(f)) f();
    },
  };
}

test("a server of npm says what it is, runs calls in one process, and ends with its task", async () => {
  await using mcp = await makeMcpWorld();
  const server = await mcp.server(EVAL_SERVER);
  const words = await mcp.servers.hold(TASK, server).words(mcp.under());
  equal(words.server.name, "hostile");
  equal(await mcp.run(server, "globalThis.n = 1; return 6 * 7"), "42");
  equal(await mcp.run(server, "return ++n"), "2");
  const pids = mcp.servers.osPids(TASK);
  equal(pids.length, 2);
  await mcp.servers.close(TASK);
  for (const pid of pids) equal(runs(pid), false);
  deepEqual(mcp.servers.osPids(TASK), []);
  ok(mcp.noted.some(({ what }) => what === "started"));
  ok(mcp.noted.some(({ what }) => what === "ended"));
});

test("two tasks never share a server", async () => {
  await using mcp = await makeMcpWorld();
  const server = await mcp.server(EVAL_SERVER), bobs = TaskId.parse("t000000000001");
  equal(await mcp.run(server, "globalThis.secret = 1; return secret"), "1");
  const held = mcp.servers.hold(bobs, server);
  const code = "return typeof globalThis.secret";
  const answer = JSON.stringify(
    await held.ask("call", { tool: "eval", args: { code } }, mcp.under()),
  );
  match(answer, /undefined/);
  await mcp.servers.close(bobs);
});

test("a call that is never answered ends when its time is up, and its process with it: the next call has a fresh one", async () => {
  const time = handTurned();
  await using mcp = await makeMcpWorld({ powers: time.powers });
  const server = await mcp.server(EVAL_SERVER);
  for (const never of [HANG, SPIN]) {
    equal(await mcp.run(server, "globalThis.token = undefined; globalThis.n = 1; return n"), "1");
    const [pid = 0] = mcp.servers.osPids(TASK);
    const begun = Promise.withResolvers<void>();
    const code =
      `say({ method: "notifications/progress", params: { progressToken: token, progress: 1 } }); ${never}`;
    const hanging = rejects(
      mcp.run(server, code, { onProgress: () => begun.resolve() }),
      fault("timedOut", /20 s.*starts it anew/),
    );
    await begun.promise;
    time.pass(20_000);
    await hanging;
    equal(runs(pid), false, "what spins is not left to spin");
    equal(await mcp.run(server, "return typeof n"), "undefined");
  }
});

test("the clock of a call stands still while its process is stopped", async () => {
  const time = handTurned();
  await using mcp = await makeMcpWorld({ powers: time.powers });
  const server = await mcp.server(EVAL_SERVER), alice = mcp.under().pid;
  equal(await mcp.run(server, "return 1"), "1");
  const slow = mcp.run(
    server,
    "globalThis.go = undefined; return await new Promise((r) => { go = r })",
  );
  equal(await mcp.run(server, "return typeof go"), "function");
  mcp.servers.freeze(alice);
  // A run that is under way hears of it a moment later.
  await mcp.servers.hold(TASK, server).words(mcp.under({ pid: Pid.parse(9) }));
  time.pass(60_000);
  mcp.servers.thaw(alice);
  equal(await mcp.run(server, "go('late'); return 1"), "1");
  equal(await slow, "late");
});

test("the clock of a call stands still while a person is asked on its behalf", async () => {
  const time = handTurned();
  const asked = Promise.withResolvers<McpPlace>(), answered = Promise.withResolvers<McpElicited>();
  await using mcp = await makeMcpWorld({
    powers: time.powers,
    serve: {
      elicit(at): Promise<McpElicited> {
        asked.resolve(at);
        return answered.promise;
      },
    },
  });
  const server = await mcp.server(EVAL_SERVER, { elicitation: true });
  const schema = '{ type: "object", properties: { name: { type: "string" } } }';
  const ask =
    `say({ id: "e1", method: "elicitation/create", params: { message: "Who?", requestedSchema: ${schema} } });
    return await new Promise((resolve) => { globalThis.heard = resolve })`;
  const call = mcp.run(server, ask, { callId: "k-asks" });
  equal((await asked.promise).callId, "k-asks");
  time.pass(60_000);
  answered.resolve({ action: "accept", content: '{"name":"carol"}' });
  match(await call, /"action":"accept".*carol/);
});

test("progress begins a call's time anew, and not for ever", async () => {
  const time = handTurned();
  await using mcp = await makeMcpWorld({ powers: time.powers });
  const server = await mcp.server(EVAL_SERVER), heard: string[] = [];
  const ask = (body: JsonObject, onProgress: (text: string) => void): Promise<unknown> =>
    mcp.servers.hold(TASK, server).ask("call", body, mcp.under({ onProgress }));
  const told = (n: number): Promise<void> => until(() => heard.length >= n);
  const code =
    `globalThis.step = (progress) => say({ method: "notifications/progress", params: { progressToken: token, progress, message: "at " + progress } });
    step(1); await new Promise(() => setInterval(() => {}, 1000))`;
  const slow = rejects(
    ask({ tool: "eval", args: { code } }, (text) => heard.push(text)),
    fault("timedOut"),
  );
  await told(1);
  match(heard[0] ?? "", /^1 at 1$/);
  // 20 s, and four times as much at most.
  for (let n = 2; n < 5; n++) {
    time.pass(18_000);
    equal(await mcp.run(server, `step(${n}); return 1`), "1");
    await told(n);
  }
  time.pass(18_000);
  const last = mcp.run(server, "step(5); return 1");
  equal(await last, "1");
  await told(5);
  time.pass(8_000);
  await slow;
});

test("who cancels a call does not wait for it", async () => {
  await using mcp = await makeMcpWorld();
  const server = await mcp.server(EVAL_SERVER), stop = new AbortController();
  equal(await mcp.run(server, "return 1"), "1");
  const hanging = rejects(mcp.run(server, HANG, { signal: stop.signal }), fault("cancelled"));
  equal(await mcp.run(server, "return 2"), "2");
  stop.abort();
  await hanging;
  await rejects(mcp.run(server, "return 3", { signal: stop.signal }), fault("cancelled"));
});

test("a server that dies under a call is a fault for it, and is started again later each time", async () => {
  const time = handTurned();
  await using mcp = await makeMcpWorld({ powers: time.powers });
  const server = await mcp.server(EVAL_SERVER);
  const die = `console.error("mallory says bye"); Deno.exit(4)`;
  for (const seconds of [1, 2, 4]) {
    await rejects(mcp.run(server, die), fault("upstream", /exit code 4.*mallory says bye/s));
    await rejects(
      mcp.run(server, "return 1"),
      fault("unavailable", new RegExp(`started again in ${seconds} s.*exit code 4`, "s")),
    );
    time.pass(seconds * 1_000);
    equal(await mcp.run(server, "return 1"), "1");
  }
  time.pass(60_000);
  await rejects(mcp.run(server, die), fault("upstream"));
  await rejects(mcp.run(server, "return 1"), fault("unavailable", /in 1 s/));
});

test("a server that ends as soon as it is started is not started in a loop", async () => {
  await using mcp = await makeMcpWorld();
  const server = await mcp.server(`console.error("no key"); Deno.exit(7)`);
  await rejects(mcp.run(server, "return 1"), fault("upstream", /exit code 7.*no key/s));
  const tries = await Promise.allSettled(
    Array.from({ length: 20 }, () => mcp.run(server, "return 1")),
  );
  ok(tries.every((each) => each.status === "rejected" && fault("unavailable")(each.reason)));
  equal(
    mcp.noted.filter(({ what }) => what === "ended").length <= 2,
    true,
    "no more than its two tries",
  );
});

test("a lease that is taken back ends the server in the middle of a walk, and the next has what is left", async () => {
  await using mcp = await makeMcpWorld();
  const { dir } = mcp;
  await Deno.mkdir(`${dir}/other`);
  await Deno.writeTextFile(`${dir}/other/b.md`, "beta");
  const grants = { read: [`${dir}/desk`, `${dir}/other`], write: [], net: [] };
  const server = await mcp.server(EVAL_SERVER, { grants });
  equal(await mcp.run(server, "return 1"), "1");
  const [pid = 0] = mcp.servers.osPids(TASK);
  const read = mcp.noted.length;
  const walk =
    `for (;;) { for (const { name } of Deno.readDirSync("${dir}/desk")) try { Deno.statSync("${dir}/desk/" + name); } catch { /* masked */ } await 0 }`;
  const walking = rejects(mcp.run(server, walk), fault("leaseRevoked", /taken back/));
  await until(() => mcp.noted.slice(read).some(({ body }) => body["value"] === `${dir}/desk`));
  mcp.leases.revoke(`hostile${dir}/desk`);
  await walking;
  await until(() => !runs(pid));
  match(
    await mcp.run(server, `return Deno.readTextFileSync("${dir}/desk/notes/a.md")`),
    /^!NotCapable/,
  );
  equal(await mcp.run(server, `return Deno.readTextFileSync("${dir}/other/b.md")`), "beta");
});

test("a lease that is taken back ends a server that holds a file open", async () => {
  await using mcp = await makeMcpWorld();
  const { dir } = mcp;
  const server = await mcp.server(EVAL_SERVER, {
    grants: { read: [], write: [`${dir}/desk`], net: [] },
  });
  const open =
    `globalThis.file = Deno.openSync("${dir}/desk/notes/a.md", { write: true }); return "open"`;
  equal(await mcp.run(server, open), "open");
  const [pid = 0] = mcp.servers.osPids(TASK);
  mcp.leases.revoke(`hostile${dir}/desk`);
  await until(() => !runs(pid));
  const after = `return String(globalThis.file)`;
  equal(await mcp.run(server, after), "undefined", "a fresh one, without the file");
  equal(await Deno.readTextFile(`${dir}/desk/notes/a.md`), "alpha\n");
});

test("a task whose lease on the server itself is taken back has it no more", async () => {
  await using mcp = await makeMcpWorld();
  const server = await mcp.server(EVAL_SERVER);
  equal(await mcp.run(server, "return 1"), "1");
  mcp.leases.revoke("hostile/call");
  await rejects(mcp.run(server, "return 1"), fault("leaseRevoked"));
});

test("the operator takes a server back everywhere, and hears in how many tasks it ran", async () => {
  await using mcp = await makeMcpWorld();
  const server = await mcp.server(EVAL_SERVER);
  const hanging = rejects(mcp.run(server, HANG), fault("leaseRevoked"));
  equal(await mcp.run(server, "return 1"), "1");
  equal(await mcp.servers.revoke("hostile"), 1);
  await hanging;
  equal(await mcp.servers.revoke("hostile"), 0);
});

test("a server that floods its output is slowed, not the kernel, and a call of it is cut", async () => {
  const time = handTurned();
  await using mcp = await makeMcpWorld({ powers: time.powers });
  const server = await mcp.server(EVAL_SERVER);
  equal(await mcp.run(server, "return 1"), "1");
  const [pid = 0] = mcp.servers.osPids(TASK);
  const before = Deno.memoryUsage().rss;
  const flood =
    `const line = new TextEncoder().encode("x".repeat(1000) + "\\n"); for (;;) Deno.stdout.writeSync(line)`;
  const flooding = rejects(mcp.run(server, flood), (error) => error instanceof Fault);
  await Promise.all([...Array(50)].map(() => tick()));
  time.pass(20_000);
  await flooding;
  time.pass(20_000);
  await until(() => !runs(pid));
  ok(Deno.memoryUsage().rss - before < 200_000_000);
});

test("a server that never reads its input is ended before what waits for it is too much", async () => {
  await using mcp = await makeMcpWorld();
  const server = await mcp.server(
    EVAL_SERVER.replace(
      `if (method !== "tools/call")`,
      `if (params?.name === "look") for (;;); if (method !== "tools/call")`,
    ),
  );
  equal(await mcp.run(server, "return 1"), "1");
  const big = "/*" + "x".repeat(4_000_000) + "*/";
  const stuck = mcp.run(server, "", { tool: "look" }).catch((error: unknown) => error);
  const more = Array.from(
    { length: 12 },
    () => mcp.run(server, big).catch((error: unknown) => error),
  );
  for (const end of await Promise.all([stuck, ...more])) {
    ok(fault("upstream", /does not read/)(end) || end instanceof Fault, String(end));
  }
});

test("a server that spins is killed with its bridge's patience, and leaves nothing", async () => {
  const time = handTurned();
  await using mcp = await makeMcpWorld({ powers: time.powers });
  const server = await mcp.server(EVAL_SERVER);
  equal(await mcp.run(server, "return 1"), "1");
  const spinning = rejects(mcp.run(server, SPIN), fault("timedOut"));
  await tick();
  time.pass(20_000);
  await spinning;
  const pids = mcp.servers.osPids(TASK);
  await mcp.servers.close(TASK);
  for (const pid of pids) equal(runs(pid), false);
});

/** Waits for what another process does. */
async function until(done: () => boolean): Promise<void> {
  await waitUntil("what another process does", () => done() || undefined);
}

function tick(): Promise<void> {
  // TIMER: what another process does gives no event.
  return new Promise((resolve) => setTimeout(resolve, 5));
}
