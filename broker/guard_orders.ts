/** Words that give orders to an assistant, found in one pass over folded words. English. @module */
import { makePhraseFinder, type Phrase, step } from "../text/phrases.ts";

const LITTLE = step("all any the your of my me this these those every it to about in for from");
const READER = step(
  "ai assistant assistants llm llms model agent agents chatbot copilot claude gpt chatgpt gemini",
);
const DEED = step(
  "read send post upload fetch run execute delete call email forward transfer visit open write",
);
const PERSON = step("user users operator human owner person anyone developer");

const PHRASES: readonly Phrase[] = [
  {
    steps: [
      step("ignore disregard forget override bypass"),
      step("previous prior above earlier preceding former system instructions rules guidelines"),
    ],
    gap: 4,
    between: LITTLE,
  },
  {
    steps: [
      step("new updated real hidden secret additional"),
      step("instruction instructions prompt directive directives"),
      step(":"),
    ],
    gap: 1,
    between: step("system user"),
  },
  {
    steps: [
      step("reveal print show repeat output leak"),
      step("system"),
      step("prompt message instructions"),
    ],
    gap: 3,
    between: LITTLE,
  },
  {
    steps: [
      step("not never dont"),
      step("tell inform mention alert notify reveal ask warn"),
      PERSON,
    ],
    gap: 3,
    between: LITTLE,
  },
  { steps: [step("you"), step("are"), step("now"), step("a an in the no")], gap: 0 },
  { steps: [READER, step("must should shall please now"), DEED], gap: 6 },
  {
    steps: [step("important attention urgent"), READER],
    gap: 4,
    between: step("message note notice instruction instructions for to the all any : "),
  },
  {
    steps: [
      step("send post upload forward email exfiltrate transmit"),
      step("password passwords credentials secrets keys token tokens conversation contents"),
      step("to"),
    ],
    gap: 5,
  },
];

const find = makePhraseFinder(PHRASES);

/** Tells whether a folded text gives orders. Takes time in proportion to the text. */
export function givesOrders(text: string): boolean {
  return find(text) !== undefined;
}
