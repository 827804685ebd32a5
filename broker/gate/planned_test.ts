/** A planned task calls what its plan says: mallory has the process that runs the program, and asks the gate for more. */
import { deepEqual, equal, match } from "node:assert/strict";
import type { HeldPlan, PlanSite, PlanTemplate } from "../../contracts/authority/plan.ts";
import { Pid, ToolName } from "../../contracts/authority/mod.ts";
import type { JsonObject } from "../../contracts/base/mod.ts";
import type { PolicySource } from "../../contracts/policy/mod.ts";
import type { EffectClass } from "../../contracts/authority/mod.ts";
import { sha256Hex } from "../../port/digest.ts";
import { makeRow } from "../_fixture/fake_processes.ts";
import { makeWorld, type World } from "../_fixture/world.ts";
import { descriptorDigest } from "../guards.ts";
import { Digest } from "../../contracts/authority/ids.ts";
import { makePlans, type Plans } from "../plans.ts";

const PROGRAM = sha256Hex("the program");
const READ = {
  name: "mails",
  effect: "read",
  invoke: () => Promise.resolve({ content: "[]", colour: "RED" as const }),
} as const;
const SINK = { destination: "https://bank.example", clearance: "internal" as const };

interface Planned {
  readonly plans: Plans;
  readonly world: World;
  /** Takes the plan, with carol's yes. */
  take(): Promise<void>;
}

async function planned(
  {
    effect = "outboundWrite",
    becomes = "covered",
    atMost = 1,
    template,
    policy,
    resolved = {},
    flagged = false,
  }: {
    readonly effect?: EffectClass;
    readonly becomes?: PlanSite["becomes"];
    readonly atMost?: number;
    readonly template?: PlanTemplate;
    readonly policy?: Partial<PolicySource>;
    readonly resolved?: JsonObject;
    readonly flagged?: boolean;
  } = {},
): Promise<Planned> {
  const plans = makePlans();
  const rules = [{ tool: "send", mode: "consent", at: "test:1" }] as const;
  const flag = { raises: "consent", rule: "guard: alarm", advice: "It looks wrong." } as const;
  const world = await makeWorld({
    ...{ plans, policy: { rules: [...rules], ...policy } },
    flags: (_process, { tool }) => Promise.resolve(flagged && tool === "send" ? [flag] : []),
  });
  plans.begin(world.alice.task, []);
  const read = world.add(READ);
  const send = world.add({ name: "send", effect, resolve: () => ({ ...SINK, ...resolved }) });
  world.add({ name: "other", effect: "read" });
  const site = (n: number, name: string, more: Partial<PlanSite>): PlanSite => ({
    ...{
      site: n,
      tool: ToolName.parse(name),
      atMost: 1,
      becomes: "passes",
      under: [],
      arguments: [],
    },
    descriptor: descriptorDigest((name === "mails" ? read : send).descriptor),
    ...more,
  });
  const plan: HeldPlan = {
    program: PROGRAM,
    sites: [site(1, "mails", {}), site(2, "send", { becomes, atMost, under: [1] })],
    templates: [
      { record: {} },
      template ?? { record: { to: { literal: "bob@x" }, text: { from: [1] } } },
    ],
  };
  world.add({ name: "plan_run", effect: "read", resolve: () => ({ plan, idempotent: true }) });
  return {
    world,
    plans,
    async take(): Promise<void> {
      const taking = world.call("plan_run", {}, { id: "model-1" });
      const asked = await world.openQuestion();
      deepEqual(asked.plan, { program: PROGRAM, sites: plan.sites });
      equal(asked.remember, undefined);
      await world.answer();
      equal((await taking).outcome, "ok");
    },
  };
}

const BOB = { to: "bob@x", text: "hi" };
const why = async (of: ReturnType<World["call"]>): Promise<string> => {
  const { outcome, error } = await of;
  equal(outcome, "refusedByPolicy");
  return error ?? "";
};

