/** `mcp inspect NAME`: a server started and ended, and what came to light. @module */
import { EXIT, type McpLook } from "../../../contracts/mod.ts";
import { displayText } from "../../../text/mod.ts";
import { type Command, printJson, printLines } from "../../command.ts";
import { showFailure } from "../meet/introduce.ts";
import { serverDocument } from "./list.ts";
import { alienLines } from "../review/alien_lines.ts";
import { serverLines } from "../review/lines.ts";
import { lookForReview } from "./review.ts";
import { accessWords, bytesWords } from "../review/words.ts";
import { lockOf, serverName } from "../work.ts";
import { fieldLines } from "../../plugin/review.ts";

const MOST = 40;

function some(list: readonly string[]): readonly string[] {
  if (list.length === 0) return ["nothing"];
  return list.length <= MOST ? list : [...list.slice(0, MOST), `and ${list.length - MOST} more`];
}

const safe = (text: string): string => displayText(text, { max: 300 });

function foundFields(look: McpLook): readonly (readonly [string, readonly string[]])[] {
  const { words, accesses } = look;
  return [
    [
      "ready",
      [
        look.readyMs === undefined ? "never" : `${Math.round(look.readyMs)} ms after its start`,
        ...(look.bytes === undefined ? [] : [`${bytesWords(look.bytes)} of memory`]),
      ],
    ],
    ...(words === undefined ? [] : [
      ["says", [
        `${safe(words.server.name)} ${safe(words.server.version)}, protocol ${
          safe(words.protocol)
        }`,
        `can ${words.capabilities.map(safe).join(", ") || "nothing"}`,
      ]],
      ["tools", some(words.tools.map(({ name }) => safe(name)))],
      [
        "resources",
        some([
          ...words.resources.map(({ uri = "" }) => safe(uri)),
          ...words.templates.map(({ uriTemplate = "" }) => safe(uriTemplate)),
        ]),
      ],
      ["prompts", some(words.prompts.map(({ name }) => safe(name)))],
    ] as const),
    ["asked for", some(accesses.map(accessWords))],
  ];
}

/** Runs the command. */
export async function mcpInspect(command: Command): Promise<number> {
  const { screen } = command.hands;
  const server = lockOf(command).need(serverName(command));
  const look = await lookForReview(command, server);
  const exit = look.words === undefined ? EXIT.upstreamFailure : EXIT.success;
  if (command.json) {
    printJson(command, { ...serverDocument(server), look });
    return exit;
  }
  const paper = { paint: screen.paint, width: screen.outWidth ?? screen.width };
  printLines(command, [
    ...serverLines(paper, server, []),
    ...fieldLines(paper, foundFields(look)),
    ...(look.errors === ""
      ? []
      : ["  it printed, as errors:", ...alienLines(paper, look.errors, 60)]),
  ]);
  if (look.words === undefined) showFailure(command, server, { ...look, errors: "" });
  return exit;
}
