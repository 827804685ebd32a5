import assert from "node:assert/strict";
import { join } from "node:path";
import { Answer } from "../../contracts/authority/mod.ts";
import { type Json, toJson } from "../../contracts/base/mod.ts";
import { NO_SERVICE_HANDS } from "../_fixture/service.ts";
import { fakeHands } from "../_fixture/world.ts";
import { QUESTION, question, TASK, taskJson, told } from "../_fixture/samples.ts";
import { parseReceipts } from "../audit/commands.ts";
import { runCommandLine } from "../_fixture/world.ts";
import type { ServiceHands } from "../service/hands.ts";
import { parseSince } from "../terminal/since.ts";

const staged = { patch: null, changes: [], applied: [], content: "/nowhere" };

Deno.test("a fault is one line with its words, and its code is the exit code", async () => {
  const hands = fakeHands();
  assert.equal(await runCommandLine(["task", "show", TASK], hands), 2);
  assert.match(hands.screen.lines[0] ?? "", /^remit: Cannot serve "task"/);
  const quiet = fakeHands();
  assert.equal(await runCommandLine(["task", "show", "nonsense", "--json"], quiet), 2);
  assert.equal(JSON.parse(quiet.screen.outs.join("")).error.code, "invalidInput");
});

Deno.test("answer shows the question, signs, and follows the task that goes on", async () => {
  const hands = fakeHands({
    ops: {
      question: () => toJson(question()),
      staged: () => toJson(staged),
      questions: () => [],
      log: (body) =>
        (body as { from: number }).from === 0 ? [toJson(told(0, "taskCreated", {}))] : [],
      answer: () => null,
      watch: (_body, kernel) => {
        kernel.end("done", 0);
        return null;
      },
      task: () => taskJson(),
      receipts: () => [],
      head: () => ({ head: "c".repeat(64) }),
    },
  });
  const argv = ["answer", QUESTION, "allow", "--say", "go on"];
  assert.equal(await runCommandLine(argv, hands), 0);
  const asked = hands.kernels_.last?.asked ?? [];
  const answer = Answer.parse(asked.find(([op]) => op === "answer")?.[1]);
  assert.equal(answer.channel, "command");
  assert.equal(answer.say, "go on");
  assert.deepEqual(asked.find(([op]) => op === "watch")?.[1], { task: TASK, from: 1 });
  assert.ok(hands.screen.lines.some((line) => line.startsWith("┏━")));
});

Deno.test("a question that is closed cannot be answered, and only allow and deny are answers", async () => {
  const hands = fakeHands({ ops: { question: () => toJson(question({ state: "denied" })) } });
  assert.equal(await runCommandLine(["answer", QUESTION, "allow"], hands), 1);
  assert.equal(await runCommandLine(["answer", QUESTION, "maybe"], hands), 2);
});

Deno.test("a grave question is allowed with the passphrase key alone", async () => {
  const ops = {
    question: () => toJson(question({ kind: "stepUp" })),
    staged: () => toJson(staged),
    task: () => taskJson(),
  };
  const without = fakeHands({ ops });
  assert.equal(await runCommandLine(["answer", QUESTION, "allow"], without), 2);
  const hands = fakeHands({ ops });
  const file = join(hands.root, "pass");
  Deno.writeTextFileSync(file, "correct horse\n");
  assert.equal(await runCommandLine(["key", "create", "--passphrase-file", file], hands), 0);
  Deno.writeTextFileSync(file, "wrong horse\n");
  const argv = ["answer", QUESTION, "allow", "--passphrase-file", file];
  assert.equal(await runCommandLine(argv, hands), 64);
});

Deno.test("lists say so when they are empty, and show hostile names as safe text", async () => {
  const empty = fakeHands({
    ops: { tasks: () => [], questions: () => [], ps: () => [], leases: () => [], outbox: () => [] },
  });
  for (
    const argv of [["task", "show"], ["questions"], ["ps"], ["lease", "list"], ["outbox", "list"]]
  ) {
    assert.equal(await runCommandLine(argv, empty), 0);
  }
  assert.equal(empty.screen.outs.length, 5);
  const hostile = fakeHands({
    ops: { outbox: () => [{ id: "a", name: "x\x1b]0;t\x07\u202e.txt", state: "quarantined" }] },
  });
  await runCommandLine(["outbox", "list"], hostile);
  // deno-lint-ignore no-control-regex -- it looks for them
  assert.doesNotMatch(hostile.screen.outs.join(""), /[\x00-\x09\x0b-\x1f\u202e]/);
});

