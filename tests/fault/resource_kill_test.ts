/** kill -9 of the kernel while tasks share a repository and a list: claims stand or expire, and nothing is done twice. */
import assert from "node:assert/strict";
import type { TaskId } from "../../contracts/authority/mod.ts";
import { type InboxEntry, InboxEntry as Entry } from "../../contracts/exchange/mod.ts";
import { type FailPoint, SharedResource } from "../../contracts/task/mod.ts";
import type { Told } from "../fake/following.ts";
import { inHome, type LiveKernel } from "../fake/kernel.ts";

const SITE = "gitRepository:site";

/** bob's task claims the login and takes the first item of the list; then it waits for words. */
const BOBS = `
scenario: bob
turns:
  - calls:
      - { tool: resource_claim, args: { resource: "${SITE}", scope: src/login, minutes: 60 } }
      - { tool: task_list, args: { action: add, list: chores, text: Paint the door } }
  - calls: [{ tool: task_list, args: { action: claim, list: chores, item: 1, generation: 1 } }]
  - say: I work on it.
  - say: I heard.
  - say: I heard that, too.
`;

/** carol's task wants the same. */
const CAROLS = `
scenario: carol
turns:
  - calls:
      - { tool: resource_claim, args: { resource: "${SITE}", scope: src } }
      - { tool: task_list, args: { action: claim, list: chores, item: 1, generation: 1 } }
  - say: "{{ tool.resource_claim }}"
  - say: I heard.
  - say: I heard that, too.
`;

async function resources(kernel: LiveKernel): Promise<readonly SharedResource[]> {
  return SharedResource.array().parse(await kernel.ask("resources", { do: "list" }));
}

async function inbox(kernel: LiveKernel, box: string): Promise<readonly InboxEntry[]> {
  return Entry.array().parse(await kernel.ask("inbox", { box }));
}

/** A turn is over, however. */
const rested = ({ event, body, private: secret }: Told): boolean =>
  event === "taskStatus" && (body["failed"] !== undefined || secret?.["answer"] !== undefined);

async function rests(kernel: LiveKernel, task: TaskId): Promise<Told> {
  const told = await (await kernel.follow(task, { answer: "leave" })).first(rested);
  assert.equal(told.body["failed"], undefined, JSON.stringify(told.private));
  return told;
}

Deno.test("after kill -9 a claim stands, a second one goes to the person, and its owner's end frees it", async () => {
  await inHome(async (home) => {
    const first = await home.start();
    const bob = await first.run({ scenario: BOBS, interactive: true });
    await rests(first, bob);
    const before = await resources(first);
    assert.deepEqual(before.map(({ ref, leases }) => [ref, leases.map(({ scope }) => scope)]), [
      [SITE, ["src/login"]],
      ["taskList:chores", ["items/1"]],
    ]);
    await first.kill();

    const next = await home.start();
    assert.deepEqual(await resources(next), before);
    const carol = await next.run({ scenario: CAROLS, interactive: true });
    const told = await rests(next, carol);
    assert.match(String(told.private?.["answer"]), new RegExp(`"task":"${bob}"`));
    const [site] = await resources(next);
    const open = site?.conflicts.filter(({ state }) => state === "open") ?? [];
    assert.deepEqual(
      open.map(({ holder, claimant, supervisor }) => [holder?.task, claimant.task, supervisor]),
      [
        [bob, carol, "host"],
      ],
    );
    let asked: InboxEntry | undefined;
    // Told once the conflict is durable.
    while (asked === undefined) [asked] = await inbox(next, "host");
    assert.deepEqual([asked?.message.kind, asked?.message.sender], ["question", "resource:site"]);
    await next.kill();

    const third = await home.start();
    assert.equal(
      (await inbox(third, "host")).filter(({ message }) => message.sender === "resource:site")
        .length,
      1,
    );
    const decided = await third.ask("resources", {
      do: "decide",
      conflict: open[0]?.id,
      decision: "share",
    });
    assert.equal((decided as { state?: string }).state, "decided");
    await third.ask("cancel", { task: bob });
    // The end of a task is told before what it had is free.
    let left: readonly SharedResource[] = [];
    do left = await resources(third); while (
      left.some(({ leases }) => leases.some(({ owner }) => owner.task === bob))
    );
    assert.deepEqual(
      left.flatMap(({ leases }) => leases.map(({ owner, mode }) => [owner.task, mode])),
      [
        [carol, "shared"],
      ],
    );
    const [item] = left.flatMap(({ items }) => items);
    assert.deepEqual([item?.state, item?.generation], ["open", 3], "its item is anybody's again");
    assert.deepEqual((await third.ask("auditVerify", {}) as { ok?: unknown }).ok, true);
    await third.stop();
  });
});

const POINTS = ["beforeOutcome", "afterOutcome"] as const satisfies readonly FailPoint[];

for (const at of POINTS) {
  for (const after of [1, 2, 3]) {
    Deno.test(`killed at ${at} of call ${after}: one claim, one item, one worker`, async () => {
      await inHome(async (home) => {
        const doomed = await home.start({ failpoint: { at, after } });
        const bob = await doomed.run({ scenario: BOBS, interactive: true });
        assert.equal((await doomed.dies()).signal, "SIGKILL");
        const next = await home.start();
        await rests(next, bob);
        const all = await resources(next);
        assert.deepEqual(all.map(({ leases, items }) => [leases.length, items.length]), [[1, 0], [
          1,
          1,
        ]]);
        assert.deepEqual((await next.ask("auditVerify", {}) as { ok?: unknown }).ok, true);
        await next.stop();
      });
    });
  }
}
