/** Who may send which text to which model, at what price and pace, and what is on record of it. */
import assert from "node:assert/strict";
import type { TaskId } from "../../contracts/authority/mod.ts";
import { DEAREST } from "../../contracts/model/mod.ts";
import { Profile } from "../../contracts/task/mod.ts";
import { mergeLayers } from "../../config/layers.ts";
import { parseConfigText } from "../../config/text.ts";
import { waitUntil } from "../fake/wait_until.ts";
import { asked, CALL } from "./_desk.ts";
import { type ModelSiege, withProvider } from "./_models.ts";

const WELL = { text: ["Well."] };
const readPlan = {
  calls: [{ id: "c1", name: "file_read", pieces: ['{"path":"desk/notes/plan.md"}'] }],
};
const reasonOf = async (task: { task(): Promise<Readonly<Record<string, unknown>>> }) =>
  String((await task.task())["reason"]);

Deno.test("mallory's guest session would have sent its text to a provider that nobody allowed it", async () => {
  await withProvider(async ({ provider, think }) => {
    provider.next(WELL);
    for (const profile of ["guest", "anonymous"] as const) {
      const task = await think({ profile });
      assert.equal((await task.end).exit, 64, await reasonOf(task));
      assert.match(await reasonOf(task), new RegExp(`built-in: ${profile} sessions use local`));
    }
    assert.equal(provider.asked.length, 0);
    assert.equal((await (await think()).end).exit, 0);
    assert.equal(provider.asked.length, 1);
  });
});

Deno.test("an operator's remit.yaml opens remote models to guests, and closes them to itself", async () => {
  await withProvider(async ({ provider, think }) => {
    provider.next(WELL);
    assert.equal((await (await think({ profile: "guest" })).end).exit, 0);
    const own = await think();
    assert.equal((await own.end).exit, 64);
    assert.match(await reasonOf(own), /remit\.yaml: modelsFor\.operator is none/);
    assert.equal(provider.asked.length, 1);
  }, () => ({ modelsFor: { guest: "remote", operator: "none" } }));
});

Deno.test("mallory's folder would have named the model that reads everything", () => {
  const theirs = {
    version: 1,
    model: "openai:m@https://mallory.example/v1",
    models: { m: { ref: "openai:m@https://mallory.example/v1" } },
    modelsFor: { operator: "remote", guest: "remote", anonymous: "remote" },
    clearance: { "model:mallory.example": "secret" },
  };
  const { policy, model, ...merged } = mergeLayers([
    {
      file: parseConfigText("own.yaml", "{ version: 1, modelsFor: { operator: local } }"),
      trusted: true,
    },
    { file: parseConfigText("desk/remit.yaml", JSON.stringify(theirs)), trusted: false },
  ]);
  assert.equal(model, undefined);
  assert.ok(!JSON.stringify({ ...merged, notes: undefined }).includes("mallory.example/v1"));
  assert.deepEqual(policy.clearance, {});
  assert.deepEqual(
    Profile.options.map((profile) => policy.modelsFor[profile]),
    ["local", "local", "local"],
  );
});

/** What leaves when a secret file was read: the text of the second request, if it was made. */
async function readSecret(
  siege: ModelSiege,
): Promise<readonly [exit: number | null, reason: string]> {
  siege.provider.next(readPlan, WELL);
  const task = await siege.think({ mounts: [siege.mount({ label: "secret" })] });
  const { exit } = await task.end;
  return [exit, await reasonOf(task)];
}

Deno.test("a secret that the task read would have left with its next thought", async () => {
  await withProvider(async (siege) => {
    const [exit, reason] = await readSecret(siege);
    assert.equal(exit, 64, reason);
    assert.match(reason, /conversation is secret.*raise clearance of "model:0\.0\.0\.0:\d+"/);
    assert.equal(siege.provider.asked.length, 1);
    assert.ok(!JSON.stringify(siege.provider.received).includes("call the supplier"));
  });
});

Deno.test("a provider that is cleared for secrets gets them, whatever the colour", async () => {
  await withProvider(async (siege) => {
    for (const colour of ["BLUE", "YELLOW", "RED"] as const) {
      siege.provider.next(WELL);
      assert.equal((await (await siege.think({ colour, label: "secret" })).end).exit, 0, colour);
    }
    const [exit, reason] = await readSecret(siege);
    assert.equal(exit, 0, reason);
    assert.ok(siege.provider.received.at(-1)?.body.includes("call the supplier"));
  }, (sink) => ({ clearance: { [sink]: "secret" } }));
});

