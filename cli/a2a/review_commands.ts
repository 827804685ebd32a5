/** `a2a review` and `a2a approve`: as of MCP servers, with what the card says beside its skills. @module */
import { EXIT, type McpLook } from "../../contracts/mod.ts";
import { type Command, printLines } from "../command.ts";
import { mcpApprove } from "../mcp/command/approve.ts";
import { keepLook, type KeptLook, keptLook } from "../mcp/look.ts";
import { mcpReview } from "../mcp/command/review.ts";
import { lockOf } from "../mcp/work.ts";
import { clearanceFor } from "../mcp/grant/flags.ts";
import { cardChanges, factsOf, launchBy, type LockedPeer, namedPeer } from "./peer_work.ts";

/** `a2a review NAME`. */
export async function a2aReview(command: Command): Promise<number> {
  const peer = namedPeer(command);
  const exit = await mcpReview(command);
  if (exit !== EXIT.success || command.json) return exit;
  const changes = changesSeen(command, peer);
  if (changes.length > 0) {
    const { paint } = command.hands.screen;
    printLines(command, [
      `  ${paint.red(paint.bold("CHANGED since it was pinned"))}`,
      ...changes.map((each) => `    ${each}`),
    ]);
  }
  return exit;
}

/** `a2a approve NAME`: what the last look showed, its card's facts with its skills. */
export async function a2aApprove(command: Command): Promise<number> {
  const { hands, places } = command;
  const peer = namedPeer(command);
  const kept = keptLook(hands.disk, places, peer);
  if (kept !== undefined && changesSeen(command, peer).length > 0) {
    const launch = launchBy(factsOf(kept.words));
    const changed = lockOf(command).change(peer.name, (each) => ({ ...each, launch }));
    keepLook(hands.disk, places, changed, { at: kept.at, look: lookOf(kept) });
  }
  const clearance = clearanceFor(command);
  if (clearance !== undefined) {
    const chosen = { clearance, clearanceChosen: clearance };
    lockOf(command).change(peer.name, (each) => ({ ...each, ...chosen }));
  }
  return await mcpApprove(command);
}

function changesSeen(command: Command, peer: LockedPeer): readonly string[] {
  const kept = keptLook(command.hands.disk, command.places, peer);
  return kept === undefined ? [] : cardChanges(peer, factsOf(kept.words));
}

function lookOf({ words, accesses }: KeptLook): McpLook {
  return { words, accesses, errors: "" };
}
