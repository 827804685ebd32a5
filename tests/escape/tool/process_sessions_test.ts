/** Programs that go on after a call, in a whole kernel: through the gate, past crashes, to their end. */
import assert from "node:assert/strict";
import { findCommands } from "../../../launch/program/command_programs_powers.ts";
import { NO_POLICY } from "../../../contracts/policy/mod.ts";
import { CommandClass } from "../../../contracts/tool/mod.ts";
import type { KernelConfig } from "../../../contracts/wire/mod.ts";
import { processesNaming } from "../../fake/processes.ts";
import { besiege } from "../../fake/siege.ts";
import { waitUntil } from "../../fake/wait_until.ts";
import { needs } from "../../needs.ts";
import { type Came, cameOf } from "../_calls.ts";

/** Seconds of a sleep that no other process of this machine sleeps. */
const LONG = `3300.${Deno.pid}`;

function granting(rules: KernelConfig["policy"]["rules"] = []): Partial<KernelConfig> {
  const classes = {
    sh: { program: "/bin/sh", session: true },
    cat: { program: "/bin/cat", pty: true },
    env: { program: "/usr/bin/env" },
  };
  const { commands } = findCommands(
    Object.fromEntries(
      Object.entries(classes).map(([name, each]) => [name, CommandClass.parse(each)]),
    ),
    "",
  );
  return { commands, policy: { ...NO_POLICY, rules } };
}

/**
 * A program that makes calls; in their arguments `$0` is the session of the first start, and so on. A poll that is
 * `"over"` is made until the program has ended, and gives all that was read.
 */
function talking(
  calls: readonly (readonly [string, Readonly<Record<string, unknown>>, "over"?])[],
  more = "",
): string {
  return `({ async turn(ports) {
    const told = [], sessions = [];
    let n = 0;
    for (const [tool, args, over] of ${JSON.stringify(calls)}) {
      const { id } = await ports.advertise();
      const text = JSON.stringify(args).replace(/\\$(\\d)/g, (_, at) => sessions[at]);
      const once = () => ports.call(id, { id: "try-" + n++, name: tool, arguments: text })
        .catch((e) => ({ outcome: e.code, content: e.message }));
      let came = await once();
      while (over && came.content?.endsWith("[running]\\n")) {
        const before = came.content.slice(0, -"[running]\\n".length);
        came = await once();
        came = { ...came, content: before + came.content };
      }
      const session = /session (s[0-9a-f]{32}) /.exec(came.content ?? "")?.[1];
      if (session !== undefined && tool === "process_start") sessions.push(session);
      told.push(came);
    }
    ${more}
    return { stop: "answered", text: JSON.stringify(told) };
  } })`;
}

const poll = { waitMs: 10_000, session: "$0" };

Deno.test({
  name:
    "alice's agent starts, writes, polls, signals and closes; what changed waits for her review",
  ignore: !needs("bwrap"),
  async fn(): Promise<void> {
    await besiege(async (siege) => {
      const program = talking([
        ["process_start", {
          ...{ program: "sh", cwd: "desk" },
          args: [
            "-c",
            "trap 'echo bye; exit 9' TERM; cat > made; echo fed; while :; do sleep 0.01; done",
          ],
        }],
        ["process_write", { session: "$0", text: "words\n", end: true }],
        ["process_poll", poll],
        ["process_signal", { session: "$0", signal: "TERM" }],
        ["process_poll", poll, "over"],
        ["process_write", { session: "$0", text: "more" }],
        ["process_close", { session: "$0" }],
        ["process_poll", poll],
        ["file_read", { path: "desk/made" }],
      ]);
      const alice = await siege.run({ program, onQuestion: "ask", limits: { toolCalls: 100 } });
      const { body } = await alice.first(({ event }) => event === "questionAsked");
      await siege.answer(String(body["question"]), "deny");
      const came = await cameOf(alice);
      const [start, write, fed, signal, bye, late, closed, after, read] = came;
      const told = JSON.stringify(came, undefined, 1);
      assert.deepEqual(
        [start, write, fed, signal, bye, closed, read].map((one) => one?.outcome),
        Array(7).fill("ok"),
        told,
      );
      assert.equal(fed?.content, "fed\n[running]\n");
      // The shell may tell how its own child ended, too.
      assert.match(bye?.content ?? "", /^bye\n(\[stderr\]\nTerminated\n)?\[exited 9\]\n$/);
      assert.match(late?.error ?? "", /exited \(9\)/, told);
      assert.match(closed?.content ?? "", /^\[exited 9\]\n\[staged; [^\n]*\]\nnew desk\/made\n/);
      assert.match(after?.error ?? "", /closed/, told);
      assert.match(read?.content ?? "", /words/);
      for (const one of [fed, bye, closed]) assert.equal(one?.colour, "YELLOW");
      await assert.rejects(Deno.stat(`${siege.desk}/made`), Deno.errors.NotFound);
    }, { config: granting() });
  },
});

