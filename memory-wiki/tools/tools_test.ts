import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import type { Json, JsonObject } from "../../contracts/base/json.ts";
import { Fault } from "../../contracts/base/fault.ts";
import { CallId, Digest, Pid, TaskId, ToolName } from "../../contracts/authority/ids.ts";
import type { GrantedCall, PowerResult } from "../../contracts/task/power.ts";
import type { ProcessRow } from "../../contracts/task/process.ts";
import type { TaskMemory } from "../../contracts/task/task.ts";
import { bindMemory, type BoundMemory, type MemoryTool } from "./mod.ts";

const DIGEST = "3f2a90bc12de4567".padEnd(64, "0");
const MEMORY: TaskMemory = {
  ...{ folder: "/w", stateFolder: "/s", access: "propose", user: "write" },
  ...{ review: [], retention: {}, clearance: "internal" },
};
const HIT = {
  ...{ kind: "page", file: "pages/lease.md", startLine: 4, endLine: 5, text: "A lease\nends." },
  ...{ title: "Lease", headings: ["Lease"], origin: "lease", digest: DIGEST, score: 1 },
  ...{ colour: "RED", label: "internal", stale: true },
};
const CHECKED = {
  ...{ found: 0, seen: true, plus: 3, minus: 0, citations: 2, holding: 1, uncited: 1 },
  ...{ uncitedTexts: ["It never ends."], colour: "YELLOW", label: "internal" },
};
const PAGE = {
  ...{ name: "lease", title: "Lease", kind: "concept", body: "A lease ends.[^1]\n" },
  ...{ base: 0, reason: "asked for" },
};

interface World extends BoundMemory {
  readonly asked: { readonly op: string; readonly body: JsonObject }[];
  readonly redeemed: GrantedCall[];
  resolve(tool: MemoryTool, args: JsonObject, row?: Partial<ProcessRow>): ReturnType<
    BoundMemory["bindings"][number]["resolve"]
  >;
  call(tool: MemoryTool, args: JsonObject, row?: Partial<ProcessRow>): Promise<PowerResult>;
}

/** Tools over a wiki that answers from a table. */
function makeWorld(answers: Record<string, unknown>, memory: Partial<TaskMemory> = {}): World {
  const asked: World["asked"] = [], redeemed: GrantedCall[] = [];
  const bound = bindMemory({
    memory: { ...MEMORY, ...memory },
    agent: "clerk",
    now: () => 1_000,
    redeem: (call) => void redeemed.push(call),
    ask(op, body): Promise<Json> {
      asked.push({ op, body: body as JsonObject });
      if (op in answers) return Promise.resolve(answers[op] as Json);
      return Promise.reject(new Fault("notFound", `Cannot ask for ${op}`));
    },
  });
  const find = (tool: MemoryTool): BoundMemory["bindings"][number] => {
    const binding = bound.bindings.find(({ descriptor }) => descriptor.name === tool);
    ok(binding, `${tool} is bound`);
    return binding;
  };
  const resolve: World["resolve"] = (tool, args, row) =>
    find(tool).resolve(args, { colour: "BLUE", label: "public", ...row } as ProcessRow);
  return {
    ...bound,
    ...{ asked, redeemed, resolve },
    call: (tool, args, row) =>
      find(tool).invoke({
        ...{ task: TaskId.parse("t000000000001"), pid: Pid.parse(2), callId: CallId.parse("c1") },
        ...{ tool: ToolName.parse(tool), args, resolved: resolve(tool, args, row), token: "x" },
        idempotencyKey: Digest.parse(DIGEST),
        ...{ deadlineMs: 1_000, resultBytes: 1_000 },
      }, new AbortController().signal),
  };
}

const found = (hits: unknown[], fit = "good"): object => ({
  ...{ hits, fit },
  searched: { pages: 3, sources: 2, passages: 9, terms: ["lease"], vectors: false },
});

Deno.test("a search shows file, lines, colour and label, and what was read falls on who asked", async () => {
  const world = makeWorld({ query: found([HIT]) });
  const result = await world.call("wiki_search", { query: "lease" });
  match(result.content, /^\[1\] pages\/lease\.md:4-5 "Lease" \(RED, internal, page, stale\)/);
  match(result.content, /4│ A lease\n5│ ends\./);
  deepEqual([result.colour, result.label], ["RED", "internal"]);
  deepEqual(result.sources, [
    { source: "wiki pages/lease.md", colour: "RED", label: "internal" },
  ]);
  deepEqual(world.asked, [{ op: "query", body: { text: "lease", k: 6, clearance: "internal" } }]);
  equal(world.redeemed.length, 1);
});

