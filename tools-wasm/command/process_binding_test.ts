import assert from "node:assert/strict";
import type { GrantedCommand } from "../../contracts/tool/command.ts";
import { Fault } from "../../contracts/base/fault.ts";
import { CallId, Digest, Pid, TaskId } from "../../contracts/authority/ids.ts";
import type { JsonObject } from "../../contracts/base/json.ts";
import type { PowerResult, Resolved } from "../../contracts/task/power.ts";
import type { ProcessRow } from "../../contracts/task/process.ts";
import type { ProcessSessions, SessionStart } from "../../contracts/tool/process_session.ts";
import { bindProcesses } from "./process_binding.ts";
import { PROCESS_TOOL_NAMES, processDescriptors } from "./process_descriptors.ts";

const SHA = Digest.parse("ab".repeat(32));
const class_ = (name: string, session?: GrantedCommand["session"]): GrantedCommand => ({
  ...{ name, program: `/usr/bin/${name}`, sha256: SHA, args: ["-i", "x"], env: ["TZ"] },
  ...{ timeoutMs: 5_000, mounts: "cwd" },
  ...(session === undefined ? {} : { session }),
});
const CLASSES = [
  class_("plain"),
  class_("long", { ms: 60_000, pty: false }),
  class_("screen", { ms: 60_000, pty: true }),
];
const PID = Pid.parse(2), TASK = TaskId.parse("t000000000000");
const caller = {
  ...{ task: TASK, pid: PID, colour: "YELLOW", label: "internal" },
  mounts: [{ name: "desk" }],
} as unknown as ProcessRow;
const scopes = [{ resource: "mount", right: "read", path: "desk" }] as const;

function bench(): {
  readonly starts: readonly SessionStart[];
  readonly asked: readonly unknown[];
  readonly folded: readonly JsonObject[];
  resolve(tool: string, args: JsonObject): Resolved;
  call(tool: string, args: JsonObject): Promise<PowerResult>;
} {
  const starts: SessionStart[] = [], asked: unknown[] = [], folded: JsonObject[] = [];
  const red = { colour: "RED", label: "secret" } as const;
  const sessions: ProcessSessions = {
    start(run) {
      starts.push(run);
      return Promise.resolve({ id: "sone", ...red });
    },
    look(owner, id) {
      if (id !== "sone" || owner.pid !== PID || owner.task !== TASK) {
        throw new Fault("notFound", "no");
      }
      return {
        ...{ command: class_("long"), args: ["-i", "a b"], cwd: "desk", scopes, ...red },
        terminal: false,
      };
    },
    poll(_owner, id, options) {
      asked.push([id, options]);
      return Promise.resolve({
        ...{ state: "running", stdout: "out\n", stderr: "err", more: true, dropped: 3, ...red },
      });
    },
    write(_owner, id, input) {
      asked.push([id, input]);
      return Promise.resolve({ state: "running", unread: 7 });
    },
    signal(_owner, id, sent) {
      asked.push([id, sent]);
      return Promise.resolve({ state: "exited", exit: 137, why: "it was sent KILL" });
    },
    finish(_owner, id, options) {
      asked.push([id, options]);
      const change = { path: "desk/a", bytes: 1, ...red };
      return Promise.resolve({
        ...{ state: "exited", exit: 2, stdout: "bye\n", stderr: "", more: false, dropped: 0 },
        ...{ staged: [change], unstaged: [], left: ["desk/l: a link"], withheld: 0, ...red },
        writtenBytes: 1,
      });
    },
  };
  const bound = new Map(
    bindProcesses({
      ...{ classes: CLASSES, redeem: () => undefined, processOf: () => caller, sessions },
      readScope: (path) => ({ resource: "mount", right: "read", path }),
      fold: (record) => folded.push(record),
    }).map((binding) => [String(binding.descriptor.name), binding]),
  );
  const of = (tool: string) => {
    const binding = bound.get(tool);
    if (binding === undefined) throw new TypeError(`no ${tool}`);
    return binding;
  };
  return {
    ...{ starts, asked, folded },
    resolve: (tool, args) => of(tool).resolve(args, caller),
    async call(tool, args) {
      const binding = of(tool);
      const granted = {
        ...{ task: TASK, pid: PID, tool: binding.descriptor.name, callId: CallId.parse("c1") },
        ...{ args, resolved: binding.resolve(args, caller), token: "t", idempotencyKey: SHA },
        ...{ deadlineMs: 1_000, resultBytes: 1_000 },
      };
      const result = await binding.invoke(granted, new AbortController().signal);
      binding.committed?.(granted, result);
      return result;
    },
  };
}

Deno.test("models are told of sessions where a class has them, of its limits and its terminal", () => {
  assert.deepEqual(processDescriptors([class_("plain")]), []);
  assert.deepEqual(bindProcesses({ classes: [] } as never), []);
  const all = processDescriptors(CLASSES);
  assert.deepEqual(all.map(({ name }) => String(name)), PROCESS_TOOL_NAMES);
  assert.deepEqual(all.map(({ category }) => category), [
    ...["stage", "read", "stage", "stage", "stage"],
  ]);
  const [start] = all;
  assert.match(
    start?.description ?? "",
    /Programs: long \(first argument: -i, x\) \(env: TZ\); screen .* \(pty\)\.$/,
  );
  for (const { paramSchema } of all) assert.equal(JSON.parse(paramSchema).type, "object");
});

