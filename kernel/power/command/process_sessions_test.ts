import assert from "node:assert/strict";
import { TaskId } from "../../../contracts/authority/mod.ts";
import { SESSIONS_EACH, type SessionStart } from "../../../contracts/tool/mod.ts";
import { ALICE, granted, TASK } from "../../_fixture/command_bench.ts";
import { BOB, owns } from "../../_fixture/session_bench.ts";
import { CAT, long, PYTHON, SH, test } from "../../_fixture/session_cases.ts";

const NEVER = new AbortController().signal;

test(
  "alice talks to a python that waits for her, and what it wrote is staged when she closes",
  async (
    { start, write, until, finish, content, world },
  ) => {
    const id = await start(PYTHON, ["-i", "-q"]);
    await until(id, />>> $/);
    await write(id, "x = 6 * 7\nprint('answer', x)\n");
    assert.match((await until(id, /answer 42/)).stdout, /^answer 42\n/);
    await write(
      id,
      "print(open('notes.txt').read() + '!', file=open('made.txt', 'w'), flush=True)\n",
    );
    await write(id, "print('done')\n");
    await until(id, /done/);
    const { state, exit, why, staged, colour, label } = await finish(id);
    assert.deepEqual({ state, exit, why, colour, label }, {
      ...{ state: "exited", exit: 137, why: "it was closed", colour: "YELLOW", label: "internal" },
    });
    assert.deepEqual(staged.map(({ path, colour }) => [path, colour]), [[
      "desk/made.txt",
      "YELLOW",
    ]]);
    assert.equal(await content(staged[0]?.next), "hello\n!\n");
    await assert.rejects(Deno.stat(`${world.dir}/desk/made.txt`), Deno.errors.NotFound);
  },
  { "notes.txt": "hello\n" },
);

test("input goes in as it is, its end ends cat, and each output comes once", async ({ start, write, until, sessions, finish }) => {
  const id = await start(CAT, []);
  await write(id, "one\n");
  assert.equal((await until(id, /one/)).stdout, "one\n");
  const again = await sessions.poll(
    owns(ALICE),
    id,
    { waitMs: 0, bytes: 1_000, newest: false },
    NEVER,
  );
  assert.deepEqual([again.stdout, again.state, again.more], ["", "running", false]);
  await write(id, "zwei ä漢\n", true);
  const last = await until(id, /never/);
  assert.deepEqual([last.stdout, last.state, last.exit], ["zwei ä漢\n", "exited", 0]);
  await assert.rejects(write(id, "more"), { code: "gone" });
  const { exit, staged } = await finish(id);
  assert.deepEqual([exit, staged], [0, []]);
  await assert.rejects(write(id, "more"), { code: "gone" });
});

test("input after its end is refused while the program runs", async ({ start, write, until }) => {
  const id = await start(SH, ["-c", `cat; echo over; sleep ${long(0)}`]);
  await write(id, "x\n", true);
  await until(id, /over/);
  await assert.rejects(write(id, "y\n"), { code: "conflict" });
});

test("a flood makes the program wait: all of it comes, in order; the newest can be asked for", async ({ start, until, sessions }) => {
  const count = 'i=0; while [ $i -lt 60000 ]; do echo "line $i"; i=$((i+1)); done';
  const id = await start(SH, ["-c", count]);
  const { stdout, state } = await until(id, /never/);
  const lines = stdout.trimEnd().split("\n");
  assert.deepEqual([state, lines.length, lines.at(-1)], ["exited", 60_000, "line 59999"]);
  assert.ok(lines.every((line, n) => line === `line ${n}`));

  const flood = await start("/usr/bin/yes", ["ä".repeat(99)]);
  const before = Deno.memoryUsage().rss;
  for (let n = 0; n < 5; n++) {
    await until(flood, /ä/);
    const newest = { waitMs: 500, bytes: 1_000, newest: true };
    const { stdout, dropped, more } = await sessions.poll(owns(ALICE), flood, newest, NEVER);
    assert.ok(dropped > 0 && stdout.length > 100 && stdout.length <= 1_000, `${dropped}`);
    assert.match(stdout, /^[ä\n]+$/);
    assert.ok(typeof more === "boolean");
  }
  assert.ok(Deno.memoryUsage().rss - before < 64 * 1024 * 1024);
});

test("a program that does not read is given no more than fits", async ({ start, write }) => {
  const id = await start("/bin/sleep", [long(5)]);
  const block = "x".repeat(65_536);
  await assert.rejects(async () => {
    for (let n = 0; n < 32; n++) await write(id, block);
  }, { code: "tooLarge" });
});

