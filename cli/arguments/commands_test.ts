import assert from "node:assert/strict";
import { join } from "node:path";
import { Answer } from "../../contracts/authority/mod.ts";
import { type Json, toJson } from "../../contracts/base/mod.ts";
import { NO_SERVICE_HANDS } from "../_fixture/service.ts";
import { fakePowers } from "../_fixture/world.ts";
import { QUESTION, question, TASK, taskJson, told } from "../_fixture/samples.ts";
import { parseReceipts } from "../audit/commands.ts";
import { runCommandLine } from "../_fixture/world.ts";
import type { ServicePowers } from "../service/powers.ts";
import { parseSince } from "../terminal/since.ts";

const staged = { patch: null, changes: [], applied: [], content: "/nowhere" };

Deno.test("a fault is one line with its words, and its code is the exit code", async () => {
  const powers = fakePowers();
  assert.equal(await runCommandLine(["task", "show", TASK], powers), 2);
  assert.match(powers.screen.lines[0] ?? "", /^remit: Cannot serve "task"/);
  const quiet = fakePowers();
  assert.equal(await runCommandLine(["task", "show", "nonsense", "--json"], quiet), 2);
  assert.equal(JSON.parse(quiet.screen.outs.join("")).error.code, "invalidInput");
});

Deno.test("answer shows the question, signs, and follows the task that goes on", async () => {
  const powers = fakePowers({
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
  assert.equal(await runCommandLine(argv, powers), 0);
  const asked = powers.kernels_.last?.asked ?? [];
  const answer = Answer.parse(asked.find(([op]) => op === "answer")?.[1]);
  assert.equal(answer.channel, "command");
  assert.equal(answer.say, "go on");
  assert.deepEqual(asked.find(([op]) => op === "watch")?.[1], { task: TASK, from: 1 });
  assert.ok(powers.screen.lines.some((line) => line.startsWith("┏━")));
});

Deno.test("a question that is closed cannot be answered, and only allow and deny are answers", async () => {
  const powers = fakePowers({ ops: { question: () => toJson(question({ state: "denied" })) } });
  assert.equal(await runCommandLine(["answer", QUESTION, "allow"], powers), 1);
  assert.equal(await runCommandLine(["answer", QUESTION, "maybe"], powers), 2);
});

Deno.test("a grave question is allowed with the passphrase key alone", async () => {
  const ops = {
    question: () => toJson(question({ kind: "stepUp" })),
    staged: () => toJson(staged),
    task: () => taskJson(),
  };
  const without = fakePowers({ ops });
  assert.equal(await runCommandLine(["answer", QUESTION, "allow"], without), 2);
  const powers = fakePowers({ ops });
  const file = join(powers.root, "pass");
  Deno.writeTextFileSync(file, "correct horse\n");
  assert.equal(await runCommandLine(["key", "create", "--passphrase-file", file], powers), 0);
  Deno.writeTextFileSync(file, "wrong horse\n");
  const argv = ["answer", QUESTION, "allow", "--passphrase-file", file];
  assert.equal(await runCommandLine(argv, powers), 64);
});

Deno.test("lists say so when they are empty, and show hostile names as safe text", async () => {
  const empty = fakePowers({
    ops: { tasks: () => [], questions: () => [], ps: () => [], leases: () => [], outbox: () => [] },
  });
  for (
    const argv of [["task", "show"], ["questions"], ["ps"], ["lease", "list"], ["outbox", "list"]]
  ) {
    assert.equal(await runCommandLine(argv, empty), 0);
  }
  assert.equal(empty.screen.outs.length, 5);
  const hostile = fakePowers({
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
  const powers = fakePowers({
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
    powers.screen.outs.length = 0;
    assert.equal(await runCommandLine(["lease", "list", "--json", ...argv], powers), 0);
    return JSON.parse(powers.screen.outs.join("")).map((each: { id: string }) => each.id);
  };
  assert.deepEqual(await shown([]), ["holds", "lost"]);
  assert.deepEqual(await shown(["--all"]), ["holds", "lost", "past", "expired"]);
  assert.deepEqual(await shown([TASK]), ["holds", "lost", "past", "expired"]);
});

Deno.test("stop says that a running service keeps its kernel", async () => {
  const stopped = async (service: Pick<ServicePowers, "lock">): Promise<string> => {
    const plain = fakePowers({ ops: { stop: () => null, ps: () => [] } });
    const powers = { ...plain, service: { ...plain.service, ...service } };
    assert.equal(await runCommandLine(["stop"], powers), 0);
    return plain.screen.outs.join("");
  };
  assert.match(await stopped({ lock: NO_SERVICE_HANDS.lock }), /as soon as no session is at work/);
  assert.match(await stopped({ lock: () => undefined }), /when "remit serve" has ended/);
});

Deno.test("stop asks about tasks at work, refuses where nobody can be asked, and ends them with --force", async () => {
  const ops = { stop: () => null, ps: () => [{ task: TASK }, { task: TASK }] };
  const stops = (powers: ReturnType<typeof fakePowers>): readonly unknown[] =>
    powers.kernels_.last?.asked.filter(([op]) => op === "stop").map(([, body]) => body) ?? [];
  const refused = fakePowers({ ops });
  assert.equal(await runCommandLine(["stop", "--json"], refused), 1);
  const said = [...refused.screen.lines, ...refused.screen.outs].join("\n");
  assert.match(said, new RegExp(`${TASK} is at work; .*--force`));
  assert.deepEqual(stops(refused), []);
  const forced = fakePowers({ ops });
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
  const powers = fakePowers({ ops });
  await runCommandLine(["log", TASK], powers);
  assert.match(
    powers.screen.outs[1] ?? "",
    /outcome +file_read {2}desk\/a\\u\{1b\}\[2J {2}ok {2}by r/,
  );
  const json = fakePowers({ ops });
  await runCommandLine(["log", TASK, "--json"], json);
  assert.deepEqual(json.screen.outs.map((line) => JSON.parse(line).type), [
    "tool_call",
    "tool_result",
  ]);
});

Deno.test("kill takes a signal with or without SIG, and refuses what is none", async () => {
  const powers = fakePowers({ ops: { kill: () => null } });
  assert.equal(await runCommandLine(["kill", "4", "stop"], powers), 0);
  assert.deepEqual(powers.kernels_.last?.asked, [["kill", { pid: 4, signal: "SIGSTOP" }]]);
  assert.equal(await runCommandLine(["kill", "4", "SIGFOO"], powers), 2);
  assert.equal(await runCommandLine(["kill", "four"], powers), 2);
});

Deno.test("can prints the rule, and exits 64 for a no", async () => {
  const powers = fakePowers({
    ops: { can: () => ({ kind: "refuse", rule: "built-in: never-list", why: "keys", step: 5 }) },
  });
  assert.equal(await runCommandLine(["can", "agent", "file_read", '{"path":"x"}'], powers), 64);
  assert.match(powers.screen.outs.join(""), /^no\nrule {5}built-in: never-list\nwhy/);
  assert.equal(await runCommandLine(["can", "agent", "file_read", "{"], powers), 2);
});

Deno.test("a broken log is an exit code of its own", async () => {
  const powers = fakePowers({ ops: { auditVerify: () => ({ ok: false, bad: { seq: 3 } }) } });
  assert.equal(await runCommandLine(["audit", "verify"], powers), 1);
  assert.match(powers.screen.outs.join(""), /does NOT hold/);
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
  const powers = fakePowers();
  assert.equal(await runCommandLine(["lease", "revoke", "--help"], powers), 0);
  assert.equal(await runCommandLine(["audit", "query", "--version"], powers), 0);
  assert.match(powers.screen.outs.join(""), /remit lease revoke LEASE[\s\S]*remit 0\./);
});

Deno.test("tokens of hosts and of peers have the same words: made, listed, revoked, and none said plainly", async () => {
  const powers = fakePowers();
  const said = async (...words: string[]): Promise<string> => {
    const before = powers.screen.outs.length;
    assert.equal(await runCommandLine(words, powers), 0, words.join(" "));
    return powers.screen.outs.slice(before).join("");
  };
  assert.equal(await said("a2a", "token", "list"), "no tokens\n");
  assert.equal(await said("mcp", "token", "list"), "no tokens\n");
  assert.match(await said("mcp", "token", "create", "desk"), /^remit_mcp_/);
  assert.match(await said("mcp", "token", "list"), /^ID +NAME +PROFILE +MADE\n.* desk +guest /);
  assert.equal(JSON.parse(await said("mcp", "token", "list", "--json"))[0].profile, "guest");
  await said("mcp", "token", "revoke", "desk");
  assert.match(powers.screen.lines.at(-1) ?? "", /^revoked desk \(/);
  assert.equal(await runCommandLine(["mcp", "token", "revoke", "desk"], powers), 2);
  assert.equal(await runCommandLine(["a2a", "token", "create", "a b"], powers), 2);
});

Deno.test("root is warned once for each state, in words and not in JSON; doctor says it each time", async () => {
  const warned = (powers: ReturnType<typeof fakePowers>): number =>
    powers.screen.lines.filter((line) => line.includes("Remit runs as root")).length;
  const ops = { questions: () => [], tasks: () => [] };
  const powers = fakePowers({ root: true, ops });
  for (let times = 0; times < 2; times++) {
    assert.equal(await runCommandLine(["questions"], powers), 0);
  }
  assert.equal(warned(powers), 1);
  const script = fakePowers({ root: true, ops });
  assert.equal(await runCommandLine(["questions", "--json"], script), 0);
  assert.equal(warned(script), 0);
  const alice = fakePowers({ ops });
  assert.equal(await runCommandLine(["questions"], alice), 0);
  assert.equal(warned(alice), 0);
  assert.equal(await runCommandLine(["doctor"], powers), 0);
  assert.match(powers.screen.outs.join(""), /account +Remit runs as root/);
});
