/** However a process session ends, its program and all that it began end with it. */
import assert from "node:assert/strict";
import { SESSION_IDLE_MS, SESSION_SIGNALS } from "../../../contracts/tool/mod.ts";
import { ALICE, TASK } from "../../_fixture/command_bench.ts";
import { BOB, eventually, owns, processesWith } from "../../_fixture/session_bench.ts";
import { CAT, FLIGHT, long, PYTHON, SH, test } from "../../_fixture/session_cases.ts";

const NEVER = new AbortController().signal;

test("a server that never ends is ended with its close; its time ends it, too, and closing stages", async ({ start, until, finish, timers, sessions }) => {
  const serve = `echo up; echo x > served; while :; do sleep ${long(1)}; done`;
  const first = await start(SH, ["-c", serve], { lifeMs: 3_333_333 });
  await until(first, /up/);
  assert.equal(processesWith(long(1)).length, 1);
  timers.fire(3_333_333);
  const { state, exit, why } = await until(first, /never/);
  assert.deepEqual([state, exit, why], ["exited", 137, "its time was up (3333333 ms)"]);
  assert.deepEqual(processesWith(long(1)), []);
  assert.deepEqual((await finish(first)).staged.map(({ path }) => path), ["desk/served"]);
  const second = await start(SH, ["-c", serve]);
  await until(second, /up/);
  assert.equal(sessions.osPids(TASK).length, 2);
  await finish(second);
  assert.deepEqual(processesWith(long(1)), []);
});

test("what mallory sends to the background is gone after the close, the end of the program, the task", async ({ start, until, finish, sessions }) => {
  const closed = await start(SH, ["-c", `${FLIGHT(2)}; sleep ${long(2)}`]);
  await until(closed, /away/);
  assert.ok(processesWith(long(2)).length >= 2);
  await finish(closed);
  assert.deepEqual(processesWith(long(2)), []);

  const left = await start(SH, ["-c", FLIGHT(3)]);
  assert.equal((await until(left, /never/)).state, "exited");
  assert.deepEqual(processesWith(long(3)), []);

  const ended = await start(SH, ["-c", `${FLIGHT(4)}; sleep ${long(4)}`], {
    terminal: { rows: 5, columns: 40 },
  });
  await until(ended, /away/);
  assert.ok(processesWith(long(4)).length >= 2);
  await sessions.close(TASK);
  // Its room and bubblewrap's first process are gone by now; the others follow by themselves.
  await eventually(() => processesWith(long(4)).length === 0);
});

test("each signal of the set arrives, and at the whole group; KILL ends all", async ({ start, until, sessions }) => {
  const traps = SESSION_SIGNALS.filter((name) => name !== "KILL")
    .map((name) => `trap 'echo got ${name}' ${name}`).join("; ");
  const id = await start(SH, ["-c", `${traps}; echo ready; while :; do sleep 0.01; done`]);
  await until(id, /ready/);
  const taint = { colour: "BLUE", label: "public" } as const;
  for (const signal of SESSION_SIGNALS) {
    await sessions.signal(owns(ALICE), id, { ...taint, signal });
    if (signal !== "KILL") await until(id, new RegExp(`got ${signal}`));
  }
  const { state, exit, why } = await until(id, /never/);
  assert.deepEqual([state, exit, why], ["exited", 137, "it was sent KILL"]);
  await assert.rejects(sessions.signal(owns(ALICE), id, { ...taint, signal: "INT" }), {
    code: "gone",
  });

  const group = await start(SH, ["-c", `echo ready; sh -c 'sleep ${long(6)}; echo no'; echo no`]);
  await until(group, /ready/);
  await eventually(() => processesWith(long(6)).length === 1);
  await sessions.signal(owns(ALICE), group, { ...taint, signal: "TERM" });
  const ended = await until(group, /never/);
  assert.deepEqual([ended.state, ended.exit, ended.stdout], ["exited", 143, ""]);
});

test("a program's own children are all of its children: nothing of Remit's is waited for", async ({ start, until }) => {
  const code = "import os\nif os.fork()==0: os._exit(3)\nos.wait()\n" +
    "try: os.wait()\nexcept ChildProcessError: print('python has no other child')\n";
  for (const terminal of [undefined, { rows: 5, columns: 80 }]) {
    const id = await start(PYTHON, ["-c", code], terminal === undefined ? {} : { terminal });
    assert.match((await until(id, /never/)).stdout, /^python has no other child\n$/);
  }
});