test("a session is its process's own: guessed, of another process, of another task, it is unknown", async ({ start, sessions, finish }) => {
  const id = await start(CAT, []);
  assert.match(id, /^s[0-9a-f]{32}$/);
  const other = TaskId.parse("t111111111111");
  const guess = `s${"0".repeat(32)}`;
  const taint = { colour: "RED", label: "secret" } as const;
  const tries = [
    [owns(ALICE), guess],
    [owns(ALICE), ""],
    [owns(ALICE), "__proto__"],
    [owns(BOB), id],
    [owns(ALICE, other), id],
  ] as const;
  for (const [owner, named] of tries) {
    const wanted = { code: "notFound" };
    assert.throws(() => sessions.look(owner, named), wanted);
    const poll = { waitMs: 0, bytes: 100, newest: false };
    await assert.rejects(sessions.poll(owner, named, poll, NEVER), wanted);
    await assert.rejects(
      sessions.write(owner, named, { ...taint, text: "x", end: true }),
      wanted,
    );
    await assert.rejects(sessions.signal(owner, named, { ...taint, signal: "KILL" }), wanted);
    await assert.rejects(sessions.finish(owner, named, { bytes: 100 }, NEVER), wanted);
  }
  // Nothing of what they sent has come through, nor coloured anything.
  const facts = sessions.look(owns(ALICE), id);
  assert.deepEqual([facts.colour, facts.label, facts.terminal], ["YELLOW", "internal", false]);
  assert.deepEqual((await finish(id)).state, "exited");
});

test("two sessions at once on one mount have a copy each; the second to close is told of conflicts", async ({ start, until, finish, overlay, content }) => {
  const [first, second] = await Promise.all(
    [1, 2].map((n) =>
      start(SH, ["-c", `echo ${n} > both; echo ${n} > only${n}; cat other 2>&1; echo up`])
    ),
  );
  assert.ok(first !== undefined && second !== undefined);
  await until(first, /up/);
  await until(second, /up/);
  const won = await finish(first);
  assert.deepEqual(won.staged.map(({ path }) => path).sort(), ["desk/both", "desk/only1"]);
  const lost = await finish(second);
  assert.deepEqual(lost.staged.map(({ path }) => path), ["desk/only2"]);
  assert.match(lost.left.join("\n"), /desk\/both: it was staged by another call meanwhile/);
  assert.equal(await content(overlay.find(({ path }) => path === "desk/both")?.next), "1\n");
  // A third sees what is staged by then.
  const third = await start(CAT, ["both", "only1", "only2"]);
  assert.equal((await until(third, /never/)).stdout, "1\n1\n2\n");
});

test("colour and label of whoever writes to a program are its output's, and its files', from then on", async ({ start, write, until, sessions, finish }) => {
  const id = await start(SH, ["-c", "read line; echo $line | tee made"]);
  const before = sessions.look(owns(ALICE), id);
  assert.deepEqual([before.colour, before.label], ["YELLOW", "internal"]);
  await sessions.write(owns(ALICE), id, {
    ...{ text: "from the web\n", end: false, colour: "RED", label: "secret" },
  });
  const { stdout, colour, label } = await until(id, /never/);
  assert.deepEqual([stdout, colour, label], ["from the web\n", "RED", "secret"]);
  const { staged } = await finish(id);
  assert.deepEqual(staged.map((each) => [each.colour, each.label]), [["RED", "secret"]]);
  await assert.rejects(write(id, "x"), { code: "gone" });
});

test("what was not granted is not started: sessions, a terminal, another program, too many", async ({ start, sessions, finish }) => {
  const command = await granted(CAT);
  const refused = { code: "refused" };
  await assert.rejects(start(CAT, [], { command }), refused);
  const plain = { ...command, session: { ms: 1_000, pty: false } };
  await assert.rejects(
    start(CAT, [], { command: plain, terminal: { rows: 5, columns: 5 } }),
    refused,
  );
  await assert.rejects(start(CAT, [], { command: plain, sha256: "0".repeat(64) }), refused);
  const scopes: SessionStart["scopes"] = [{ resource: "mount", right: "read", path: "vault" }];
  await assert.rejects(start(CAT, [], { scopes }), refused);
  const aborted = sessions.start({
    ...{ task: TASK, pid: ALICE, command: plain, sha256: plain.sha256, args: [], cwd: "desk" },
    ...{ mounts: ["desk"], env: {}, lifeMs: 1_000, colour: "BLUE", label: "public", scopes: [] },
  }, AbortSignal.abort());
  await assert.rejects(aborted, { code: "cancelled" });
  const ids = await Promise.all(Array.from({ length: SESSIONS_EACH }, () => start(CAT, [])));
  assert.equal(new Set(ids).size, SESSIONS_EACH);
  await assert.rejects(start(CAT, []), { code: "rateLimited" });
  const bobs = await start(CAT, [], { pid: BOB });
  await finish(ids[0] ?? "");
  await start(CAT, []);
  await assert.rejects(start(CAT, []), { code: "rateLimited" });
  await finish(bobs, owns(BOB));
  await assert.rejects(start(CAT, [], { cwd: "desk/none" }), { code: "rateLimited" });
});

test("a start that fails leaves nothing, and takes no place", async ({ start, sessions }) => {
  for (let n = 0; n < SESSIONS_EACH + 1; n++) {
    await assert.rejects(start(CAT, [], { cwd: "desk/none" }), { code: "notFound" });
  }
  assert.deepEqual(sessions.osPids(TASK), []);
  await start(CAT, []);
});

test("cancelled while it waits, a poll leaves the session as it is", async ({ start, sessions, write, until }) => {
  const id = await start(CAT, []);
  const abort = new AbortController();
  const poll = { waitMs: 60_000, bytes: 100, newest: false };
  const waiting = sessions.poll(owns(ALICE), id, poll, abort.signal);
  abort.abort();
  await assert.rejects(waiting, { code: "cancelled" });
  await write(id, "still here\n");
  assert.equal((await until(id, /here/)).stdout, "still here\n");
});
