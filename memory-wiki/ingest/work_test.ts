import assert from "node:assert/strict";
import type { WorkItem } from "../../contracts/wire/wire_wiki.ts";
import { makeFolders, openFolders, refusal, takeIn } from "../_fixture/opened_wiki.ts";
import {
  answerAll,
  apply,
  BROKER,
  everyClaimHolds,
  honest,
  LEASE,
  plan,
} from "./_fixture/scripted_reader.ts";

Deno.test("an answer that does not hold is asked for once more with what is wrong, then only what holds is taken", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  await takeIn(wiki, folders, { "lease.md": LEASE });
  const { run } = await wiki.ask("workPlan", plan);
  const liar = (item: WorkItem): string => {
    const answer = JSON.parse(honest(item, []));
    answer.claims[0].text = "A lease is a right that ends after 99 seconds.";
    return JSON.stringify(answer);
  };
  const first: WorkItem = await wiki.ask("workNext", { run });
  assert.doesNotMatch(first.user, /was not taken/);
  const taken = await wiki.ask("workTaken", { run, item: first.id, text: liar(first) });
  assert.deepEqual(taken, {
    ok: false,
    problems: ["claims[0]: lines 3-3: the number 99 does not stand there"],
  });
  const second: WorkItem = await wiki.ask("workNext", { run });
  assert.equal(second.id, first.id);
  assert.match(second.user, /was not taken[^]*the number 99 does not stand there/);
  await wiki.ask("workTaken", { run, item: second.id, text: liar(second) });
  assert.equal(await wiki.ask("workNext", { run }), null);
  const { patch, left } = await wiki.ask("workFinish", { run, by: "carol" });
  assert.equal(left.length, 1);
  assert.match(left[0], /lines 1-5: claims\[0\]: lines 3-3: the number 99 does not stand there$/);
  await apply(wiki, patch.id);
  assert.equal(await everyClaimHolds(wiki, folders), 1);
});

Deno.test("a run that was stopped goes on in the next process, and asks nothing twice", async () => {
  await using folders = await makeFolders();
  const first = await openFolders(folders);
  await takeIn(first, folders, { "lease.md": LEASE, "broker.md": BROKER });
  const { run } = await first.ask("workPlan", plan);
  const item: WorkItem = await first.ask("workNext", { run });
  await first.ask("workTaken", { run, item: item.id, text: honest(item, []) });
  // Only what is answered whole is in the patch of an unfinished run.
  const early = await first.ask("workFinish", { run, by: "carol" });
  assert.equal(early.patch.changes.length, 1);
  const same = await first.ask("workFinish", { run, by: "carol" });
  assert.equal(same.patch.id, early.patch.id);
  assert.equal((await first.ask("patches", {})).length, 1);
  const second = await openFolders(folders);
  const planned = await second.ask("workPlan", plan);
  assert.deepEqual([planned.sources, planned.items, planned.done], [1, 1, 0]);
  assert.equal(await answerAll(second, planned.run, (each) => honest(each, [])), 1);
  assert.equal(
    (await second.ask("workFinish", { run: planned.run, by: "carol" })).patch.changes.length,
    1,
  );
});

Deno.test("a source for which a model only babbles is told, and asked again by the next run", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  await takeIn(wiki, folders, { "lease.md": LEASE, "broker.md": BROKER });
  const { run } = await wiki.ask("workPlan", plan);
  const asked = await answerAll(
    wiki,
    run,
    (item) => item.user.includes("decides each call") ? "I like this source." : honest(item, []),
  );
  assert.equal(asked, 3);
  const { patch, left } = await wiki.ask("workFinish", { run, by: "carol" });
  assert.equal(patch.changes.length, 1);
  assert.match(left.join(), /raw\/broker\..* lines 1-3: /);
  const next = await wiki.ask("workPlan", plan);
  assert.deepEqual([next.sources, next.items, next.done], [1, 1, 0]);
  assert.equal(await answerAll(wiki, next.run, (item) => honest(item, [])), 1);
});

Deno.test("answers to what was not asked, and a context that holds nothing, are refused", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  await takeIn(wiki, folders, { "lease.md": LEASE });
  const none = { run: "0".repeat(16), item: "0".repeat(24), text: "{}" };
  assert.equal((await refusal(wiki.ask("workTaken", none))).code, "notFound");
  assert.equal((await refusal(wiki.ask("workNext", { run: none.run }))).code, "notFound");
  const { run } = await wiki.ask("workPlan", plan);
  assert.equal((await refusal(wiki.ask("workTaken", { ...none, run }))).code, "notFound");
  const small = await refusal(wiki.ask("workPlan", { ...plan, contextTokens: 2_000 }));
  assert.equal(small.code, "contextOverflow");
});

Deno.test("a model is asked of what was named alone: one source, or all beneath a folder", async () => {
  await using folders = await makeFolders();
  const wiki = await openFolders(folders);
  await takeIn(wiki, folders, {
    "a-lease.md": LEASE,
    "a-broker.md": BROKER,
    "b.md": "# Gate\n",
  });
  const key = `file:${folders.files}/a-lease.md`;
  const of = async (keys: readonly string[], prefixes: readonly string[]) =>
    (await wiki.ask("workPlan", { ...plan, of: { keys, prefixes } })).sources;
  assert.equal(await of([key], []), 1);
  assert.equal(await of([], [key.replace("lease.md", "")]), 2);
  assert.equal(await of([key.slice(0, -1)], []), 0);
  const { run } = await wiki.ask("workPlan", { ...plan, of: { keys: [key], prefixes: [] } });
  assert.equal(await answerAll(wiki, run, (each) => honest(each, [])), 1);
  await wiki.ask("workFinish", { run, by: "carol" });
  assert.equal((await wiki.ask("workPlan", plan)).sources, 2);
});