Deno.test("a start is a command's: effect, scopes, digest, words; and says that it goes on", async () => {
  const { resolve, call, starts } = bench();
  const args = { program: "screen", args: ["-i", "a b"], pty: true, columns: 100 };
  const resolved = resolve("process_start", args);
  assert.deepEqual(resolved.scopes, [
    { resource: "command", right: "use", path: "screen" },
    { resource: "mount", right: "read", path: "desk" },
  ]);
  assert.deepEqual([resolved.effect, resolved.digests], ["stage", { program: SHA }]);
  assert.equal(
    resolved.summary,
    'start with a terminal, to go on after the call: run in "desk": "/usr/bin/screen" "-i" "a b" ' +
      "(sha256 abababababababab…)",
  );
  const result = await call("process_start", { ...args, timeoutMs: 99_000_000 });
  assert.deepEqual([result.value, result.colour, result.label], [
    { session: "sone" },
    "RED",
    "secret",
  ]);
  const [run] = starts;
  assert.deepEqual([run?.terminal, run?.lifeMs, run?.sha256, run?.colour, run?.mounts], [
    ...[{ rows: 24, columns: 100 }, 60_000, SHA, "YELLOW", ["desk"]],
  ]);
});

Deno.test("what was not granted is refused before anybody is asked, with what to ask for", () => {
  const { resolve } = bench();
  const tries: readonly (readonly [JsonObject, string, RegExp])[] = [
    [{ program: "plain", args: ["x"] }, "refused", /commands: plain: session: true/],
    [{ program: "long", args: ["x"], pty: true }, "refused", /commands: long: pty: true/],
    [{ program: "long", args: ["y"] }, "refused", /first argument/],
    [{ program: "long", args: ["x"], env: { PATH: "x" } }, "refused", /env/],
    [{ program: "long", args: ["x"], rows: 9 }, "invalidArguments", /set pty/],
    [{ program: "grep" }, "invalidArguments", /sandbox has no session/],
    [{ program: "sh" }, "invalidArguments", /there are long, screen/],
    [{ program: "constructor" }, "invalidArguments", /there are/],
  ];
  for (const [args, code, message] of tries) {
    assert.throws(() => resolve("process_start", args), { code, message }, JSON.stringify(args));
  }
});

Deno.test("the others act on what the start was granted; reading is a read, the rest stages", () => {
  const { resolve } = bench();
  const session = { session: "sone" };
  const summaries = {
    process_poll: [session, "read", "read session"],
    process_write: [{ ...session, text: "a\u001b[2J", end: true }, "stage", "write"],
    process_signal: [{ ...session, signal: "INT" }, "stage", "send INT to session"],
    process_close: [session, "stage", "end, and stage what changed in, session"],
  } as const;
  for (const [tool, [args, effect, begins]] of Object.entries(summaries)) {
    const resolved = resolve(tool, args);
    assert.deepEqual([resolved.effect, resolved.scopes], [effect, scopes], tool);
    assert.deepEqual([resolved.colour, resolved.label], ["YELLOW", "internal"]);
    assert.ok(resolved.summary.startsWith(begins), resolved.summary);
    assert.match(resolved.summary, /sone…: "\/usr\/bin\/long" "-i" "a b" in "desk"$/);
    // deno-lint-ignore no-control-regex -- control characters are what it looks for
    assert.doesNotMatch(resolved.summary, /[\u0000-\u001f]/);
    assert.throws(() => resolve(tool, { ...args, session: "stwo" }), { code: "notFound" });
  }
  const wrong = { code: "invalidArguments" };
  assert.throws(() => resolve("process_signal", { ...session, signal: "STOP" }), wrong);
  assert.throws(() => resolve("process_signal", { ...session, signal: "toString" }), wrong);
  assert.throws(() => resolve("process_write", { ...session, text: "\ud800" }), wrong);
});

Deno.test("results read as a terminal would show them, coloured as what the program knows", async () => {
  const { call, asked, folded } = bench();
  const session = "sone";
  const polled = await call("process_poll", { session, newest: true });
  assert.equal(
    polled.content,
    "[3 bytes of older output were dropped]\nout\n[stderr]\nerr\n" +
      "[more output waits: poll again, or with newest]\n[running]\n",
  );
  const written = await call("process_write", { session, text: "x" });
  assert.equal(written.content, "[running]\n[7 bytes wait for the program to read them]\n");
  const killed = await call("process_signal", { session, signal: "KILL" });
  assert.equal(killed.content, "[exited 137: it was sent KILL]\n");
  const closed = await call("process_close", { session });
  assert.match(
    closed.content,
    /^bye\n\[exited 2\]\n\[staged; .*\]\ndelete desk\/a\n\[not kept\]\n/,
  );
  for (const { colour, label } of [polled, written, killed, closed]) {
    assert.deepEqual([colour, label], ["RED", "secret"]);
  }
  assert.deepEqual(asked, [
    ["sone", { waitMs: 1_000, bytes: 16_384, newest: true }],
    ["sone", { colour: "YELLOW", label: "internal", text: "x", end: false }],
    ["sone", { colour: "YELLOW", label: "internal", signal: "KILL" }],
    ["sone", { bytes: 16_384 }],
  ]);
  assert.deepEqual([folded.length, closed.writtenBytes], [1, 1]);
});
