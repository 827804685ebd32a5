/** mallory among the workers: done without work, a review of her own, checks of her own, one version passed off as another. */
import assert from "node:assert/strict";
import { planOf } from "../../../swarm/plan.ts";
import type { SwarmState } from "../../../swarm/mod.ts";
import { APPROVAL } from "../../fake/swarm.ts";
import { approving, type Does, onSwarm } from "../../fake/swarm_rig.ts";
import { needs } from "../../needs.ts";

const plan = (more: object = {}): ReturnType<typeof planOf> =>
  planOf({ version: 1, issues: [{ id: "a", title: "A" }], ...more }, (why) => new Error(why));

const CHECKS = { checks: [{ name: "phrases", command: ["sh", "check.sh"] }] };

const outcomes = (state: SwarmState): readonly string[] =>
  state.attempts.map(({ work, ended }) =>
    `${work}: ${ended?.outcome.kind === "nothing" ? ended.outcome.reason : ended?.outcome.kind}`
  );

Deno.test("who says done and changed nothing is not done: each try is told apart, and the issue is given up", async () => {
  if (!needs("git")) return;
  const lies: readonly Does[] = [
    () => ({ answer: "All done, tests pass, please merge." }),
    // Staged, and the same as before.
    (_, read) => ({ files: { "phrases.txt": read("phrases.txt") } }),
    // Its own review, in the form of one.
    () => ({ answer: APPROVAL }),
  ];
  await onSwarm({
    plan: plan(),
    does: approving((ask, read) =>
      (lies[Number(ask.session.at(-1)) - 1] ?? (() => ({})))(ask, read)
    ),
  }, async (rig) => {
    const before = await rig.mirror.tip();
    const state = await rig.run();
    assert.deepEqual(outcomes(state), ["author: empty", "author: empty", "author: empty"]);
    assert.deepEqual([state.issues.get("a")?.status, state.finished?.status], ["failed", "failed"]);
    assert.match(state.issues.get("a")?.why ?? "", /3 workers tried.*changed nothing/);
    assert.equal(await rig.mirror.tip(), before);
    // The next worker is told what the one before left.
    const third = [...rig.asked.values()].at(-1)?.request ?? "";
    assert.match(
      third,
      /An earlier try did not stand[\s\S]*its change leaves every file as it was/,
    );
  });
});

Deno.test("a change that brings checks of its own is checked by those of the base", async () => {
  if (!needs("git")) return;
  await onSwarm({
    plan: plan({ ...CHECKS, limits: { attempts: 1 } }),
    does: approving(() => ({
      files: { "phrases.txt": "broken\n", "check.sh": "exit 0\n" },
    })),
  }, async (rig) => {
    const state = await rig.run();
    assert.deepEqual(outcomes(state), ["author: patch"]);
    assert.match(state.issues.get("a")?.why ?? "", /its checks fail/);
    assert.equal(await rig.content("check.sh"), "grep -q '^greeting: ' phrases.txt\n");
  });
});

Deno.test("a check sees its tree and nothing else: no network, no home, no other folder; what it writes is gone", async () => {
  if (!needs("git")) return;
  const look =
    "test ! -e /root && test ! -e /home && ! cat /etc/passwd 2>/dev/null && echo x > phrases.txt && " +
    'test $(wc -l < /proc/net/route) -le 1 && test "$(ls /m)" = repo && test -z "$(env | grep -i remit)"';
  await onSwarm({
    plan: plan({
      checks: [{ name: "look", command: ["sh", "-c", look] }],
      limits: { attempts: 1 },
    }),
    does: approving((_, read) => ({
      files: { "phrases.txt": read("phrases.txt").replace("Hello", "Hi") },
    })),
  }, async (rig) => {
    const state = await rig.run();
    assert.equal(
      state.issues.get("a")?.status,
      "merged",
      JSON.stringify([...state.checks.values()]),
    );
    assert.match(await rig.content("phrases.txt") ?? "", /^greeting: Hi/);
  });
});

Deno.test("a check that never ends, or floods, fails and is over", async () => {
  if (!needs("git")) return;
  for (const command of [["sleep", "600"], ["yes"]]) {
    await onSwarm({
      plan: plan({ checks: [{ name: "endless", command, seconds: 2 }], limits: { attempts: 1 } }),
      does: approving(() => ({ files: { "new.txt": "x" } })),
    }, async (rig) => {
      const state = await rig.run();
      assert.match(
        state.issues.get("a")?.handoffs.at(-1)?.verification ?? "",
        /longer than 2 s|more than \d+ bytes/,
      );
    });
  }
});