Deno.test("lease list shows what holds and what live tasks lost; --all shows the rest", async () => {
  const lease = (id: string, task: string, rest: Record<string, number>): Json => ({
    id,
    task,
    scope: { right: "read", resource: "file", path: "desk" },
    ...rest,
  });
  const late = Number.MAX_SAFE_INTEGER;
  const hands = fakeHands({
    ops: {
      leases: () => [
        lease("holds", "t-ended", { expiresAt: late }),
        lease("lost", "t-live", { expiresAt: late, revokedAt: 1 }),
        lease("past", "t-ended", { expiresAt: late, revokedAt: 1 }),
        lease("expired", "t-ended", { expiresAt: 1 }),
      ],
      ps: () => [{ task: "t-live", exit: null }, { task: "t-ended", exit: 0 }],
    },
  });
  const shown = async (argv: readonly string[]): Promise<readonly string[]> => {
    hands.screen.outs.length = 0;
    assert.equal(await runCommandLine(["lease", "list", "--json", ...argv], hands), 0);
    return JSON.parse(hands.screen.outs.join("")).map((each: { id: string }) => each.id);
  };
  assert.deepEqual(await shown([]), ["holds", "lost"]);
  assert.deepEqual(await shown(["--all"]), ["holds", "lost", "past", "expired"]);
  assert.deepEqual(await shown([TASK]), ["holds", "lost", "past", "expired"]);
});

Deno.test("stop says that a running service keeps its kernel", async () => {
  const stopped = async (service: Pick<ServiceHands, "lock">): Promise<string> => {
    const plain = fakeHands({ ops: { stop: () => null, ps: () => [] } });
    const hands = { ...plain, service: { ...plain.service, ...service } };
    assert.equal(await runCommandLine(["stop"], hands), 0);
    return plain.screen.outs.join("");
  };
  assert.match(await stopped({ lock: NO_SERVICE_HANDS.lock }), /as soon as no session is at work/);
  assert.match(await stopped({ lock: () => undefined }), /when "remit serve" has ended/);
});

Deno.test("stop asks about tasks at work, refuses where nobody can be asked, and ends them with --force", async () => {
  const ops = { stop: () => null, ps: () => [{ task: TASK }, { task: TASK }] };
  const stops = (hands: ReturnType<typeof fakeHands>): readonly unknown[] =>
    hands.kernels_.last?.asked.filter(([op]) => op === "stop").map(([, body]) => body) ?? [];
  const refused = fakeHands({ ops });
  assert.equal(await runCommandLine(["stop", "--json"], refused), 1);
  const said = [...refused.screen.lines, ...refused.screen.outs].join("\n");
  assert.match(said, new RegExp(`${TASK} is at work; .*--force`));
  assert.deepEqual(stops(refused), []);
  const forced = fakeHands({ ops });
  assert.equal(await runCommandLine(["stop", "--force"], forced), 0);
  assert.deepEqual(stops(forced), [{ force: true }]);
  assert.match(forced.screen.outs.join(""), /the next one goes on/);
});

