import assert from "node:assert/strict";
import { join } from "node:path";
import { Answer } from "../../contracts/authority/mod.ts";
import { type Json, toJson } from "../../contracts/base/mod.ts";
import {
  type FakeKernel,
  fakeKeyboard,
  type FakeOps,
  fakePowers,
  runCommandLine,
} from "../_fixture/world.ts";
import { change, QUESTION, question, TASK, taskJson, told } from "../_fixture/samples.ts";

const HEAD = "c".repeat(64);
const nothingStaged = { patch: null, changes: [], applied: [], content: "/nowhere" };

/** Ops of a kernel whose task does what `play` says once it is watched. */
function ops(play: (kernel: FakeKernel) => void, more: FakeOps = {}): FakeOps {
  return {
    run: () => ({ task: TASK }),
    watch: (_body, kernel) => {
      play(kernel);
      return null;
    },
    task: () => taskJson(),
    staged: () => toJson(nothingStaged),
    receipts: () => [{ version: 1 }],
    head: () => ({ head: HEAD }),
    log: () => [],
    ...more,
  };
}

const modelIn = (root: string): string => {
  const file = join(root, "work", "model.yaml");
  Deno.writeTextFileSync(file, "scenario: x\n");
  return file;
};

const asksThenEnds = (kernel: FakeKernel): void => {
  kernel.tell(told(1, "questionAsked", { question: QUESTION, tool: "patch_apply" }));
};
const answering = (asked: object): FakeOps => ({
  question: () => toJson(question(asked)),
  answer: (body: Json, kernel: FakeKernel): Json => {
    const { decision, by } = Answer.parse(body);
    kernel.tell(told(2, "questionAnswered", { question: QUESTION, decision, by }));
    kernel.end("done", decision === "allow" ? 0 : 64);
    return null;
  },
});

Deno.test("standard output is the answer, and the exit code is the task's", async () => {
  const powers = fakePowers({
    ops: ops((kernel) => {
      kernel.tell(told(1, "intent", { call: "c", tool: "file_read" }, {
        arguments: '{"path":"desk/a.md"}',
      }));
      kernel.tell(told(2, "outcome", { call: "c", tool: "file_read", outcome: "ok" }));
      kernel.end("done", 0);
    }),
  });
  const model = `scripted:${modelIn(powers.root)}`;
  assert.equal(await runCommandLine(["run", "-p", "tidy", "--model", model], powers), 0);
  assert.deepEqual(powers.screen.outs, ["All done.\n"]);
  assert.ok(powers.screen.lines.some((line) => line.includes("✓ file_read     desk/a.md")));
});

Deno.test("the answer's escape sequences never reach the terminal", async () => {
  const powers = fakePowers({
    ops: ops((kernel) => kernel.end("done", 0), {
      task: () => taskJson({ answer: "ok\x1b]0;owned\x07\u202e", reason: "\x1b[2J" }),
    }),
  });
  const model = `scripted:${modelIn(powers.root)}`;
  await runCommandLine(["run", "-p", "x", "--model", model], powers);
  const all = [...powers.screen.outs, ...powers.screen.lines].join("\n");
  // deno-lint-ignore no-control-regex -- it looks for them
  assert.doesNotMatch(all, /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]/);
});

Deno.test("without a model the command says what to do, and exits 2", async () => {
  const powers = fakePowers();
  assert.equal(await runCommandLine(["run", "-p", "tidy"], powers), 2);
  assert.ok(powers.screen.lines.some((line) => line.includes("--model REF")));
  assert.ok(powers.screen.lines.some((line) => line.includes("remit model list")));
});

Deno.test("an unattended run tells the kernel to queue, and exits 75 when something waits", async () => {
  const powers = fakePowers({
    ops: ops((kernel) => kernel.end("needsApproval", 75), {
      task: () => taskJson({ status: "needsApproval", exit: 75, questions: [QUESTION] }),
    }),
  });
  const model = `scripted:${modelIn(powers.root)}`;
  assert.equal(await runCommandLine(["run", "-p", "x", "--model", model], powers), 75);
  const [, body] = powers.kernels_.last?.asked.find(([op]) => op === "run") ?? [];
  assert.equal((body as { onQuestion?: string }).onQuestion, "queue");
  assert.ok(powers.screen.lines.some((line) => line.includes(`answer ${QUESTION} allow`)));
});

