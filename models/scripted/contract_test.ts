import type { LanguageModel } from "../../contracts/model/model.ts";
import { languageModelContract } from "../_fixture/contract_suite.ts";
import type { Said } from "../_fixture/providers/mod.ts";
import { timer } from "../timer_powers.ts";
import { openScripted } from "./open.ts";

/** A play of one turn that says what a provider would have said. */
function playOf({ text = [], calls = [], stop }: Said): string {
  const said = text.filter((piece) => typeof piece === "string").join("");
  return JSON.stringify({
    scenario: "contract",
    stream: { chunkChars: 3 },
    turns: [{
      when: { always: true },
      ...(said === "" ? {} : { say: said }),
      ...(calls.length === 0 ? {} : {
        calls: calls.map(({ id, name, pieces }) => ({ id, tool: name, raw: pieces.join("") })),
      }),
      ...(text.length > text.filter((piece) => typeof piece === "string").length
        ? { hang: true }
        : {}),
      ...(stop === undefined ? {} : { finish: stop }),
    }],
  });
}

languageModelContract("scripted", async (answers) => {
  const open = (text: string): Promise<LanguageModel> =>
    openScripted({ config: JSON.stringify({ file: "contract.yaml", text }) }, { timer });
  const idle = await open(playOf({ text: ["unasked"] }));
  const models = await Promise.all(answers.map((answer) => open(playOf(answer))));
  return {
    model: {
      info: () => idle.info(),
      // A play follows the conversation; the answers follow each other.
      infer: (request, options) => (models.shift() ?? idle).infer(request, options),
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
});
