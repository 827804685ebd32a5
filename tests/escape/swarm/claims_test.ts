/** Claims of workers: in the kernel's registry, held by tasks, decided by whoever stands above both; nobody has one for ever. */
import assert from "node:assert/strict";
import { part, worker } from "../../../agents/_fixture/resource_world.ts";
import { TaskId } from "../../../contracts/authority/mod.ts";
import { makeMirror } from "../../../swarm/mirror.ts";
import { planOf } from "../../../swarm/plan.ts";
import {
  approving,
  Killed,
  onSwarm,
  REPOSITORY,
  type SwarmRig,
  taskOf,
} from "../../fake/swarm_rig.ts";
import { needs } from "../../needs.ts";

const plan = (issues: readonly object[], limits: object = {}) =>
  planOf(
    { version: 1, issues, limits: { workers: 3, attempts: 5, ...limits } },
    (why) => new Error(why),
  );
const ISSUE = { id: "a", title: "A", paths: ["src/"] };
const works = approving((ask) => ({ files: { [`src/${ask.session}.txt`]: "x" } }));
const MALLORY = TaskId.parse("tmallory00000");

/** A task of somebody else claims the same. */
async function mallory(rig: SwarmRig): Promise<void> {
  const { tasks, resources } = rig.shared;
  const of = [...tasks.values()][0];
  tasks.set(MALLORY, of ?? assert.fail());
  await resources.claim(
    { resource: REPOSITORY, scope: part("src/login"), mode: "exclusive" },
    worker(MALLORY),
  );
}

/** Once the person is asked: the conflict's id. */
async function asked(rig: SwarmRig): Promise<string> {
  for (;;) {
    const open = (await rig.shared.resources.get(REPOSITORY))?.conflicts.find((
      { state, claimant },
    ) =>
      state === "open" && rig.lines.some((line) =>
        line.includes('"kind":"checked"') || line.includes('"kind":"approved"')
      ) && claimant.task !== MALLORY
    );
    if (open !== undefined) return open.id;
    await rig.powers.rest(10);
  }
}

Deno.test("what an issue declares is claimed by its worker's task until it is merged, and then by nobody", async () => {
  if (!needs("git")) return;
  const seen: string[] = [];
  let rig: SwarmRig | undefined;
  await onSwarm({
    plan: plan([{ ...ISSUE, paths: ["src/", "src/deep/x.txt", "notes.md"] }]),
    does: (ask, read) => {
      void rig?.shared.resources.get(REPOSITORY).then((now) =>
        seen.push(
          `${ask.work}: ${
            now?.leases.map(({ scope, owner, mode }) => `${scope} ${mode} ${owner.task}`).join(", ")
          }`,
        )
      );
      return works(ask, read);
    },
  }, async (made) => {
    rig = made;
    const state = await rig.run();
    assert.equal(state.finished?.status, "done");
    const task = state.issues.get("a")?.merged?.task;
    // The author's task is over when its reviewer begins: its claim is not.
    assert(
      seen.includes(`review: src exclusive ${task}, notes.md exclusive ${task}`),
      seen.join("\n"),
    );
    assert.equal(await rig.shared.resources.get(REPOSITORY), undefined);
    const [first] = rig.shared.changes();
    assert.equal(first?.what, "claimed");
  });
});

for (const decision of ["release", "share", "refuse"] as const) {
  Deno.test(`a part that a task from elsewhere has goes to the person, who says ${decision}: nothing is merged before`, async () => {
    if (!needs("git")) return;
    await onSwarm({ plan: plan([ISSUE]), does: works }, async (rig) => {
      await mallory(rig);
      const running = rig.run();
      const conflict = await asked(rig);
      assert(!rig.lines.some((line) => line.includes('"kind":"merged"')));
      const told = await rig.shared.told();
      assert(
        told.some(({ box, message }) =>
          box === "host" && message.kind === "question" && message.id === `${conflict}-decide`
        ),
      );
      const wanted = told.filter(({ box }) => box === `task:${MALLORY}`);
      assert.deepEqual(wanted.map(({ message }) => message.kind).at(0), "resourceEvent");
      const { conflicts = [] } = await rig.shared.resources.get(REPOSITORY) ?? {};
      const found = conflicts.find(({ id }) => id === conflict)?.id;
      await rig.shared.resources.decide(found ?? assert.fail(), decision, "host");
      const state = await running;
      const { status, why = "", contested = [] } = state.issues.get("a") ?? {};
      assert.equal(status, decision === "refuse" ? "conflicted" : "merged", why);
      if (decision === "refuse") assert.match(why, /"src" was left to task tmallory/);
      assert.deepEqual(contested.map(({ holder, scope }) => [holder, scope]).at(0), [
        MALLORY,
        "src",
      ]);
      const left = await rig.shared.resources.get(REPOSITORY);
      assert.deepEqual(
        left?.leases.map(({ owner }) => owner.task) ?? [],
        decision === "release" ? [] : [MALLORY],
      );
    });
  });
}

