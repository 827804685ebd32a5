import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { TaskId } from "../../contracts/authority/mod.ts";
import { Fault, type JsonObject } from "../../contracts/base/mod.ts";
import { AgentTask, type DocumentRow, type NewEvent } from "../../contracts/task/mod.ts";
import { DEFAULT_LIMITS } from "../../contracts/task/budget.ts";
import { makeWorkspaces } from "./workspaces.ts";

const NOON = Date.UTC(2026, 10, 27, 12), DAY = 86_400_000;
const id = (n: number): TaskId => TaskId.parse(`t00000000000${n}`);

function taskOf(n: number, more: Partial<AgentTask> = {}): AgentTask {
  return AgentTask.parse({
    ...{
      id: id(n),
      session: "s000000000001",

      request: "Count",
      profile: "operator",
    },
    ...{ objective: "Count", phase: "work", status: "done", mounts: [], limits: DEFAULT_LIMITS },
    ...{ model: "m", harness: "h" },
    ingress: { channel: "terminal", principal: "alice", colour: "BLUE", label: "public" },
    ...{ colour: "YELLOW", label: "internal", questions: [], artifacts: [], applied: [] },
    ...{ createdAt: 0, updatedAt: 0, archived: false, purged: false, ...more },
  });
}

/** Tasks with scratch of one file each, under a hand-turned clock. */
function world(tasks: readonly AgentTask[]) {
  let now = NOON;
  const documents = new Map<string, DocumentRow>();
  const scratch = new Map(tasks.map((task) => [`/work/${task.id}/scratch`, ["found.txt"]]));
  const events: { task: string; event: NewEvent }[] = [];
  const asked = new Set<TaskId>(), named = new Set<TaskId>();
  const removed: string[] = [];
  const records: JsonObject[] = [];
  let dies = false;
  const put = (kind: string, task: string, body: DocumentRow["body"]): void => {
    const version = (documents.get(`${kind} ${task}`)?.version ?? 0) + 1;
    documents.set(`${kind} ${task}`, { kind, id: task, task, version, body });
  };
  for (const task of tasks) put("task", task.id, JSON.parse(JSON.stringify(task)));
  const make = () =>
    makeWorkspaces({
      store: { document: (kind, key) => Promise.resolve(documents.get(`${kind} ${key}`)) },
      log: {
        append(task, more, written = []) {
          for (const { kind, id, expect, body } of written) {
            equal(documents.get(`${kind} ${id}`)?.version ?? 0, expect);
            put(kind, id, body);
          }
          events.push(...more.map((event) => ({ task, event })));
          return Promise.resolve([]);
        },
      },
      powers: { now: () => now, after: () => () => undefined },
      work: "/work",
      disk: {
        list: (path) =>
          Promise.resolve(
            path === "/work" ? tasks.map((task) => task.id) : scratch.get(path) ?? [],
          ),
        weigh: (path) => Promise.resolve({ files: (scratch.get(path) ?? []).length, bytes: 7 }),
        remove(path) {
          if (dies) return Promise.reject(new Error("the kernel was killed"));
          scratch.delete(path);
          removed.push(path);
          return Promise.resolve();
        },
      },
      records: () => Promise.resolve(records),
      ahead: () => 0,
      named: (task) => named.has(task),
      asks: (task) => asked.has(task),
      note: () => undefined,
    });
  return {
    ...{ workspaces: make(), make, events, asked, named, removed, records, scratch },
    pass: (days: number): void => void (now += days * DAY),
    die: (does: boolean): void => void (dies = does),
  };
}

const states = (events: readonly { readonly event: NewEvent }[]): readonly unknown[] =>
  events.map(({ event }) => event.body["state"]);

Deno.test("scratch of an old state stays for 30 days, is warned of three days before, and then goes with an event", async () => {
  // It ended in 1970: what counts is when a kernel first looked.
  const { workspaces, pass, events, removed } = world([taskOf(1)]);
  await workspaces.sweep();
  deepEqual((await workspaces.list()).map(({ expiresAt, warned }) => [expiresAt, warned]), [
    [NOON + 30 * DAY, false],
  ]);
  pass(26);
  await workspaces.sweep();
  deepEqual(states(events), []);
  pass(1);
  await workspaces.sweep();
  deepEqual(states(events), ["warned"]);
  pass(2);
  await workspaces.sweep();
  deepEqual(removed, []);
  pass(1);
  await workspaces.sweep();
  deepEqual(states(events), ["warned", "expired"]);
  deepEqual(removed, [`/work/${id(1)}/scratch`]);
  deepEqual(await workspaces.list(), []);
});