Deno.test({
  name: "mallory's agent is refused what was not granted, each with what to ask for",
  ignore: !needs("bwrap"),
  async fn(): Promise<void> {
    await besiege(async (siege) => {
      const program = talking([
        ["process_start", { program: "env", cwd: "desk" }],
        ["process_start", { program: "sh", cwd: "desk", pty: true }],
        ["process_start", { program: "grep", cwd: "desk" }],
        ["process_start", { program: "/bin/sh", cwd: "desk" }],
        ["process_start", { program: "cat", cwd: "desk", rows: 5 }],
        ["process_start", { program: "cat", cwd: "../etc" }],
        ["process_poll", { session: `s${"0".repeat(32)}` }],
        ["process_signal", { session: "x", signal: "STOP" }],
        ["process_signal", { session: "x", signal: "9; id" }],
      ]);
      const mallory = await siege.run({ program, onQuestion: "ask", limits: { toolCalls: 100 } });
      const came = await cameOf(mallory);
      const says = [
        /commands: env: session: true/,
        /commands: sh: pty: true/,
        /sandbox has no session; run it with command/,
        /there are sh, cat/,
        /set pty/,
        /cannot|Cannot/,
        /none of that name/,
        /signal/,
        /signal/,
      ];
      for (const [at, pattern] of says.entries()) {
        const told = JSON.stringify(came[at]);
        assert.notEqual(came[at]?.outcome, "ok", told);
        assert.match(came[at]?.error ?? "", pattern, told);
      }
    }, { config: granting() });
  },
});

Deno.test({
  name: "without a class that may go on nobody is told of sessions",
  ignore: !needs("bwrap"),
  async fn(): Promise<void> {
    const { commands = [], policy } = granting();
    const none = commands.filter(({ session }) => session === undefined);
    await besiege(async (siege) => {
      const program = talking([["process_start", { program: "env", cwd: "desk" }]]);
      const [came] = await cameOf(await siege.run({ program, limits: { toolCalls: 100 } }));
      assert.equal(came?.outcome, "unknownTool", JSON.stringify(came));
    }, { config: { commands: none, ...(policy === undefined ? {} : { policy }) } });
  },
});

const BACKGROUND =
  `(setsid sh -c 'trap "" TERM HUP; sleep ${LONG}; sleep ${LONG}' &); echo up; sleep ${LONG}`;

Deno.test({
  name: "a task that ends leaves no process of its sessions, wherever they went",
  ignore: !needs("bwrap"),
  async fn(): Promise<void> {
    await besiege(async (siege) => {
      const program = talking([
        ["process_start", { program: "sh", cwd: "desk", args: ["-c", BACKGROUND] }],
        ["process_poll", poll],
      ]);
      const alice = await siege.run({ program, limits: { toolCalls: 100 } });
      const came = await cameOf(alice);
      assert.match(came[1]?.content ?? "", /^up\n/, JSON.stringify(came));
      await waitUntil(
        "the end of its processes",
        async () => (await processesNaming(LONG)).length === 0 || undefined,
      );
    }, { config: granting() });
  },
});

Deno.test({
  name:
    "a kernel that is killed takes its sessions with it; the next one does not know them, and says so",
  ignore: !needs("bwrap"),
  async fn(): Promise<void> {
    await besiege(async (siege) => {
      const program = talking([
        ["process_start", { program: "sh", cwd: "desk", args: ["-c", BACKGROUND] }],
        ["process_poll", poll],
      ], "await new Promise(() => {});");
      await siege.run({ program, limits: { toolCalls: 100 } });
      await waitUntil(
        "its processes",
        async () => (await processesNaming(`sleep ${LONG}`)).length > 2 || undefined,
      );
      await siege.restart();
      await waitUntil(
        "the end of its processes",
        async () => (await processesNaming(LONG)).length === 0 || undefined,
      );
      const again = talking([["process_poll", { session: `s${"a".repeat(32)}` }]]);
      const [came] = await cameOf(await siege.run({ program: again, limits: { toolCalls: 100 } }));
      assert.match(came?.error ?? "", /ends with it and with Remit/, JSON.stringify(came));
    }, { config: granting() });
  },
});

Deno.test({
  name: "carol is asked about a start with its exact words, and about what is written to it",
  ignore: !needs("bwrap"),
  async fn(): Promise<void> {
    const rules: KernelConfig["policy"]["rules"] = [
      { tool: ["process_start", "process_write"], mode: "consent", at: "remit.yaml:1" },
    ];
    await besiege(async (siege) => {
      const program = talking([
        ["process_start", { program: "cat", cwd: "desk", args: ["-", "a b"], pty: true }],
        ["process_write", { session: "$0", text: "hi\u0003" }],
        ["process_close", { session: "$0" }],
      ]);
      const alice = await siege.run({ program, onQuestion: "ask", limits: { toolCalls: 100 } });
      const summaries: string[] = [];
      const seen = new Set<string>();
      while (summaries.length < 2) {
        const { body } = await alice.first(({ event, body }) =>
          event === "questionAsked" && !seen.has(String(body["question"]))
        );
        const question = String(body["question"]);
        seen.add(question);
        summaries.push((await siege.question(question)).summary);
        await siege.answer(question, "allow");
      }
      const came: readonly Came[] = await cameOf(alice);
      assert.deepEqual(came.map(({ outcome }) => outcome), ["ok", "ok", "ok"]);
      assert.match(
        summaries[0] ?? "",
        /^start with a terminal, to go on after the call: run in "desk": "\/[a-z/]+cat" "-" "a b" \(sha256 /,
      );
      assert.match(
        summaries[1] ?? "",
        /^write "hi\\u0003" to session s[0-9a-f]{8}…: "\/[a-z/]+cat"/,
      );
    }, { config: granting(rules) });
  },
});