Deno.test("an answers file answers what fits it, signed, and says which file", async () => {
  const powers = fakePowers({ ops: ops(asksThenEnds, answering({})) });
  const model = `scripted:${modelIn(powers.root)}`;
  const file = join(powers.root, "work", "answers.json");
  Deno.writeTextFileSync(file, '{"answers":[{"tool":"patch_apply","answer":"allow"}]}');
  const argv = ["run", "-p", "x", "--model", model, "--answers", "answers.json"];
  assert.equal(await runCommandLine(argv, powers), 0);
  const [, body] = powers.kernels_.last?.asked.find(([op]) => op === "answer") ?? [];
  assert.equal(Answer.parse(body).channel, "answersFile");
});

Deno.test("a question that no entry fits waits when the run queues, and is denied when it denies", async () => {
  for (const [mode, exit] of [["queue", 75], ["deny", 64]] as const) {
    const powers = fakePowers({
      ops: ops(asksThenEnds, {
        ...answering({}),
        task: () => taskJson({ status: "open", exit: undefined }),
      }),
    });
    const model = `scripted:${modelIn(powers.root)}`;
    Deno.writeTextFileSync(join(powers.root, "work", "a.json"), '{"answers":[]}');
    const argv = ["run", "-p", "x", "--model", model, "--answers", "a.json", "--on-question", mode];
    assert.equal(await runCommandLine(argv, powers), exit, mode);
  }
});

Deno.test("carol allows at the terminal, and what she signs is what she saw", async () => {
  const content = Deno.makeTempDirSync();
  const staged = change(content, "desk/a", { base: "a\n", next: "b\n" });
  const powers = fakePowers({
    keyboard: fakeKeyboard(["y"]),
    ops: ops(asksThenEnds, {
      ...answering({ changes: [staged] }),
      staged: () => toJson({ ...nothingStaged, content, changes: [staged] }),
    }),
  });
  const model = `scripted:${modelIn(powers.root)}`;
  assert.equal(await runCommandLine(["run", "-p", "x", "--model", model], powers), 0);
  assert.ok(powers.screen.lines.includes("┃   │ +b"));
});

Deno.test("carol presses Enter, and the kernel hears a signed no", async () => {
  const powers = fakePowers({
    keyboard: fakeKeyboard([""]),
    ops: ops(asksThenEnds, answering({})),
  });
  const model = `scripted:${modelIn(powers.root)}`;
  assert.equal(await runCommandLine(["run", "-p", "x", "--model", model], powers), 64);
});

Deno.test("content that was changed behind the kernel's back ends the run before anything is signed", async () => {
  const content = Deno.makeTempDirSync();
  const staged = change(content, "desk/a", { next: "good" });
  Deno.writeTextFileSync(join(content, staged.next ?? ""), "bad");
  const powers = fakePowers({
    keyboard: fakeKeyboard(["y"]),
    ops: ops(asksThenEnds, {
      ...answering({ changes: [staged] }),
      staged: () => toJson({ ...nothingStaged, content }),
    }),
  });
  const model = `scripted:${modelIn(powers.root)}`;
  assert.equal(await runCommandLine(["run", "-p", "x", "--model", model], powers), 64);
  assert.ok(!powers.kernels_.last?.asked.some(([op]) => op === "answer"));
});

Deno.test("--json prints one document, and nothing else", async () => {
  const powers = fakePowers({
    ops: ops((kernel) => {
      kernel.tell(told(1, "refused", {
        call: "c",
        tool: "file_read",
        outcome: "refusedByPolicy",
        rule: "built-in: never-list",
      }, { arguments: '{"path":"desk/keys.env"}', why: "no" }));
      kernel.end("done", 0);
    }),
  });
  const model = `scripted:${modelIn(powers.root)}`;
  assert.equal(await runCommandLine(["run", "-p", "x", "--json", "--model", model], powers), 0);
  const document = JSON.parse(powers.screen.outs.join(""));
  assert.equal(document.status, "done");
  assert.deepEqual(document.changes, []);
  assert.deepEqual(document.refused, [{
    tool: "file_read",
    subject: "desk/keys.env",
    outcome: "refusedByPolicy",
    rule: "built-in: never-list",
    why: "no",
  }]);
  assert.deepEqual(document.asked, []);
  assert.equal(document.receipts.length, 1);
  assert.equal(document.head, HEAD);
  assert.deepEqual(powers.screen.lines, []);
});