Deno.test("one yes answers for the calls of a program, also once strangers' text was read", async () => {
  const { world, take } = await planned({ atMost: 2 });
  await take();
  await world.call("mails", {}, { id: "plan-1-1-1" });
  world.processes.taint(world.alice.pid, { colour: "RED", label: "public", sources: [] });
  for (const nth of [1, 2]) {
    const { outcome } = await world.call("send", { to: "bob@x", text: `mail ${nth}` }, {
      id: `plan-1-2-${nth}`,
    });
    equal(outcome, "ok");
  }
  deepEqual(world.effects, ["plan_run", "mails", "send", "send"]);
  const kinds = world.log.events.map(({ kind }) => kind);
  equal(kinds.filter((kind) => kind === "questionAsked").length, 1);
  const taken = world.log.events.find(({ kind }) => kind === "planTaken");
  deepEqual([taken?.body["program"], taken?.body["sites"]], [PROGRAM, 2]);
  const intents = world.log.events.filter(({ kind, body }) =>
    kind === "intent" && body["tool"] === "send"
  );
  deepEqual(
    intents.map(({ body }) => [body["decision"], body["question"]]),
    intents.map(() => ["reused", taken?.body["question"]]),
  );
});

Deno.test("a call that is not in the plan is refused, whoever asks and under whatever name", async () => {
  const { world, take } = await planned();
  // Before there is a plan.
  match(await why(world.call("send", BOB, { id: "plan-1-2-1" })), /only the calls of its program/);
  await take();
  const refusals: readonly (readonly [string, JsonObject, string, RegExp])[] = [
    ["send", BOB, "c1", /only the calls of its program/],
    ["other", {}, "c2", /only the calls of its program/],
    ["other", {}, "plan-1-2-1", /call 2 of the program is of send/],
    ["send", BOB, "plan-1-1-1", /call 1 of the program is of mails/],
    ["send", BOB, "plan-1-3-1", /only the calls of its program/],
    ["send", BOB, "plan-1-0-1", /only the calls of its program/],
    ["send", BOB, "plan-1-2-2", /at most 1 times/],
    ["send", BOB, "plan-1-2-0", /at most 1 times/],
  ];
  for (const [tool, args, id, wanted] of refusals) {
    match(await why(world.call(tool, args, { id })), wanted, id);
  }
  deepEqual(world.effects, ["plan_run"]);
});

Deno.test("mallory's interpreter says another recipient, another amount, one argument more: the text's own values hold", async () => {
  const { world, take } = await planned({
    template: {
      record: {
        to: { literal: "bob@x" },
        amount: { literal: 5 },
        list: { list: [{ literal: "a" }, { from: [1] }] },
        deep: { record: { fixed: { literal: null }, free: { from: [1] } } },
        text: { from: [1] },
      },
    },
  });
  await take();
  const good = {
    to: "bob@x",
    amount: 5,
    list: ["a", 1],
    deep: { fixed: null, free: [1] },
    text: { any: "thing" },
  };
  const wrong: readonly (readonly [JsonObject, RegExp])[] = [
    [{ ...good, to: "eve@x" }, /something else for "to"/],
    [{ ...good, to: ["bob@x"] }, /"to"/],
    [{ ...good, amount: "5" }, /"amount"/],
    [{ ...good, amount: 5.1 }, /"amount"/],
    [{ ...good, cc: "eve@x" }, /"cc"/],
    [{ ...good, list: ["a", 1, "eve@x"] }, /"list"/],
    [{ ...good, list: ["b", 1] }, /"list.0"/],
    [{ ...good, list: "a" }, /"list"/],
    [{ ...good, deep: { fixed: 0, free: 1 } }, /"deep.fixed"/],
    [{ ...good, deep: { free: 1 } }, /"deep.fixed"/],
    [{ ...good, deep: { fixed: null, free: 1, more: 1 } }, /"deep.more"/],
    [{ amount: 5, list: ["a", 1], deep: good.deep, text: "x" }, /"to"/],
  ];
  for (const [args, wanted] of wrong) {
    match(await why(world.call("send", args, { id: "plan-1-2-1" })), wanted);
  }
  equal((await world.call("send", good, { id: "plan-1-2-1" })).outcome, "ok");
  // What acted once does not act again with other arguments in its place.
  const again = { ...good, text: "other" };
  match(
    await why(world.call("send", again, { id: "plan-1-2-1" })),
    /was made with other arguments/,
  );
  deepEqual(world.effects, ["plan_run", "send"]);
});

