/** `mcp review NAME` shows what would be pinned and what changed; `mcp approve` pins it. @module */
import { EXIT, type ExitCode, Fault } from "../../../contracts/base/mod.ts";
import type { McpLook } from "../../../contracts/exchange/mod.ts";
import { type Command, commandText, printJson, printLines } from "../../command.ts";
import { type McpReview, reviewDocument } from "../../../bridges/mcp/registry/review.ts";
import { reviewLines, serverLines } from "../review_lines.ts";
import { approvedLines, pin, showFailure, showReview } from "../onboard.ts";
import {
  familyOf,
  type LockedServer,
  nounOf,
  parseMcpName,
} from "../../../bridges/mcp/registry/lock.ts";
import {
  keepLook,
  keptLook,
  lastLook,
  lookAt,
  lookFirst,
} from "../../../bridges/mcp/registry/look.ts";
import { endedWords, namesWords } from "../words.ts";
import { lockOf, registryOf, reviewNow, serverName } from "../work.ts";
import { has } from "../../arguments/parse_arguments.ts";
import { displayText } from "../../../text/mod.ts";
import type { Basic } from "../../powers.ts";

/** Starts a server for a review: with nothing granted before approval, with its grants after. */
export async function lookForReview(
  command: Command<Basic | "mcpStore">,
  server: LockedServer,
): Promise<McpLook> {
  return server.state === "added"
    ? await lookFirst(registryOf(command), server)
    : await lookAt(registryOf(command), server, false);
}

/** The last look, answered or not. Throws `notFound` when there was none at this version. */
function shownLast(
  command: Command<Basic | "mcpStore">,
  server: LockedServer,
): NonNullable<ReturnType<typeof lastLook>> {
  const kept = lastLook(registryOf(command), server);
  if (kept !== undefined) return kept;
  throw new Fault(
    "notFound",
    `Cannot find a look at ${nounOf(server)} "${server.name}": see it first, with "remit ${
      familyOf(server)
    } review ${server.name}"`,
  );
}

/** `mcp review`. */
export async function mcpReview(command: Command<Basic | "mcpStore" | "plugins">): Promise<number> {
  const { screen } = command.powers;
  const server = lockOf(command).need(serverName(command));
  const [approve, approveFlagged] = ["", " --flagged"].map((more) =>
    commandText(command, `${familyOf(server)} approve ${server.name}${more}`)
  );
  const look: ReturnType<typeof shownLast> = has(command.parsed, "last")
    ? shownLast(command, server)
    : await lookForReview(command, server);
  const { words } = look;
  if (words === undefined) {
    const failed = { ...look, errors: look.errors ?? "" };
    if (command.json) printJson(command, { name: server.name, ...failed });
    else showFailure(command, server, failed);
    return EXIT.upstreamFailure;
  }
  const review = await reviewNow(command, server, words);
  if (command.json) {
    printJson(command, reviewDocument(review, look));
    return EXIT.success;
  }
  // The review is the command's answer: print it to standard output, also into a pipe.
  const layout = { paint: screen.paint, width: screen.outWidth ?? screen.width };
  printLines(command, [
    ...serverLines(layout, server, look.accesses),
    ...reviewLines(layout, review, { whole: true }),
  ]);
  const flagged = review.rows.some(({ flags, stands }) => flags.length > 0 && stands !== "pinned");
  const open = review.rows.some(({ stands, refused }) =>
    stands !== "pinned" && refused === undefined
  );
  if (open || review.gone.length > 0 || server.state !== "approved") {
    screen.say(`pin it: ${approve}`);
  }
  if (flagged) screen.say(`what is flagged, too: ${approveFlagged}`);
  return EXIT.success;
}

/** The outcome of approving one server. */
interface Done {
  readonly name: string;
  readonly approved: readonly string[];
  readonly left: readonly { readonly tool: string; readonly why: string }[];
  /** Why nothing could be pinned. */
  readonly why?: string;
}

/** The review of the last look that was shown, else of a fresh look, which is shown now. */
async function reviewToPin(
  command: Command<Basic | "mcpStore" | "plugins">,
  server: LockedServer,
): Promise<McpReview> {
  const { environment } = command.powers;
  const kept = keptLook(registryOf(command), server);
  if (kept !== undefined) return await reviewNow(command, server, kept.words);
  const look = await lookForReview(command, server);
  if (look.words === undefined) {
    throw new Fault(
      "upstream",
      `Cannot approve ${nounOf(server)} "${server.name}": it gave no answer: ${
        endedWords(look.ended)
      }`,
    );
  }
  keepLook(registryOf(command), server, { at: environment.now(), look });
  const review = await reviewNow(command, server, look.words);
  if (!command.json) showReview(command, review, { look, whole: false });
  return review;
}

function refuseUnknown(review: McpReview, tools: readonly string[]): void {
  const known = review.rows.map((row) => row.tool);
  const unknown = tools.find((tool) => !known.includes(tool));
  if (unknown === undefined) return;
  throw new Fault(
    "notFound",
    `Cannot approve "${unknown}": server "${review.server.name}" has ${
      namesWords(known, "no tools")
    }`,
  );
}

async function approveOne(
  command: Command<Basic | "mcpStore" | "plugins">,
  server: LockedServer,
): Promise<Done> {
  const tools = command.parsed.flags.get("tool");
  const review = await reviewToPin(command, server);
  if (tools !== undefined) refuseUnknown(review, tools);
  const flagged = has(command.parsed, "flagged");
  const done = pin(command, review, { ...(tools === undefined ? {} : { tools }), flagged });
  if (!command.json) printLines(command, approvedLines(command, done));
  return { name: server.name, approved: done.approved, left: done.left };
}

/** Approves every waiting server; one that cannot be pinned does not stop the others. */
async function approveAll(
  command: Command<Basic | "mcpStore" | "plugins">,
  servers: readonly LockedServer[],
): Promise<Done[]> {
  const done: Done[] = [];
  for (const server of servers) {
    try {
      done.push(await approveOne(command, server));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      done.push({ name: server.name, approved: [], left: [], why: error.message });
      if (!command.json) {
        printLines(command, [`${server.name}: ${displayText(error.message, { max: 500 })}`]);
      }
    }
  }
  return done;
}

function exitOf(done: readonly Done[]): ExitCode {
  if (done.some(({ why }) => why !== undefined)) return EXIT.failure;
  // Tools left out wait for a person to read them; nothing failed.
  return done.some(({ left, approved }) => left.length > 0 && approved.length === 0)
    ? EXIT.waiting
    : EXIT.success;
}

/** `mcp approve NAME|--all`: pins exactly what the last look showed. */
export async function mcpApprove(
  command: Command<Basic | "mcpStore" | "plugins">,
): Promise<number> {
  const lock = lockOf(command);
  const [name] = command.parsed.args;
  const all = has(command.parsed, "all");
  if (all === (name !== undefined)) {
    throw new Fault("invalidInput", "Cannot approve: give one NAME, or --all");
  }
  if (name !== undefined) {
    const server = lock.need(parseMcpName(name));
    const done = await approveOne(command, server);
    if (command.json) printJson(command, done);
    return exitOf([done]);
  }
  const waiting = lock.list().filter(({ state }) => state === "added");
  const done = await approveAll(command, waiting);
  if (command.json) printJson(command, done);
  else if (waiting.length === 0) printLines(command, ["no server waits for approval"]);
  return exitOf(done);
}
