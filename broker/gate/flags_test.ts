/** What the gate makes of models that look at calls and results: more is asked, never less. */
import { deepEqual, equal, match } from "node:assert/strict";
import type { GuardFlag } from "../../contracts/model/mod.ts";
import { makeWorld, type World, type WorldOptions } from "../_fixture/world.ts";

const flag = (raises: GuardFlag["raises"]): GuardFlag => ({
  ...{ advice: "guard intent: it goes to another", rule: "remit.yaml guard: intent" },
  raises,
});

/** A world whose guard says this of calls, and of results. */
async function guarded(
  says: { readonly before?: readonly GuardFlag[]; readonly after?: readonly GuardFlag[] },
  options: WorldOptions = {},
): Promise<World & { readonly looked: string[] }> {
  const looked: string[] = [];
  const world = await makeWorld({
    ...options,
    flags(row, { stage, tool }) {
      looked.push(`${stage} ${tool} ${row.label}`);
      return Promise.resolve((stage === "beforeTool" ? says.before : says.after) ?? []);
    },
  });
  world.add({
    ...{ name: "file_read", effect: "read" },
    invoke: () => Promise.resolve({ content: "secret words", label: "secret", colour: "YELLOW" }),
  });
  return { ...world, looked };
}

Deno.test("a flag makes a call that would go on ask, with the guard's words; one that only advises does not", async () => {
  const world = await guarded({ before: [flag("consent")] }, { row: { onQuestion: "ask" } });
  const going = world.call("file_read");
  const question = await world.openQuestion();
  equal(question.rule, "remit.yaml guard: intent");
  deepEqual(question.advice, ["guard intent: it goes to another"]);
  await world.answer();
  equal((await going).outcome, "ok");
  deepEqual(world.looked, ["beforeTool file_read public", "afterTool file_read secret"]);

  const advised = await guarded({ before: [flag("advise")] });
  equal((await advised.call("file_read")).outcome, "ok");
  const forbids = await guarded({ before: [flag("forbidden")] });
  match((await forbids.call("file_read")).error ?? "", /forbidden by remit.yaml guard: intent/);
});

Deno.test("a guard that finds nothing allows nothing: what asked asks, what was refused is refused unseen", async () => {
  const rules = [{ tool: "file_read", mode: "consent", at: "remit.yaml:1" }] as const;
  const asks = await guarded({}, { policy: { rules }, row: { onQuestion: "deny" } });
  equal((await asks.call("file_read")).outcome, "deniedByUser");
  const bans = [{ tool: "file_read", mode: "forbidden", at: "remit.yaml:1" }] as const;
  const banned = await guarded({}, { policy: { rules: bans } });
  equal((await banned.call("file_read")).outcome, "refusedByPolicy");
  deepEqual(banned.looked, []);
});

Deno.test("what a person signed lifts a result; a flag of it wins, and then nothing is lifted on record", async () => {
  const signed = (): "BLUE" => "BLUE";
  const lifted = await guarded({}, { signed });
  equal((await lifted.call("file_read")).colour, "BLUE");
  const flagged = await guarded({ after: [flag("consent")] }, { signed });
  equal((await flagged.call("file_read")).colour, "RED");
  const outcomes = flagged.log.events.filter(({ body }) => body["lifted"] !== undefined);
  deepEqual(outcomes, []);
});

Deno.test("a result that is flagged is RED for its process", async () => {
  const world = await guarded({ after: [flag("consent")] });
  equal((await world.call("file_read")).colour, "RED");
  equal(world.alice.colour, "RED");
});
