import assert from "node:assert/strict";
import { besiege, type Siege, type Watched } from "../fake/siege.ts";
import { asked } from "./_desk.ts";

const DEAR = `scenario: dear
model: { price: { input: 1000000, output: 1000000 } }
turns:
  - calls: [{ tool: file_read, args: { path: desk/notes/plan.md } }]
    usage: { inputTokens: 5, outputTokens: 5 }
  - say: Done.
    usage: { inputTokens: 1, outputTokens: 1 }
`;
const spender = (siege: Siege, onQuestion: "ask" | "queue" | "deny"): Promise<Watched> =>
  siege.run({ scenario: DEAR, limits: { money: 10_000, moneyPerMinute: 5 }, onQuestion });

Deno.test("mallory's task would have spent a month's money in a minute before anybody was asked", async () => {
  await besiege(async (siege) => {
    const [allowed, denied] = [await spender(siege, "ask"), await spender(siege, "ask")];
    const questions = [await asked(siege, allowed), await asked(siege, denied)];
    for (const { kind } of questions) assert.equal(kind, "brake");
    assert.equal(allowed.events.filter(({ event }) => event === "inferred").length, 1);
    await siege.answer(questions[0]?.id ?? "", "allow");
    await siege.answer(questions[1]?.id ?? "", "deny");
    assert.equal((await allowed.end).exit, 0);
    assert.equal((await denied.end).exit, 66);
    assert.match(String((await denied.task())["reason"]), /too fast/);
    assert.equal((await (await spender(siege, "queue")).end).exit, 75);
    assert.equal((await (await spender(siege, "deny")).end).exit, 66);
  });
});
