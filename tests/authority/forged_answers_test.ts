import assert from "node:assert/strict";
import type { Answer } from "../../contracts/authority/mod.ts";
import { makeKeyFile, openKey } from "../../config/key/person_key_powers.ts";
import { besiege } from "../fake/siege.ts";
import type { AnswerMore } from "../fake/siege.ts";
import { asked, CHANGE, PLAN, plan } from "./_desk.ts";

Deno.test("an answer that carol did not sign for this question would have been taken for hers", async () => {
  await besiege(async (siege) => {
    const [first, second] = [
      await siege.run({ turns: CHANGE, onQuestion: "ask" }),
      await siege.run({ turns: CHANGE, onQuestion: "ask" }),
    ];
    const [one, two] = [await asked(siege, first), await asked(siege, second)];
    let heard: Answer | undefined;
    await siege.answer(two.id, "deny", { forge: (answer) => (heard = answer) });
    const mallory = openKey(makeKeyFile());
    const ways: Readonly<Record<string, AnswerMore>> = {
      "mallory's key": { signer: mallory },
      "mallory's key under carol's name": {
        ...{ signer: mallory, forge: (answer) => ({ ...answer, key: siege.person.key }) },
      },
      "no signature": { forge: (answer) => ({ ...answer, signature: "" }) },
      "a signature of zeros": { forge: (answer) => ({ ...answer, signature: "A".repeat(86) }) },
      "more than she said": { forge: (answer) => ({ ...answer, for: "session" }) },
      "a deny turned into an allow": {
        forge: () => ({ ...heard as Answer, question: one.id, decision: "allow" }),
      },
      "her answer to another question": {
        forge: () => ({ ...heard as Answer, question: one.id }),
      },
      "another question than she saw": {
        forge: (answer) => ({ ...answer, shown: two.scope.descriptor }),
      },
      "her answer to a closed question, again": { forge: () => heard as Answer },
    };
    for (const [way, more] of Object.entries(ways)) {
      await assert.rejects(
        siege.answer(one.id, "allow", more),
        /Cannot (take the answer|answer)/,
        way,
      );
    }
    assert.equal((await siege.question(one.id)).state, "open");
    assert.equal(await plan(siege), PLAN);
    // The true one is taken, once.
    let given: Answer | undefined;
    await siege.answer(one.id, "allow", { forge: (answer) => (given = answer) });
    assert.equal((await first.end).exit, 0);
    assert.equal(await plan(siege), PLAN.replace("call", "ignore"));
    await assert.rejects(siege.ask("answer", given), /closed/);
  });
});