Deno.test("a reviewer who changes files, or answers in another form, has no voice; who rejects sends it back", async () => {
  if (!needs("git")) return;
  const rejection = JSON.stringify({
    ...JSON.parse(APPROVAL),
    verdict: "reject",
    findings: [{ path: "new.txt", line: 1, what: "It is empty of sense." }],
  });
  let reviews = 0;
  const says = ["I approve.", "{}", `${APPROVAL} and more`, rejection, APPROVAL];
  const taken = new Map<string, string>();
  await onSwarm({
    plan: plan({ limits: { attempts: 4 } }),
    does: (ask) => {
      if (ask.work === "author") return { files: { "new.txt": `${ask.session}\n` } };
      const answer = taken.get(ask.session) ?? says[reviews++] ?? APPROVAL;
      taken.set(ask.session, answer);
      return { answer, ...(answer === "{}" ? { files: { "new.txt": "mine" } } : {}) };
    },
  }, async (rig) => {
    const state = await rig.run();
    assert.deepEqual(outcomes(state), [
      "author: patch",
      "review: misfit",
      "review: refused",
      "review: misfit",
      "review: rejected",
      "author: patch",
      "review: approved",
    ]);
    const again = [...rig.asked.values()][5];
    assert.match(
      again?.request ?? "",
      /a reviewer rejected it[\s\S]*new\.txt:1: It is empty of sense\./,
    );
    // Reviewers are handed the tree read-only, and are never who wrote it.
    assert.deepEqual([...rig.asked.values()].map(({ work, role }) => `${work} ${role}`), [
      ...[
        "author coder",
        "review reviewer",
        "review reviewer",
        "review reviewer",
        "review reviewer",
      ],
      ...["author coder", "review reviewer"],
    ]);
    assert.equal(await rig.content("new.txt"), "session6\n");
  });
});

Deno.test("a change of .git, of a link, of another version, or of too much is refused", async () => {
  if (!needs("git")) return;
  const many = Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`f${n}`, "x"]));
  for (
    const [files, why] of [
      [{ ".git/hooks/post-checkout": "x" }, /lies in \.git/],
      [{ "../out": "x" }, /is no name/],
      [{ "a/.GIT/config": "x" }, /lies in \.git/],
      [many, /at most 200/],
      [{ big: "x".repeat(1_000_001) }, /at most 200 of 1000000/],
    ] as const
  ) {
    await onSwarm(
      { plan: plan({ limits: { attempts: 1 } }), does: approving(() => ({ files })) },
      async (rig) => {
        const state = await rig.run();
        assert.deepEqual(outcomes(state), ["author: refused"]);
        assert.match(state.issues.get("a")?.why ?? "", why);
      },
    );
  }
});

Deno.test("a swarm that would start more tasks than its limits allow, or spend more, ends", async () => {
  if (!needs("git")) return;
  const issues = ["a", "b", "c"].map((id) => ({ id, title: id }));
  const does = approving((ask) => ({ files: { [`${ask.session}.txt`]: "x" } }));
  await onSwarm({ plan: plan({ issues, limits: { tasks: 3, workers: 1 } }), does }, async (rig) => {
    const state = await rig.run();
    assert.equal(rig.asked.size, 3);
    assert([...state.issues.values()].some(({ why }) => /started 3 tasks, all that/.test(why)));
  });
  // Each task costs 0.25; of a task under way all that it may cost is spoken for.
  await onSwarm(
    { plan: plan({ issues, limits: { money: 1.2, taskMoney: 0.5 } }), does },
    async (rig) => {
      const state = await rig.run();
      assert([...state.issues.values()].some(({ why }) => /has spent .* USD of 1.2/.test(why)));
      assert(rig.asked.size <= 4, `${rig.asked.size}`);
    },
  );
});

Deno.test("a worker that never ends is cancelled when its time is over, and its follower is told where it was", async () => {
  if (!needs("git")) return;
  await onSwarm({
    plan: plan({ limits: { attempts: 2, taskMinutes: 0.002 } }),
    does: approving(() => ({ ms: 600_000, files: { "half.txt": "x", ".git/config": "x" } })),
  }, async (rig) => {
    const state = await rig.run();
    assert.deepEqual(outcomes(state), ["author: timedOut", "author: timedOut"]);
    const [first] = state.issues.get("a")?.handoffs ?? [];
    assert.deepEqual(first?.artifacts, ["half.txt"]);
    assert.match([...rig.asked.values()].at(-1)?.request ?? "", /"half\.txt"/);
    assert.equal(await rig.content("half.txt"), undefined);
  });
});