Deno.test("a machine that was off for a year warns first and takes nothing for three days more", async () => {
  const { workspaces, pass, removed, events } = world([taskOf(1)]);
  await workspaces.sweep();
  pass(365);
  await workspaces.sweep();
  await workspaces.sweep();
  deepEqual(states(events), ["warned"]);
  pass(2.9);
  await workspaces.sweep();
  deepEqual(removed, []);
  pass(0.1);
  await workspaces.sweep();
  equal(removed.length, 1);
});

Deno.test("what runs, waits for an answer, can be resumed or has a name is not looked at, however old it is", async () => {
  const { workspaces, pass, removed, events, asked, named } = world([
    taskOf(1, { status: "open" }),
    taskOf(2, { status: "needsApproval" }),
    taskOf(3, { status: "reviewing" }),
    taskOf(4, { status: "failed", exit: 67 }),
    taskOf(5),
    taskOf(6),
  ]);
  asked.add(id(5));
  named.add(id(6));
  for (let day = 0; day < 100; day += 10) {
    await workspaces.sweep();
    pass(10);
  }
  deepEqual([removed, events], [[], []]);
  // It was answered, and its clock begins then.
  asked.delete(id(5));
  await workspaces.sweep();
  deepEqual((await workspaces.list()).map(({ task }) => task), [id(5)]);
});

Deno.test("what a person keeps stays until it is released, and then for 30 days more with a warning of its own", async () => {
  const { workspaces, pass, removed, events } = world([taskOf(1)]);
  await workspaces.sweep();
  pass(28);
  await workspaces.sweep();
  await workspaces.decide(id(1), "keep");
  pass(400);
  await workspaces.sweep();
  deepEqual((await workspaces.list()).map(({ expiresAt }) => expiresAt), [undefined]);
  await workspaces.decide(id(1), "release");
  pass(5);
  await workspaces.sweep();
  deepEqual(removed, []);
  deepEqual(states(events), ["warned", "keep", "release"]);
  pass(23);
  await workspaces.sweep();
  pass(3);
  await workspaces.sweep();
  deepEqual(states(events), ["warned", "keep", "release", "warned", "expired"]);
});

Deno.test("killed between the word and the act, the next kernel does what was said, and says it once", async () => {
  const { workspaces, make, pass, removed, events, die } = world([taskOf(1)]);
  await workspaces.sweep();
  pass(28);
  await workspaces.sweep();
  pass(3);
  die(true);
  await workspaces.sweep();
  deepEqual(removed, []);
  die(false);
  await make().sweep();
  equal(removed.length, 1);
  deepEqual(states(events), ["warned", "expired"]);
});

Deno.test("a person's word about what is not there is refused with what it is", async () => {
  const { workspaces, pass } = world([taskOf(1)]);
  await rejects(workspaces.decide(id(9), "keep"), (error) => {
    ok(error instanceof Fault && error.code === "notFound");
    return true;
  });
  await workspaces.sweep();
  for (const days of [28, 3]) {
    pass(days);
    await workspaces.sweep();
  }
  await rejects(workspaces.decide(id(1), "keep"), /it holds no file/);
});

Deno.test("scratch is listed by the names of the log with each file's own colour, as it was written last, and what is gone is not listed", async () => {
  const { workspaces, records, scratch } = world([taskOf(1)]);
  const [old, now, gone] = ["a", "b", "c"].map((letter) => letter.repeat(64));
  const wrote = (path: string, next: string | undefined, colour: string) => ({
    scratch: [{ path: `scratch/${path}`, next: next ?? "", bytes: 3, colour, label: "internal" }],
  });
  records.push(
    wrote("deep/note.md", old, "YELLOW"),
    { staged: [] },
    wrote("deep/note.md", now, "RED"),
    wrote("lost.md", gone, "YELLOW"),
  );
  scratch.set(`/work/${id(1)}/scratch`, [old ?? "", now ?? ""]);
  deepEqual(await workspaces.files(id(1)), [{
    ...{ path: "deep/note.md", file: `/work/${id(1)}/scratch/${now}`, bytes: 3 },
    ...{ colour: "RED", label: "internal" },
  }]);
});