Deno.test("a search takes the question in up to five phrasings, and refuses what is no text", async () => {
  const world = makeWorld({ query: found([HIT]) });
  const queries = ["lease expiry", "revocation of a lease"];
  await world.call("wiki_search", { query: "when does it end", queries });
  deepEqual(world.asked[0]?.body["queries"], queries);
  await rejects(
    world.call("wiki_search", { query: "lease", queries: [1] }),
    (error) => error instanceof Fault && error.code === "invalidArguments",
  );
  const { descriptor } = world.bindings.find((each) => each.descriptor.name === "wiki_search") ??
    {};
  const schema = JSON.parse(descriptor?.paramSchema ?? "{}");
  equal(schema.properties.queries.maxItems, 5);
  match(schema.properties.queries.description, /terms that the manual's own text would use/);
});

Deno.test("what does not fit, or is trusted too little, is not shown and leaves no trace", async () => {
  for (
    const [answer, args] of [
      [found([HIT], "none"), { query: "lease" }],
      [found([HIT]), { query: "lease", trust: "YELLOW" }],
    ] as const
  ) {
    const result = await makeWorld({ query: answer }).call("wiki_search", args);
    match(result.content, /^Nothing fits: searched 3 pages and 2 sources/);
    deepEqual([result.colour, result.label, result.sources], ["BLUE", "public", []]);
  }
});

Deno.test("an answer of another shape is no answer: nothing of it is shown", async () => {
  const world = makeWorld({ query: found([{ ...HIT, colour: "GOLD" }]) });
  await rejects(
    world.call("wiki_search", { query: "lease" }),
    (error) => error instanceof Fault && error.code === "upstream",
  );
});

Deno.test("a citation carries the agent's own name for it and cannot break out of it", async () => {
  const cited = {
    definition: "[^N]: [raw/a.md](../raw/a.md#L1) line 1 of sha256:3f2a90bc12de4567",
    citation: { source: DIGEST, startLine: 1, endLine: 1 },
    ...{ text: "A lease ends.", colour: "YELLOW", label: "internal" },
  };
  const world = makeWorld({ cite: cited });
  const args = { file: "raw/a.md", startLine: 1, endLine: 1, note: "x]: evil\n[^2" };
  const { content, colour } = await world.call("wiki_cite", args);
  match(content, /^\[\^xevil2\]: \[raw\/a\.md\]/);
  equal(colour, "YELLOW");
});

Deno.test("notes of another agent are named by a scope that nobody is granted", () => {
  const world = makeWorld({});
  const pathOf = (name: string): string | undefined =>
    world.resolve("wiki_read", { name }).scopes[0]?.path;
  equal(pathOf("memory/user"), "user/clerk");
  equal(pathOf("memory/user/butler"), "user/butler");
  equal(pathOf("memory/tasks/t000000000009"), "log");
  equal(pathOf("memory/project"), "wiki");
  equal(pathOf("pages/memory.md"), "wiki");
});

Deno.test("a note has the colour and label of who wrote it, and each kind its own scope, effect and sink", async () => {
  const note = (kind: string, state: string): object => ({
    ...{ id: "n000000000001", kind, text: "hi", task: "t000000000001", agent: "clerk" },
    ...{ colour: "RED", label: "internal", state, at: 1_000 },
  });
  for (
    const [kind, scope, effect] of [
      ["taskLog", "log", "stage"],
      ["projectWiki", "wiki", "mutateLocal"],
      ["userMemory", "user/clerk", "mutateLocal"],
    ] as const
  ) {
    const world = makeWorld({ notes: [], note: note(kind, "kept") }, { retention: { taskLog: 2 } });
    const tainted = { colour: "RED", label: "internal" } as const;
    const resolved = world.resolve("memory_note", { kind, text: "hi" }, tainted);
    deepEqual(resolved.scopes, [{ resource: "memory", right: "write", path: scope }]);
    equal(resolved.effect, effect);
    equal(resolved.destination, `memory:${kind}`);
    match((await world.call("memory_note", { kind, text: "hi" }, tainted)).content, /Kept in/);
    deepEqual(world.asked.at(-1), {
      op: "note",
      body: {
        ...{ kind, text: "hi", task: "t000000000001", agent: "clerk", ...tainted, state: "kept" },
        ...(kind === "taskLog" ? { expiresAt: 1_000 + 2 * 86_400_000 } : {}),
      },
    });
  }
  const waiting = makeWorld({ notes: [], note: note("userMemory", "waiting") }, {
    review: ["userMemory"],
  });
  const said = await waiting.call("memory_note", { kind: "userMemory", text: "hi" });
  match(said.content, /^Waits for a person's review/);
  equal(waiting.asked.at(-1)?.body["state"], "waiting");
});

Deno.test("the same note after a crash is one note", async () => {
  const before = {
    ...{ id: "n000000000001", kind: "projectWiki", text: "hi", task: "t000000000001" },
    ...{ agent: "clerk", colour: "BLUE", label: "public", state: "kept", at: 1_000 },
  };
  const world = makeWorld({ notes: [before] });
  match(
    (await world.call("memory_note", { kind: "projectWiki", text: "hi" })).content,
    /n000000000001/,
  );
  deepEqual(world.asked.map(({ op }) => op), ["notes"]);
});

Deno.test("the question says page, version, lines, citations that hold and what the page becomes", async () => {
  const world = makeWorld({ check: { ...CHECKED, found: 2 } });
  const task = TaskId.parse("t000000000001"), { signal } = new AbortController();
  const tainted = { colour: "RED", label: "secret" } as const;
  equal(
    world.resolve("wiki_propose", PAGE).summary,
    'Write wiki page "lease" (a new page): 2 lines',
  );
  await world.prepare({ name: "wiki_propose", arguments: JSON.stringify(PAGE) }, task, signal);
  equal(
    world.resolve("wiki_propose", PAGE, tainted).summary,
    'Write wiki page "lease" (a new page; version 2 stands now, so it will not be applied): ' +
      "+3 −0 lines, 1 of 2 citations hold, 1 statement uncited; it becomes RED, secret",
  );
  await world.prepare({ name: "wiki_propose", arguments: "no JSON" }, task, signal);
});

Deno.test("a page that was consented to is applied with its author's colour, and uncited claims are told", async () => {
  const world = makeWorld({
    check: CHECKED,
    propose: { id: "w000000000001", state: "proposed" },
    decide: { id: "w000000000001", state: "applied" },
  });
  const result = await world.call("wiki_propose", PAGE, { colour: "RED", label: "internal" });
  match(result.content, /Written: lease version 1/);
  match(result.content, /1 name lines or bytes that are not there/);
  match(result.content, /uncited: 1 statement:\n- It never ends\./);
  const [, proposed, decided] = world.asked;
  equal(proposed?.body["author"], "task:t000000000001");
  deepEqual([proposed?.body["colour"], proposed?.body["label"]], ["RED", "internal"]);
  deepEqual(decided, {
    op: "decide",
    body: { id: "w000000000001", apply: true, by: "operator" },
  });
});

Deno.test("the same proposal after a crash is not made twice", async () => {
  const same = { id: "w000000000001", state: "applied" };
  const world = makeWorld({ check: { ...CHECKED, same } });
  match((await world.call("wiki_propose", PAGE)).content, /w000000000001/);
  deepEqual(world.asked.map(({ op }) => op), ["check"]);
});

Deno.test("a page that the agent may not see is told of as any that waits for review, and nothing is written", async () => {
  const proposal = { id: "w000000000001", state: "proposed" };
  const hidden = makeWorld({ check: { ...CHECKED, seen: false, found: 3 }, propose: proposal });
  const reviewed = makeWorld({ check: CHECKED, propose: proposal }, { review: ["projectWiki"] });
  const [one, two] = await Promise.all(
    [hidden, reviewed].map((world) => world.call("wiki_propose", PAGE)),
  );
  deepEqual(one, two);
  deepEqual(hidden.asked.map(({ op }) => op), ["check", "propose"]);
});

Deno.test("a conflict names who wrote the version that stands", async () => {
  const world = makeWorld({
    check: CHECKED,
    propose: { id: "w000000000001", state: "proposed" },
    decide: {
      ...{ id: "w000000000001", state: "conflict" },
      conflicts: [{ page: "lease", expected: 0, found: 2, by: "operator", why: "version" }],
    },
  });
  await rejects(
    world.call("wiki_propose", PAGE),
    (error) =>
      error instanceof Fault && error.code === "conflict" &&
      /"lease" is at version 2, by operator, and your base is 0/.test(error.message),
  );
});

Deno.test("a name that leaves the pages is no page's name", () => {
  const world = makeWorld({});
  for (const name of ["../raw/x", "a/b", "a.md", "", " a", "-a"]) {
    let code = "";
    try {
      world.resolve("wiki_propose", { ...PAGE, name });
    } catch (error) {
      code = error instanceof Fault ? error.code : String(error);
    }
    equal(code, "invalidArguments", name);
  }
});

Deno.test("a task that only reads has no tool that writes", () => {
  const names = (memory: Partial<TaskMemory>): readonly string[] =>
    makeWorld({}, memory).bindings.map(({ descriptor }) => descriptor.name);
  const reading = ["wiki_index", "wiki_search", "wiki_read", "wiki_cite"];
  deepEqual(names({ access: "read", user: "read" }), reading);
  deepEqual(names({ access: "read", user: "write" }), [...reading, "memory_note"]);
  deepEqual(names({ access: "propose", user: "none" }), [
    ...reading,
    "wiki_propose",
    "memory_note",
  ]);
});