Deno.test("log pages through everything, and its JSON is the trace", async () => {
  const page = [
    told(0, "intent", { call: "c", tool: "file_read", rule: "r", decision: "auto" }, {
      arguments: '{"path":"desk/a\\u001b[2J"}',
    }),
    told(1, "outcome", { call: "c", tool: "file_read", outcome: "ok" }),
  ].map(toJson);
  const ops = { log: (body: unknown) => (body as { from: number }).from === 0 ? page : [] };
  const hands = fakeHands({ ops });
  await runCommandLine(["log", TASK], hands);
  assert.match(
    hands.screen.outs[1] ?? "",
    /outcome +file_read {2}desk\/a\\u\{1b\}\[2J {2}ok {2}by r/,
  );
  const json = fakeHands({ ops });
  await runCommandLine(["log", TASK, "--json"], json);
  assert.deepEqual(json.screen.outs.map((line) => JSON.parse(line).type), [
    "tool_call",
    "tool_result",
  ]);
});

Deno.test("kill takes a signal with or without SIG, and refuses what is none", async () => {
  const hands = fakeHands({ ops: { kill: () => null } });
  assert.equal(await runCommandLine(["kill", "4", "stop"], hands), 0);
  assert.deepEqual(hands.kernels_.last?.asked, [["kill", { pid: 4, signal: "SIGSTOP" }]]);
  assert.equal(await runCommandLine(["kill", "4", "SIGFOO"], hands), 2);
  assert.equal(await runCommandLine(["kill", "four"], hands), 2);
});

Deno.test("can prints the rule, and exits 64 for a no", async () => {
  const hands = fakeHands({
    ops: { can: () => ({ kind: "refuse", rule: "built-in: never-list", why: "keys", step: 5 }) },
  });
  assert.equal(await runCommandLine(["can", "agent", "file_read", '{"path":"x"}'], hands), 64);
  assert.match(hands.screen.outs.join(""), /^no\nrule {5}built-in: never-list\nwhy/);
  assert.equal(await runCommandLine(["can", "agent", "file_read", "{"], hands), 2);
});

Deno.test("a broken log is an exit code of its own", async () => {
  const hands = fakeHands({ ops: { auditVerify: () => ({ ok: false, bad: { seq: 3 } }) } });
  assert.equal(await runCommandLine(["audit", "verify"], hands), 1);
  assert.match(hands.screen.outs.join(""), /does NOT hold/);
});

Deno.test("receipts are read as one document, a list, or lines", () => {
  const receipt = JSON.stringify({ version: 1, events: [EVENT], seals: [SEAL] });
  assert.equal(parseReceipts(receipt).length, 1);
  assert.equal(parseReceipts(`${receipt}\n${receipt}\n`).length, 2);
  assert.equal(parseReceipts(`[${receipt},${receipt}]`).length, 2);
  assert.throws(() => parseReceipts(`${receipt}\nno`), /line 2 is no JSON/);
  assert.throws(() => parseReceipts("{}"), /Cannot read receipt 1/);
  // Verified are the last events of two; a person, or another program, would read the first.
  const twice = receipt.replace("{", '{"events":[],');
  assert.throws(() => parseReceipts(twice), /line 1 is no JSON/);
  assert.throws(() => parseReceipts(`[${twice}]`), /line 1 is no JSON/);
});

const HASH = "a".repeat(64);
const EVENT = { task: TASK, n: 0, kind: "outcome", at: 1, body: "{}", prev: HASH, hash: HASH };
const SEAL = { hashes: [HASH], prev: HASH, signature: "s", key: "k" };

Deno.test("a span or a date is a time", () => {
  assert.equal(parseSince("2h", 10_000_000), 10_000_000 - 7_200_000);
  assert.equal(parseSince("1970-01-02", 5), 86_400_000);
  for (const text of ["1970-01-02T01:30", "1970-01-02 01:30Z", "1970-01-02T02:30:00.000+01:00"]) {
    assert.equal(parseSince(text, 5), 86_400_000 + 5_400_000, text);
  }
  for (
    const text of [
      "soon",
      "10",
      "2",
      "Nov 24",
      "2026",
      "2026-02-31",
      "2026-13-01",
      "1970-01-02T25:00",
    ]
  ) {
    assert.throws(() => parseSince(text, 5), /30m, 2h, 7d/, text);
  }
});

Deno.test("help and version are everywhere, and need nothing", async () => {
  const hands = fakeHands();
  assert.equal(await runCommandLine(["lease", "revoke", "--help"], hands), 0);
  assert.equal(await runCommandLine(["audit", "query", "--version"], hands), 0);
  assert.match(hands.screen.outs.join(""), /remit lease revoke LEASE[\s\S]*remit 0\./);
});

Deno.test("tokens of hosts and of peers have the same words: made, listed, revoked, and none said plainly", async () => {
  const hands = fakeHands();
  const said = async (...words: string[]): Promise<string> => {
    const before = hands.screen.outs.length;
    assert.equal(await runCommandLine(words, hands), 0, words.join(" "));
    return hands.screen.outs.slice(before).join("");
  };
  assert.equal(await said("a2a", "token", "list"), "no tokens\n");
  assert.equal(await said("mcp", "token", "list"), "no tokens\n");
  assert.match(await said("mcp", "token", "create", "desk"), /^remit_mcp_/);
  assert.match(await said("mcp", "token", "list"), /^ID +NAME +PROFILE +MADE\n.* desk +guest /);
  assert.equal(JSON.parse(await said("mcp", "token", "list", "--json"))[0].profile, "guest");
  await said("mcp", "token", "revoke", "desk");
  assert.match(hands.screen.lines.at(-1) ?? "", /^revoked desk \(/);
  assert.equal(await runCommandLine(["mcp", "token", "revoke", "desk"], hands), 2);
  assert.equal(await runCommandLine(["a2a", "token", "create", "a b"], hands), 2);
});

Deno.test("root is warned once for each state, in words and not in JSON; doctor says it each time", async () => {
  const warned = (hands: ReturnType<typeof fakeHands>): number =>
    hands.screen.lines.filter((line) => line.includes("Remit runs as root")).length;
  const ops = { questions: () => [], tasks: () => [] };
  const hands = fakeHands({ root: true, ops });
  for (let times = 0; times < 2; times++) {
    assert.equal(await runCommandLine(["questions"], hands), 0);
  }
  assert.equal(warned(hands), 1);
  const script = fakeHands({ root: true, ops });
  assert.equal(await runCommandLine(["questions", "--json"], script), 0);
  assert.equal(warned(script), 0);
  const alice = fakeHands({ ops });
  assert.equal(await runCommandLine(["questions"], alice), 0);
  assert.equal(warned(alice), 0);
  assert.equal(await runCommandLine(["doctor"], hands), 0);
  assert.match(hands.screen.outs.join(""), /account +Remit runs as root/);
});