Deno.test("who holds a part for ever holds it until its time is over: the swarm then goes on by itself", async () => {
  if (!needs("git")) return;
  await onSwarm({ plan: plan([ISSUE]), does: works }, async (rig) => {
    await mallory(rig);
    const running = rig.run();
    await asked(rig);
    rig.shared.powers.turn(900_001);
    const state = await running;
    assert.equal(state.issues.get("a")?.status, "merged");
    assert(rig.shared.changes().some((each) => each.what === "ended" && each.reason === "expired"));
  });
});

Deno.test("a scheduler that was killed leaves claims that its next run takes up, and that end by themselves without one", async () => {
  if (!needs("git")) return;
  const begin = async (
    f: (rig: SwarmRig, lease: string) => Promise<void>,
  ): Promise<void> => {
    let blocked = true;
    await onSwarm({
      plan: plan([ISSUE, { ...ISSUE, id: "b" }]),
      does: (ask, read) => ({ ...works(ask, read), once: () => !blocked }),
    }, async (rig) => {
      const dead = rig.run({ crash: { at: 3, when: "before" } });
      dead.catch(() => undefined);
      const held = async () => (await rig.shared.resources.get(REPOSITORY))?.leases ?? [];
      while ((await held()).length === 0) await rig.powers.rest(10);
      blocked = false;
      await assert.rejects(dead, Killed);
      const [lease] = await held();
      await f(rig, lease?.id ?? "");
    });
  };
  await begin(async (rig, lease) => {
    const state = await rig.run();
    assert.equal(state.finished?.status, "done");
    const changes = rig.shared.changes();
    assert(changes.some((each) => each.what === "renewed" && each.lease === lease));
    // One after the other, as ever.
    const order = rig.lines.map((line) => JSON.parse(line)).filter(({ kind, work }) =>
      kind === "merged" || (kind === "assigned" && work === "author")
    ).map(({ kind, issue }) => `${kind} ${issue}`);
    assert.deepEqual(order, ["assigned a", "merged a", "assigned b", "merged b"]);
  });
  await begin(async (rig) => {
    rig.shared.powers.turn(900_001);
    await rig.shared.told();
    assert.deepEqual((await rig.shared.resources.get(REPOSITORY))?.leases ?? [], []);
  });
});

Deno.test("a conflict reaches the next worker in its inbox, as data in the colour of those who made the file", async () => {
  if (!needs("git")) return;
  let rig: SwarmRig | undefined;
  const merged = (): boolean =>
    rig?.lines.some((line) => line.includes('"kind":"merged"')) ?? false;
  const said: string[] = [];
  await onSwarm({
    plan: plan([{ id: "a", title: "A" }, { id: "b", title: "B" }]),
    does: approving((ask, read) => {
      const files = {
        "phrases.txt": read("phrases.txt").replace(/greeting: .*/, `greeting: ${ask.session}`),
      };
      if (ask.request.includes("Issue a:")) return { files };
      return { files, once: merged };
    }),
  }, async (made) => {
    rig = made;
    const state = await rig.run();
    assert.equal(state.finished?.status, "done");
    const b = state.issues.get("b");
    const second = b?.attempts.filter(({ work }) => work === "author").at(-1);
    const holder = state.issues.get("a")?.merged?.task;
    for (const { box, colour, message } of await rig.shared.told()) {
      if (message.kind !== "reviewFinding") continue;
      said.push(box);
      assert.deepEqual([box, colour], [`task:${second?.task}`, "YELLOW"]);
      const { report } = JSON.parse(message.body);
      assert.deepEqual(
        [report.scope, report.holder.task, report.current.value],
        ["phrases.txt", holder, second?.from],
      );
    }
    assert.equal(said.length, 1);
  });
});