test("a lease that is taken back ends the session there and then; nothing of it is staged", async ({ start, until, revoke, sessions, finish }) => {
  const id = await start(SH, ["-c", `echo x > made; echo up; sleep ${long(8)}`]);
  await until(id, /up/);
  const poll = { waitMs: 30_000, bytes: 100, newest: false };
  const waiting = sessions.poll(owns(ALICE), id, poll, NEVER);
  revoke();
  await assert.rejects(waiting, { code: "leaseRevoked" });
  await eventually(() => processesWith(long(8)).length === 0);
  await assert.rejects(finish(id), { code: "leaseRevoked", message: /nothing of it was staged/ });
  assert.throws(() => sessions.look(owns(ALICE), id), { code: "leaseRevoked" });
  assert.throws(() => sessions.look(owns(BOB), id), { code: "notFound" });
});

test("a process that ends takes its sessions with it, and no other's", async ({ start, until, end, sessions }) => {
  const alices = await start(SH, ["-c", `echo up; sleep ${long(9)}`]);
  const bobs = await start(SH, ["-c", `echo up; cat; sleep ${long(9)}0`], { pid: BOB });
  await until(alices, /up/);
  await until(bobs, /up/, owns(BOB));
  end(ALICE);
  await eventually(() => processesWith(long(9)).length === 0);
  assert.throws(() => sessions.look(owns(ALICE), alices), { code: "gone" });
  assert.equal(sessions.look(owns(BOB), bobs).terminal, false);
});

test("a session that nobody uses is dropped, and its changes; using it begins its time anew", async ({ start, until, write, timers, sessions, finish }) => {
  const id = await start(SH, ["-c", `echo x > made; echo up; cat; sleep ${long(10)}`]);
  await until(id, /up/);
  await write(id, "x\n");
  assert.equal(timers.waiting(SESSION_IDLE_MS), 1);
  timers.fire(SESSION_IDLE_MS);
  assert.throws(() => sessions.look(owns(ALICE), id), { code: "timedOut", message: /900000 ms/ });
  await assert.rejects(finish(id), { code: "timedOut", message: /nothing of it was staged/ });
});

test("a stopped process's clocks stand still, those of its sessions, too", async ({ start, timers, sessions }) => {
  const lifeMs = 4_444_444;
  await start(CAT, [], { lifeMs });
  await start(CAT, [], { lifeMs, pid: BOB });
  sessions.freeze(ALICE);
  assert.deepEqual([timers.waiting(lifeMs), timers.waiting(SESSION_IDLE_MS)], [1, 1]);
  await start(CAT, [], { lifeMs });
  assert.equal(timers.waiting(lifeMs), 1);
  sessions.thaw(BOB);
  sessions.thaw(ALICE);
  // What was left of them runs on: less than the whole.
  const left = [...Array(5_000).keys()].map((ms) => timers.waiting(lifeMs - ms));
  assert.equal(left.reduce((sum, each) => sum + each, 0), 3);
});

test("a session that fills the disk is ended, and says why", async ({ start, sessions, finish }) => {
  const fill = "i=0; while :; do head -c 200000000 /dev/zero > f$i || exit; i=$((i+1)); done";
  const id = await start(SH, ["-c", fill]);
  const poll = { waitMs: 60_000, bytes: 100, newest: false };
  await assert.rejects(sessions.poll(owns(ALICE), id, poll, NEVER), { code: "tooLarge" });
  await assert.rejects(finish(id), { code: "tooLarge" });
});

test(
  "a plain user's programs go on, have a terminal, take signals and end just so",
  async (
    { start, write, until, sessions, finish },
  ) => {
    const plain = await start(SH, [
      "-c",
      `trap 'echo got' USR1; echo up > made; ${FLIGHT(11)}; cat`,
    ]);
    await until(plain, /away/);
    await sessions.signal(owns(ALICE), plain, { signal: "USR1", colour: "BLUE", label: "public" });
    await write(plain, "words\n");
    await until(plain, /words/);
    assert.deepEqual((await finish(plain)).staged.map(({ path }) => path), ["desk/made"]);
    assert.deepEqual(processesWith(long(11)), []);
    const terminal = { rows: 7, columns: 70 };
    const pty = await start(SH, ["-c", "stty size; tty > /dev/null && echo yes"], { terminal });
    const { stdout, exit } = await until(pty, /never/);
    assert.deepEqual([stdout, exit], ["7 70\nyes\n", 0]);
  },
  {},
  "own",
);
