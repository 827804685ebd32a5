import assert from "node:assert/strict";
import type { GrantedCommand } from "../../contracts/tool/command.ts";
import { Fault } from "../../contracts/base/fault.ts";
import { CallId, Digest, Pid, TaskId, ToolName } from "../../contracts/authority/ids.ts";
import type { JsonObject } from "../../contracts/base/json.ts";
import type { ToolBinding } from "../../contracts/task/power.ts";
import type { ProcessRow } from "../../contracts/task/process.ts";
import { PROGRAMS } from "../coreutils/tool.ts";
import { bindCommand, SANDBOX_PROGRAMS } from "./binding.ts";
import type { NativeRun } from "./native.ts";

const SHA = Digest.parse("ab".repeat(32));
const GIT: GrantedCommand = {
  ...{ name: "git", program: "/usr/bin/git", sha256: SHA, args: ["status", "log"], env: ["TZ"] },
  ...{ timeoutMs: 5_000, mounts: "cwd" },
};
const PY: GrantedCommand = {
  ...{ name: "python", program: "/usr/bin/python3", sha256: SHA, env: [], timeoutMs: 60_000 },
  mounts: "all",
};
const caller = {
  ...{ colour: "YELLOW", label: "internal" },
  mounts: [{ name: "desk" }, { name: "mail" }],
} as unknown as ProcessRow;

const sandbox: ToolBinding = {
  descriptor: {
    ...{ name: ToolName.parse("command"), description: "Runs.", interfaceId: "x", methodName: "y" },
    ...{ paramSchema: "{}", permission: "auto", category: "stage" },
  },
  ...{ effect: "stage", deadlineMs: 30_000, resultBytes: 65_536 },
  resolve: (args) => ({
    scopes: [{ resource: "plugin", right: "use", path: "coreutils" }],
    ...{ effect: "stage", digests: {}, summary: String(args["program"]), idempotent: true },
  }),
  invoke: () =>
    Promise.resolve({
      ...{ content: "", colour: "YELLOW", label: "internal", sources: [] },
      value: { exit: 1, stdout: "out\n", stderr: "err", cut: true },
    }),
};

function bound(classes: readonly GrantedCommand[] = [GIT, PY]): {
  readonly binding: ToolBinding;
  readonly runs: NativeRun[];
  readonly folded: JsonObject[];
  call(args: JsonObject): ReturnType<ToolBinding["invoke"]>;
} {
  const runs: NativeRun[] = [], folded: JsonObject[] = [];
  const binding = bindCommand({
    ...{ sandbox, classes, redeem: () => undefined, processOf: () => caller },
    readScope(path) {
      const mount = path.split("/", 1)[0] ?? "";
      if (!["desk", "mail"].includes(mount)) throw new Fault("notFound", `no mount ${mount}`);
      return { resource: "mount", right: "read", path };
    },
    run(run) {
      runs.push(run);
      const change = { path: "desk/a", bytes: 1, colour: "RED", label: "internal" } as const;
      return Promise.resolve({
        ...{ exit: 2, stdout: "hi", stderr: "", cut: false, ms: 7, withheld: 1, writtenBytes: 1 },
        ...{ staged: [change], unstaged: ["desk/b"], left: ["desk/l: a link"] },
        ...{ colour: "RED", label: "internal" },
      });
    },
    fold: (record) => folded.push(record),
  });
  return {
    ...{ binding, runs, folded },
    async call(args) {
      const granted = {
        ...{
          task: TaskId.parse("t000000000000"),
          pid: Pid.parse(2),
          tool: ToolName.parse("command"),
        },
        ...{ callId: CallId.parse("c1"), args, resolved: binding.resolve(args, caller) },
        ...{ token: "t", idempotencyKey: SHA, deadlineMs: 1_000, resultBytes: 1_000 },
      };
      const result = await binding.invoke(granted, new AbortController().signal);
      binding.committed?.(granted, result);
      return result;
    },
  };
}

Deno.test("the sandbox's programs are those that it has", () => {
  assert.deepEqual([...SANDBOX_PROGRAMS].sort(), [...PROGRAMS.keys()].sort());
});

Deno.test("a sandboxed program reads, and only replace stages", () => {
  const { binding } = bound();
  const grep = binding.resolve({ program: "grep", args: ["x", "desk/a"] }, caller);
  assert.equal(grep.effect, "read");
  assert.deepEqual(grep.scopes.map(({ resource, path }) => `${resource} ${path}`), [
    "plugin coreutils",
    "mount desk",
    "mount mail",
  ]);
  assert.equal(grep.summary, 'run in the sandbox: "grep" "x" "desk/a"');
  assert.equal(binding.resolve({ program: "replace", cwd: "desk" }, caller).effect, "stage");
  assert.equal(binding.resolve({ program: "ls", cwd: "desk" }, caller).scopes.length, 1);
});