Deno.test("the demo copies the desk without what steers it, and answers from the checked-in file", async () => {
  const powers = fakePowers({
    ops: ops(asksThenEnds, {
      ...answering({
        changes: [change(Deno.makeTempDirSync(), "desk/notes/plan.md", { next: "x" })],
      }),
      question: () => toJson(question({ changes: [] })),
    }),
  });
  const exit = await runCommandLine(["run"], powers);
  const [, body] = powers.kernels_.last?.asked.find(([op]) => op === "run") ?? [];
  const [mount] = (body as { mounts: { dir: string; mode: string }[] }).mounts;
  assert.ok(mount !== undefined);
  assert.equal(mount.mode, "stage");
  const names = [...Deno.readDirSync(mount.dir)].map((entry) => entry.name).sort();
  assert.deepEqual(names, ["inbox", "keys.env", "notes", "remit.yaml"]);
  assert.ok(powers.screen.lines.some((line) => line.includes("answers.json")));
  assert.ok(powers.screen.lines.some((line) => line.includes("scripted")));
  // This question touches no file, so no entry of the demo fits it: it waits.
  assert.equal(exit, 75);
});

Deno.test("Ctrl-C once cancels what is under way, twice ends the task with 130", async () => {
  let press: (count: number) => void = () => undefined;
  const powers = {
    ...fakePowers({
      ops: ops(() => {
        press(1);
        press(2);
      }, { interrupt: () => null, task: () => taskJson({ status: "cancelled", exit: 130 }) }),
    }),
    interrupts: {
      listen: (listener: (count: number) => void) => {
        listener(1);
        press = listener;
        listener(2);
        return () => undefined;
      },
    },
  };
  const model = `scripted:${modelIn(powers.root)}`;
  assert.equal(await runCommandLine(["run", "-p", "x", "--model", model], powers), 130);
  const told = powers.kernels_.last?.asked.filter(([op]) => op === "interrupt").map(([, body]) =>
    body
  );
  assert.deepEqual(told, [{ task: TASK, second: false }, { task: TASK, second: true }]);
});

Deno.test("a trace is written into what is there, and a task whose trace cannot be written does not go on", async () => {
  const powers = fakePowers({
    ops: {
      ...ops((kernel) => {
        kernel.tell(told(1, "intent", { call: "c", tool: "file_read", rule: "r" }));
        kernel.tell(told(2, "outcome", { call: "c", tool: "file_read", outcome: "ok" }));
        kernel.end("done", 0);
      }),
      task: () => taskJson(),
      log: () => [],
      resume: () => null,
    },
  });
  const work = join(powers.root, "work");
  Deno.writeTextFileSync(join(work, "theirs.jsonl"), "old\n", { mode: 0o644 });
  Deno.symlinkSync("theirs.jsonl", join(work, "t.jsonl"));
  const words = ["-p", "x", "--model", `scripted:${modelIn(powers.root)}`];
  assert.equal(await runCommandLine(["run", ...words, "--trace", "t.jsonl"], powers), 0);
  assert.ok(Deno.lstatSync(join(work, "t.jsonl")).isSymlink);
  assert.match(Deno.readTextFileSync(join(work, "theirs.jsonl")), /^\{.*"tool_call"/);
  // Root's own trace into /dev/null must leave it to everybody else.
  assert.equal((Deno.statSync(join(work, "theirs.jsonl")).mode ?? 0) & 0o777, 0o644);
  assert.equal(await runCommandLine(["run", ...words, "--trace", "/dev/null"], powers), 0);
  assert.equal((Deno.statSync("/dev/null").mode ?? 0) & 0o777, 0o666);
  assert.ok(Deno.statSync("/dev/null").isCharDevice);

  assert.equal(await runCommandLine(["resume", TASK, "--trace", "none/t.jsonl"], powers), 2);
  assert.match(
    powers.screen.lines.join("\n"),
    /Cannot write the trace to ".*": there is no such folder/,
  );
  assert.ok(!powers.kernels_.last?.asked.some(([op]) => op === "resume"));
});

Deno.test("the trace file holds JSON lines of what was observed", async () => {
  const powers = fakePowers({
    ops: ops((kernel) => {
      kernel.tell(
        told(1, "inferred", { model: "m", inputTokens: 5, outputTokens: 2, money: 0.25 }),
      );
      kernel.tell(told(2, "intent", { call: "c", tool: "file_read", rule: "r" }, {
        arguments: '{"path":"desk/a"}',
      }));
      kernel.tell(told(3, "outcome", { call: "c", tool: "file_read", outcome: "ok" }));
      kernel.end("done", 0);
    }),
  });
  const model = `scripted:${modelIn(powers.root)}`;
  await runCommandLine(["run", "-p", "x", "--model", model, "--trace", "t.jsonl"], powers);
  const lines = Deno.readTextFileSync(join(powers.root, "work", "t.jsonl")).trim().split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(lines.map((line) => line.type), ["budget", "tool_call", "tool_result"]);
  assert.equal(lines[0].remaining_usd, 0.75);
  assert.deepEqual(lines[1].args, { path: "desk/a" });
  assert.equal(lines[2].status, "ok");
});
