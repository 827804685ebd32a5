import assert from "node:assert/strict";
import { bagsOf, WEIGHTS } from "./bags.ts";
import { readWordNet } from "./wordnet.ts";

const NOTICE = "  1 This software is free.  \n  2   \n  3 Really.  \n";
const DATA =
  `${NOTICE}00000001 06 n 02 tap 0 water_faucet 1 002 @ 00000002 n 0000 + 00000009 v 0101 ` +
  `| a device for the flow of liquids; "the tap leaked"; "taps dripping"  
00000002 06 n 0a a 0 b 0 c 0 d 0 e 0 f 0 g 0 h 0 i 0 fixture 0 000 | something attached  \n`;
const INDEX = `${NOTICE}tap n 2 1 @ 2 0 00000007 00000001  \nfixture n 1 0 1 0 00000002  \n`;

const nouns = readWordNet("noun", { data: DATA, index: INDEX });

Deno.test("a line of WordNet gives names, definition, examples and links; its comment the licence", () => {
  assert.equal(nouns.notice, "This software is free.\n\nReally.\n");
  assert.deepEqual(nouns.meanings[0], {
    id: "n00000001",
    names: ["tap", "water_faucet"],
    definition: "a device for the flow of liquids;  ;    ",
    examples: "the tap leaked taps dripping",
    links: [["@", "n00000002"], ["+", "v00000009"]],
  });
  // The count of names is hexadecimal.
  assert.equal(nouns.meanings[1]?.names.length, 10);
  assert.deepEqual([...nouns.ranks], [
    ["tap n00000007", 0],
    ["tap n00000001", 1],
    ["fixture n00000002", 0],
  ]);
});

Deno.test("a bag holds names by their rank, parts of names, definition, examples, and names of links", () => {
  const [bag] = bagsOf([nouns]);
  const { name, namePart, rank, definition, example, link } = WEIGHTS;
  assert.deepEqual(
    new Map(bag),
    new Map([
      // Twice in the examples: once as "taps".
      ["tap", name / (1 + rank) + 2 * example],
      ["water", name * namePart],
      ["faucet", name * namePart],
      ["device", definition],
      ["flow", definition],
      ["liquids", definition],
      ["leaked", example],
      ["dripping", example],
      // Of the hypernym, whose other names say nothing; a link to nowhere adds nothing.
      ...["b", "c", "e", "f", "g", "h"].map((each): [string, number] => [each, link["@"] ?? 0]),
      ["fixture", link["@"] ?? 0],
    ]),
  );
});