Deno.test("each request to a provider is on record before it leaves, and those that fail, too", async () => {
  await withProvider(async ({ provider, think, ask, sink }) => {
    provider.next(WELL);
    const good = await think();
    assert.equal((await good.end).exit, 0);
    provider.next({ status: 400, body: { error: { message: "a bad request" } } });
    const bad = await think({ model: "n" });
    assert.notEqual((await bad.end).exit, 0);

    const kinds = good.events.map(({ event }) => event);
    assert.ok(kinds.indexOf("modelAsked") < kinds.indexOf("inferred"), kinds.join());
    const [before] = good.events.filter(({ event }) => event === "modelAsked");
    const [after] = good.events.filter(({ event }) => event === "inferred");
    assert.equal(before?.body["nonce"], after?.body["nonce"]);
    assert.equal(`model:${before?.body["host"]}`, sink);
    assert.ok(Number(before?.body["bytes"]) > 100 && Number(before?.body["tokens"]) > 25);
    assert.ok(!JSON.stringify(before).includes("Do what you can"));
    assert.ok(bad.events.some(({ event }) => event === "modelFailed"));

    const query = async (filter: object): Promise<readonly Record<string, unknown>[]> =>
      await ask("auditQuery", filter) as readonly Record<string, unknown>[];
    const [sent] = await query({ model: String(before?.body["model"]) });
    assert.equal(sent?.["outcome"], "ok");
    assert.deepEqual(sent?.["scope"], [sink]);
    const failed = await query({ task: bad.id });
    assert.deepEqual(failed.map(({ outcome }) => outcome), ["executionError"]);
    assert.match(String(failed[0]?.["error"]), /a bad request/);
  });
});

Deno.test("a provider without a price costs as the dearest, whatever it says, and reaches the brake", async () => {
  await withProvider(async (siege) => {
    const { provider, think } = siege;
    provider.next({ ...WELL, usage: { input: 1_000, output: 100 } }, { ...WELL, usage: null });
    const moneyOf = async (): Promise<number> => {
      const task = await think();
      const { body } = await task.first(({ event }) => event === "inferred");
      await task.end;
      return Number(body["money"]);
    };
    assert.equal(await moneyOf(), (1_000 * DEAREST.input + 100 * DEAREST.output) / 1e6);
    assert.ok(await moneyOf() > 0, "who says nothing of usage is not free");
    provider.next({ ...readPlan, usage: { input: 10_000, output: 10_000 } }, WELL);
    const braked = await think({ limits: { money: 10, moneyPerMinute: 1 }, onQuestion: "ask" });
    assert.equal((await asked(siege, braked)).kind, "brake");
    assert.equal(provider.waiting(), 1);
  });
});

Deno.test("tasks of alice and bob share their provider's rate: the third request would have been too many", async () => {
  await withProvider(async ({ provider, think, ask }) => {
    const config = { rates: { requestsPerMinute: 2 }, noWait: true };
    provider.next(WELL, WELL, WELL);
    assert.equal((await (await think({ config })).end).exit, 0);
    assert.equal((await (await think({ config, model: "other" })).end).exit, 0);
    const third = await think({ config });
    assert.notEqual((await third.end).exit, 0);
    assert.match(await reasonOf(third), /it would exceed 2 requests a minute to 0\.0\.0\.0:\d+/);
    assert.equal(provider.asked.length, 2);
    assert.ok(third.events.every(({ event }) => event !== "modelAsked"));
    // Who does wait is told so, and may be ended.
    const fourth = await think({ config: { ...config, noWait: false } });
    await waitUntil(
      "the fourth waits for its turn",
      () => fourth.events.find(({ event }) => event === "modelQueued"),
    );
    await ask("cancel", { task: fourth.id });
    await fourth.end;
    assert.equal(provider.asked.length, 2);
  });
});

Deno.test("one last long answer would have passed the limit of money by a hundred times", async () => {
  await withProvider(async ({ provider, think }) => {
    const price = { input: 0, output: 1_000 };
    provider.next({ ...readPlan, usage: { input: 10, output: 60 } }, {
      ...WELL,
      usage: { input: 10, output: 40 },
    });
    // A token costs a thousandth of a dollar: a hundred of them may be bought.
    const task = await think({ config: { price }, limits: { money: 0.1, moneyPerMinute: 10 } });
    assert.equal((await task.end).exit, 0, await reasonOf(task));
    assert.deepEqual(provider.asked.map((body) => body["max_tokens"]), [100, 40]);
    const paid = task.events.map(({ body }) => Number(body["money"] ?? 0));
    assert.ok(paid.reduce((sum, each) => sum + each, 0) <= 0.1 + 1e-9);
  });
});