Deno.test("a worker whose part another's merged change touched is told while it works", async () => {
  if (!needs("git")) return;
  let rig: SwarmRig | undefined;
  const merged = (): boolean =>
    rig?.lines.some((line) => line.includes('"kind":"merged"')) ?? false;
  const told = (): boolean =>
    rig?.shared.inbox.list({}).some(({ message }) => message.kind === "reviewFinding") ?? false;
  await onSwarm({
    // a declares one part and changes another.
    plan: plan([{ id: "a", title: "A", paths: ["docs/"] }, ISSUE].map((each, n) => ({
      ...each,
      id: n === 0 ? "a" : "b",
    }))),
    does: approving((ask) =>
      ask.request.includes("Issue a:")
        ? { files: { "src/stray.txt": "x" } }
        : { files: { "src/own.txt": "y" }, once: () => merged() && told() }
    ),
  }, async (made) => {
    rig = made;
    const state = await rig.run();
    assert.equal(state.finished?.status, "done");
    const b = state.issues.get("b")?.merged?.task;
    const found = (await rig.shared.told()).filter(({ message }) =>
      message.kind === "reviewFinding"
    );
    assert.deepEqual(found.map(({ box, colour }) => [box, colour]), [[`task:${b}`, "BLUE"]]);
  });
});

Deno.test("a worker that claims the whole repository for itself holds the others up no longer than its own task", async () => {
  if (!needs("git")) return;
  let rig: SwarmRig | undefined;
  let taken: Promise<unknown> | undefined;
  await onSwarm({
    plan: plan([{ id: "a", title: "A" }, { ...ISSUE, id: "b", after: ["c"] }, {
      id: "c",
      title: "C",
    }]),
    does: approving((ask) => {
      const files = { [`${ask.session}.txt`]: "x" };
      if (!ask.request.includes("Issue a:")) return { files };
      // All of it, for as long as there is.
      taken ??= rig?.shared.resources.claim(
        {
          ...{ resource: REPOSITORY, scope: part(""), mode: "exclusive" },
          until: rig.shared.powers.now() + 3_600_000,
        },
        worker(taskOf(ask.session)),
      );
      return {
        files,
        once: () => rig?.lines.some((line) => /"merged".*"issue":"c"/.test(line)) ?? false,
      };
    }),
  }, async (made) => {
    rig = made;
    const state = await rig.run();
    assert.equal(state.finished?.status, "done");
    assert.deepEqual(await taken, { ...Object(await taken), kind: "held" });
    const kinds = rig.lines.map((line) => JSON.parse(line));
    const at = (kind: string, issue: string): number =>
      kinds.findIndex((each) => each.kind === kind && each.issue === issue);
    const ended = kinds.findIndex(({ kind, attempt }) =>
      kind === "ended" && attempt === state.issues.get("a")?.attempts[0]?.n
    );
    // b could begin once c was merged; a's claim went with a's task, though a's change was not merged yet.
    assert(at("assigned", "b") > ended, rig.lines.join("\n"));
    assert.equal(await rig.shared.resources.get(REPOSITORY), undefined);
  });
});

Deno.test("the process that merges is killed between two merges: the next one merges in another", async () => {
  if (!needs("git")) return;
  await onSwarm({ plan: plan([ISSUE]), does: works }, async ({ mirror, powers, dir }) => {
    let loops = 0;
    const killed = makeMirror({
      ...powers,
      async gitLoop(...asked) {
        const loop = await powers.gitLoop(...asked);
        if (loops++ === 0) await loop.close();
        return loop;
      },
    }, `${dir}/mirror.git`);
    const base = await mirror.tip();
    const { commit, tree } = await mirror.commit(base, {
      ...{ ref: "refs/remit/one", message: "one", at: 0 },
      changes: [{ path: "one", bytes: new TextEncoder().encode("x") }],
    });
    assert.deepEqual(await killed.merge(base, commit), { kind: "merged", tree });
    await killed.close();
    assert.equal(loops, 2);
    await assert.rejects(killed.merge(base, "HEAD; touch /mirror/x"), TypeError);
  });
});