Deno.test("mallory's model runs its program twice: what acted does not act again", async () => {
  const { world, take } = await planned({ atMost: 2 });
  await take();
  equal((await world.call("send", BOB, { id: "plan-1-2-1" })).outcome, "ok");
  match(await why(world.call("send", BOB, { id: "plan-2-2-1" })), /was made already/);
  equal((await world.call("send", BOB, { id: "plan-1-2-1" })).outcome, "ok");
  deepEqual(world.effects, ["plan_run", "send"]);
});

Deno.test("mallory's worker makes five calls at once in one place: one acts", async () => {
  const { world, take } = await planned({ atMost: 1 });
  await take();
  const made = await Promise.all(
    [1, 2, 3, 4, 5].map((run) =>
      world.call("send", { to: "bob@x", text: `mail ${run}` }, { id: `plan-${run}-2-1` })
    ),
  );
  deepEqual(made.map(({ outcome }) => outcome === "ok").filter(Boolean).length, 1);
  deepEqual(world.effects, ["plan_run", "send"]);
});

Deno.test("what a program did under an earlier kernel holds its place", async () => {
  const { world, take, plans } = await planned({ atMost: 2 });
  plans.begin(world.alice.task, [PROGRAM], [{
    callId: "plan-1-2-1",
    argumentsHash: Digest.parse("a".repeat(64)),
  }]);
  await take();
  match(await why(world.call("send", BOB, { id: "plan-1-2-1" })), /made with other arguments/);
  match(await why(world.call("send", BOB, { id: "plan-3-2-1" })), /made with other arguments/);
  equal((await world.call("send", BOB, { id: "plan-1-2-2" })).outcome, "ok");
});

Deno.test("what is grave, is told above its clearance or was taken back asks as always", async () => {
  const asks = async (
    given: Parameters<typeof planned>[0],
    before?: (world: World) => void,
  ): Promise<string> => {
    const { world, take } = await planned(given);
    await take();
    before?.(world);
    const calling = world.call("send", BOB, { id: "plan-1-2-1" });
    const { kind } = await world.openQuestion();
    await world.answer({ decision: "deny" });
    equal(
      (await calling).outcome === "deniedByUser" || (await calling).outcome === "stepUpFailed",
      true,
    );
    return kind;
  };
  equal(await asks({ effect: "destructive", policy: { rules: [] } }), "stepUp");
  // Also where a rule of the operator's makes it consent.
  equal(await asks({ effect: "destructive" }), "consent");
  equal(await asks({ flagged: true }), "consent");
  // A later turn of the person's is another matter.
  equal(await asks({}, (world) => world.alice.turn++), "consent");
  equal(await asks({ resolved: { executes: ["desk/ci.yml"] } }), "consent");
  equal(
    await asks(
      {},
      (world) =>
        world.processes.taint(world.alice.pid, { colour: "BLUE", label: "secret", sources: [] }),
    ),
    "consent",
  );
  equal(
    await asks({}, (world) => {
      for (const { question } of world.questions.grants.list(world.alice.task)) {
        world.questions.grants.revoke(question);
      }
    }),
    "consent",
  );
});

Deno.test("a child of the process, and a process of another task, has no part in the plan", async () => {
  const { world, take } = await planned();
  await take();
  const child = makeRow({ ...world.alice, pid: Pid.parse(77), ppid: world.alice.pid });
  world.processes.rows.set(child.pid, child);
  await world.lease({ resource: "mount", right: "read", path: "desk" }, child.pid);
  match(
    await why(world.call("send", BOB, { id: "plan-1-2-1", pid: child.pid })),
    /the task's own process/,
  );
});

Deno.test("a program that carol says no to is not taken, and its calls are refused", async () => {
  const { world } = await planned();
  const taking = world.call("plan_run", {}, { id: "model-1" });
  await world.answer({ decision: "deny" });
  equal((await taking).outcome, "deniedByUser");
  match(await why(world.call("send", BOB, { id: "plan-1-2-1" })), /only the calls of its program/);
  equal(world.log.events.some(({ kind }) => kind === "planTaken"), false);
});