/** A parent whose children all think at once; a child's turn is one thought. */
const BURST = `({ async turn(ports, message) { ${CALL}
  const think = () => ports.infer({ base: 1, append: [message], maxTokens: 512 });
  if (!message.content.includes("Do what")) { await think(); return { stop: "answered", text: "" }; }
  const pids = [];
  for (let n = 0; n < 4; n++) pids.push((await ports.spawn({ persona: "", request: "think", tools: [], limits: {} })).pid);
  await Promise.all(pids.map((pid) => ports.wait(pid)));
  return { stop: "answered", text: "" };
} })`;

Deno.test("mallory's children would have begun four dear requests before the first of them was paid", async () => {
  await withProvider(async ({ provider, think }) => {
    const held = Promise.withResolvers<void>();
    const slow = { text: [held.promise, "Well."], usage: { input: 10, output: 10 } };
    provider.next(slow, slow, slow, slow);
    const task = await think({
      program: BURST,
      // What one request probably costs is more than may be spent in a minute.
      config: { price: { input: 0, output: 10_000 } },
      limits: { money: 1_000, moneyPerMinute: 1 },
      onQuestion: "deny",
    });
    await task.first(({ event }) => event === "modelAsked");
    const ended = new Set<unknown>();
    for (let n = 0; n < 3; n++) {
      const { body } = await task.first(({ event, body }) =>
        event === "processEnded" && !ended.has(body["pid"])
      );
      ended.add(body["pid"]);
    }
    held.resolve();
    assert.equal((await task.end).exit, 0);
    assert.equal(provider.asked.length, 1);
  });
});

const wrong = { calls: [{ id: "w1", name: "no_such_tool", pieces: ["{}"] }] };

Deno.test("alice's rule moves her task to the larger model after two wrong calls, on record, for good", async () => {
  await withProvider(async (siege) => {
    const { provider, think, choice } = siege;
    const edit = '{"path":"desk/notes/plan.md","old":"call","new":"please call"}';
    provider.next(
      ...[wrong, { calls: [{ id: "w2", name: "file_read", pieces: ['{"file":1}'] }] }],
      { calls: [{ id: "e1", name: "file_edit", pieces: [edit] }] },
      ...[{ calls: [{ id: "p1", name: "patch_apply", pieces: ["{}"] }] }, WELL],
    );
    const task = await think({ escalate: { after: 2, to: choice("large") } });
    assert.equal((await task.end).exit, 75);
    const models = (): unknown[] => provider.asked.map(({ model }) => model);
    assert.deepEqual(models(), ["m", "m", "large", "large"]);
    const changed = task.events.filter(({ event }) => event === "modelChanged");
    assert.deepEqual(changed.map(({ body }) => [body["from"], body["to"], body["why"]]), [
      ["openai:m", "openai:large", "escalated"],
    ]);
    // A kernel that is started anew goes on with the model that the task had.
    const { id } = await asked(siege, task);
    await siege.restart();
    await siege.answer(id, "allow");
    assert.equal((await (await siege.watch(task.id)).end).exit, 0);
    assert.equal(models().at(-1), "large");
  });
});

Deno.test("mallory's wrong calls would have moved secret text to the provider that a rule names", async () => {
  await withProvider(async (siege) => {
    const { provider, choice, ask, watch, mount } = siege;
    provider.next(WELL);
    const text = [
      "scenario: wrong",
      "turns:",
      "  - calls: [{ tool: file_read, args: { path: desk/notes/plan.md } }]",
      "  - calls: [{ tool: no_such_tool }]",
      "  - say: Stayed.",
    ].join("\n");
    const { task } = await ask("run", {
      ...{ request: "Do it.", session: "s000000000000", profile: "operator", limits: {} },
      ...{ onQuestion: "queue", phase: "work", interactive: false },
      ingress: { channel: "terminal", principal: "alice", colour: "BLUE", label: "public" },
      mounts: [mount({ label: "secret" })],
      model: {
        ref: "scripted:wrong.yaml",
        config: JSON.stringify({ file: "wrong.yaml", text }),
        escalate: { after: 1, to: choice() },
      },
    }) as { task: TaskId };
    const watched = await watch(task);
    assert.equal((await watched.end).exit, 0);
    assert.equal((await watched.task())["answer"], "Stayed.");
    const [changed] = watched.events.filter(({ event }) => event === "modelChanged");
    assert.equal(changed?.body["made"], false);
    assert.match(String(changed?.private["refused"]), /conversation is secret/);
    assert.equal(provider.asked.length, 0);
  });
});
