/** `explain WORD`: explains a term of Remit's. @module */
import { Fault } from "../../contracts/base/mod.ts";
import { displayText } from "../../text/mod.ts";
import { nearest } from "../../text/nearest.ts";
import { type Command, printJson, printLines } from "../command.ts";
import { wordWrap } from "../terminal/columns.ts";
import { WORDS } from "../terminal/explain.ts";

/** `explain [WORD]`; without a word, explains all terms. Throws Fault `notFound` for an unknown word. */
export function explainCommand(command: Command): Promise<number> {
  const { screen } = command.powers;
  const [asked] = command.parsed.args;
  const all = Object.keys(WORDS);
  const found = asked === undefined
    ? all
    : all.filter((word) => word.toLowerCase() === asked.toLowerCase());
  if (asked !== undefined && found.length === 0) {
    const meant = nearest(asked, all);
    throw new Fault(
      "notFound",
      `Cannot explain "${displayText(asked, { max: 60 })}": ${
        meant === undefined ? "" : `did you mean "${meant}"? `
      }"remit explain" names the words that there are`,
    );
  }
  return Promise.resolve(
    command.json
      ? printJson(command, found.map((word) => ({ word, says: WORDS[word] })))
      : printLines(command, found.flatMap((word) => wordWrap(WORDS[word] ?? "", screen.width))),
  );
}