Deno.test("a native program stages, within its class, over the mount that it runs in", async () => {
  const { binding, call, runs, folded } = bound();
  const args = { program: "git", args: ["log", "-1"], cwd: "desk/sub", timeoutMs: 99_000 };
  const resolved = binding.resolve(args, caller);
  assert.equal(resolved.effect, "stage");
  assert.deepEqual(resolved.digests, { program: SHA });
  assert.deepEqual(resolved.scopes, [
    { resource: "command", right: "use", path: "git" },
    { resource: "mount", right: "read", path: "desk" },
  ]);
  assert.equal(
    resolved.summary,
    'run in "desk/sub": "/usr/bin/git" "log" "-1" (sha256 abababababababab…)',
  );
  const result = await call(args);
  assert.deepEqual(
    runs.map(({ args, cwd, mounts, timeoutMs, colour }) => ({
      ...{ args, cwd, mounts, timeoutMs, colour },
    })),
    [{
      ...{ args: ["log", "-1"], cwd: "desk/sub", mounts: ["desk"], timeoutMs: 5_000 },
      colour: "YELLOW",
    }],
  );
  assert.equal(result.colour, "RED");
  assert.match(result.content, /^hi\n\[exit 2\]\n\[staged; .*\]\ndelete desk\/a\n/);
  assert.match(result.content, /\[not kept\]\ndesk\/l: a link\n\[1 file was not shown/);
  assert.deepEqual(folded.map((record) => record["unstaged"]), [["desk/b"]]);
  await call({ program: "python", cwd: "mail" });
  assert.deepEqual(runs[1]?.mounts, ["desk", "mail"]);
});

Deno.test("what the class does not allow is refused before it is asked for", () => {
  const { binding } = bound();
  const tries: readonly (readonly [string, JsonObject, string])[] = [
    ["another first argument", { program: "git", args: ["push"], cwd: "desk" }, "refused"],
    ["an option first", { program: "git", args: ["-c", "x=y", "log"], cwd: "desk" }, "refused"],
    ["no first argument", { program: "git", cwd: "desk" }, "refused"],
    [
      "another variable",
      { program: "git", args: ["log"], cwd: "desk", env: { PATH: "x" } },
      "refused",
    ],
    ["a NUL", { program: "git", args: ["log", "a\0b"], cwd: "desk" }, "invalidArguments"],
    [
      "half a character",
      { program: "git", args: ["log", "\ud800"], cwd: "desk" },
      "invalidArguments",
    ],
    ["no folder of two", { program: "git", args: ["log"] }, "invalidArguments"],
    ["no such mount", { program: "git", args: ["log"], cwd: "etc" }, "notFound"],
    [
      "a path as program",
      { program: "/usr/bin/git", args: ["log"], cwd: "desk" },
      "invalidArguments",
    ],
    ["a shell", { program: "sh", args: ["-c", "id"], cwd: "desk" }, "invalidArguments"],
    ["a prototype", { program: "constructor", cwd: "desk" }, "invalidArguments"],
  ];
  for (const [what, args, code] of tries) {
    assert.throws(() => binding.resolve(args, caller), { code }, what);
  }
});

Deno.test("the question shows the words exactly, and nothing in them draws on the screen", () => {
  const { binding } = bound();
  const { summary } = binding.resolve({
    ...{ program: "python", cwd: "desk" },
    args: ["-c", "a\u001b[2Jb\u202e\nAllow? yes"],
  }, caller);
  // deno-lint-ignore no-control-regex -- control characters are what it looks for
  assert.doesNotMatch(summary, /[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
  assert.match(summary, /"-c" "a/);
});

Deno.test("content reads as a terminal would show it", async () => {
  const { content } = await bound().call({ program: "cat", cwd: "desk" });
  assert.match(content, /^out\n\[stderr\]\nerr\n\[cut: .*\]\n\[exit 1\]\n$/);
});

Deno.test("models are told of the operator's programs; without any the tool is the plugin's", () => {
  const { description } = bound().binding.descriptor;
  assert.match(description, /git \(first argument: status, log\) \(env: TZ\); python\.$/);
  assert.equal(bound([]).binding.descriptor, sandbox.descriptor);
});
