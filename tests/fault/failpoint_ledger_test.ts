/** kill -9 of the kernel at each point of a call whose effect an outside ledger counts. */
import assert from "node:assert/strict";
import type { Question } from "../../contracts/authority/mod.ts";
import type { FailPoint } from "../../contracts/task/mod.ts";
import { inHome, type KernelHome, type LiveKernel } from "../fake/kernel.ts";
import { type Ledger, ledgerKernel, openLedger } from "./ledger.ts";
import { nothingLost } from "./nothing_lost.ts";

const POINTS = [
  "beforeIntent",
  "afterIntent",
  "beforeOutcome",
  "afterOutcome",
  "beforeAnswer",
  "afterAnswer",
] as const satisfies readonly FailPoint[];

/** Where nobody can know whether the effect happened. */
const IN_DOUBT: ReadonlySet<FailPoint> = new Set(["afterIntent", "beforeOutcome"]);

const scenario = (ledger: string, repeats: boolean): string => `
scenario: post
turns:
  - calls: [{ tool: ledger_post, args: { ledger: "${ledger}", repeats: ${repeats} } }]
  - say: It is posted or not.
`;

interface Crashed {
  readonly home: KernelHome;
  readonly ledger: Ledger;
  readonly asked: Question[];
}

/** Posts under a kernel that dies at `at`, then under one that does not; `decide` answers there. */
async function post(
  how: { readonly at: FailPoint; readonly repeats: boolean },
  decide: (question: Question) => "allow" | "deny",
  check: (crashed: Crashed, next: LiveKernel) => Promise<void> | void,
): Promise<void> {
  await inHome(async (home) => {
    await using ledger = openLedger(`${home.dir}/run/ledger`);
    const doomed = await home.start({ failpoint: { at: how.at } });
    const task = await doomed.run({ scenario: scenario(ledger.socket, how.repeats) });
    const before = await doomed.follow(task, { answer: "allow" });
    assert.equal((await doomed.dies()).signal, "SIGKILL");
    const asked: Question[] = [];
    const next = await home.start();
    const after = await next.follow(task, {
      answer: (question) => {
        asked.push(question);
        return decide(question);
      },
    });
    assert.deepEqual(await after.end, { status: "done", exit: 0 });
    await check({ home, ledger, asked }, next);
    await nothingLost(next, before, doomed.head);
  }, { bundle: await ledgerKernel(), sockets: ["ledger"] });
}

for (const at of POINTS) {
  Deno.test(`a call with a key has one effect when the kernel is killed at ${at}`, async () => {
    await post({ at, repeats: true }, () => "allow", ({ ledger, asked }) => {
      assert.equal(new Set(ledger.posts).size, 1, "the ledger knows the key of a repeated post");
      assert.ok(asked.every(({ kind }) => kind === "consent"));
    });
  });

  Deno.test(`a call without a key has at most one effect when the kernel is killed at ${at}`, async () => {
    const decide = ({ kind }: Question): "allow" | "deny" => kind === "recovery" ? "deny" : "allow";
    await post({ at, repeats: false }, decide, ({ ledger, asked }) => {
      const kinds = asked.map(({ kind }) => kind);
      if (IN_DOUBT.has(at)) {
        assert.deepEqual(kinds, ["recovery"], "a person is asked whether it is to happen");
        assert.equal(ledger.posts.length, at === "afterIntent" ? 0 : 1);
      } else {
        assert.ok(!kinds.includes("recovery"), "nothing is in doubt");
        assert.equal(ledger.posts.length, 1);
      }
    });
  });
}

Deno.test("a call in doubt happens again only because a person said so", async () => {
  await post({ at: "afterIntent", repeats: false }, () => "allow", ({ ledger, asked }) => {
    assert.deepEqual(asked.map(({ kind }) => kind), ["recovery"]);
    assert.equal(ledger.posts.length, 1);
  });
});
