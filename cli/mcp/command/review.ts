/** `mcp review NAME`: exactly what would be pinned, and what changed since it was. @module */
import { EXIT, Fault, type McpLook } from "../../../contracts/mod.ts";
import { type Command, commandText, printJson, printLines } from "../../command.ts";
import { reviewOf } from "../review/review.ts";
import { reviewDocument } from "../review/document.ts";
import { reviewLines, serverLines } from "../review/lines.ts";
import { showFailure } from "../meet/introduce.ts";
import type { LockedServer } from "../lock/lock.ts";
import { lastLook } from "../look.ts";
import { familyOf, nounOf } from "../review/words.ts";
import { lockOf, lookAt, lookFirst, serverName } from "../work.ts";
import { has } from "../../arguments/parse_arguments.ts";

/** A look at a server that a person decides by. */
export async function lookForReview(command: Command, server: LockedServer): Promise<McpLook> {
  return server.state === "added"
    ? await lookFirst(command, server)
    : await lookAt(command, server, false);
}

/** The last look, answered or not. Throws Fault `notFound` when there was none at this version. */
function shownLast(
  command: Command,
  server: LockedServer,
): Partial<McpLook> & Pick<McpLook, "accesses"> {
  const kept = lastLook(command.hands.disk, command.places, server);
  if (kept !== undefined) return kept;
  throw new Fault(
    "notFound",
    `Cannot find a look at ${nounOf(server)} "${server.name}": see it first, with "remit ${
      familyOf(server)
    } review ${server.name}"`,
  );
}

/** Runs the command. */
export async function mcpReview(command: Command): Promise<number> {
  const { screen, mcp } = command.hands;
  const lock = lockOf(command);
  const server = lock.need(serverName(command));
  const family = familyOf(server);
  const look: Partial<McpLook> & Pick<McpLook, "accesses"> = has(command.parsed, "last")
    ? shownLast(command, server)
    : await lookForReview(command, server);
  const { words } = look;
  if (words === undefined) {
    const failed = { ...look, errors: look.errors ?? "" };
    if (command.json) printJson(command, { name: server.name, ...failed });
    else showFailure(command, server, failed);
    return EXIT.upstreamFailure;
  }
  const review = await reviewOf(command, server, { words, servers: lock.list() });
  if (command.json) {
    printJson(command, reviewDocument(review, look));
    return EXIT.success;
  }
  // A review is what was asked for: it is the answer, also in a pipe.
  const paper = { paint: screen.paint, width: screen.outWidth ?? screen.width };
  printLines(command, [
    ...serverLines(paper, server, look.accesses),
    ...reviewLines(paper, review, { kit: mcp, whole: true }),
  ]);
  const flagged = review.rows.some(({ flags, stands }) => flags.length > 0 && stands !== "pinned");
  const open = review.rows.some(({ stands, refused }) =>
    stands !== "pinned" && refused === undefined
  );
  if (open || review.gone.length > 0 || server.state !== "approved") {
    screen.say(`pin it: ${commandText(command, `${family} approve ${server.name}`)}`);
  }
  if (flagged) {
    screen.say(
      `what is flagged, too: ${commandText(command, `${family} approve ${server.name} --flagged`)}`,
    );
  }
  return EXIT.success;
}
