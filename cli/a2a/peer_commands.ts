/** `a2a list` and `a2a describe`: peers as they were reviewed and pinned, without asking them. @module */
import { EXIT } from "../../contracts/base/mod.ts";
import type { McpLook } from "../../contracts/exchange/mod.ts";
import { displayText } from "../../text/mod.ts";
import { alienLines } from "../mcp/review_lines.ts";
import { type Command, commandText, printJson, printLines, type Work } from "../command.ts";
import { mcpLog, serverDocument, toolsCell } from "../mcp/command/show.ts";
import { wrapTable } from "../terminal/wrapped_table.ts";
import { lockOf, registryOf } from "../mcp/work.ts";
import { fieldLines } from "../plugin/review.ts";
import {
  cardChanges,
  factsOf,
  isLockedPeer,
  keysWords,
  launchBy,
  type LockedPeer,
  namedPeer,
} from "./peer_work.ts";
import { mcpApprove, mcpReview } from "../mcp/command/review.ts";
import { keepLook, type KeptLook, keptLook } from "../../bridges/mcp/registry/look.ts";
import { clearanceFor } from "../mcp/grant_flags.ts";
import { mcpRemove, mcpRevoke } from "../mcp/command/keep.ts";
import { mcpLogin } from "../mcp/command/login.ts";
import type { Basic, PowerName } from "../powers.ts";

/** A peer as JSON: its identity, its skills, its clearance. */
function peerDocument(peer: LockedPeer): Record<string, unknown> {
  const { launch: { url, a2a }, reviewed, clearance } = peer;
  return {
    ...serverDocument(peer),
    ...{ transport: "a2a", card: url, ...a2a, colour: "RED", clearance },
    skills: reviewed.map(({ tool, off, suspended }) => ({
      ...{ skill: tool.tool, name: tool.name, effect: tool.effect, off },
      ...{ description: tool.description, accepts: JSON.parse(tool.paramSchema) },
      ...(suspended === undefined ? {} : { suspended }),
    })),
  };
}

/** `a2a list`. */
export function a2aList(command: Command<Basic | "mcpStore">): Promise<number> {
  const { screen } = command.powers;
  const peers = lockOf(command).list().filter(isLockedPeer);
  if (command.json) return Promise.resolve(printJson(command, peers.map(peerDocument)));
  if (peers.length === 0) {
    screen.say(`There are no peers; "${commandText(command, "a2a add URL")}" takes one in.`);
    return Promise.resolve(EXIT.success);
  }
  const rows = peers.map((peer) => [
    peer.name,
    peer.state,
    displayText(new URL(peer.launch.a2a.endpoint).origin, { max: 300 }),
    peer.launch.a2a.keys.length === 0 ? "nobody" : "yes",
    peer.clearance,
    toolsCell(peer),
  ]);
  return Promise.resolve(printLines(
    command,
    wrapTable(
      ["NAME", "STATE", "AT", "SIGNED", "MAY BE TOLD", "SKILLS"],
      rows,
      screen.outWidth ?? 200,
    ),
  ));
}

/** `a2a describe NAME`. */
export function a2aDescribe(command: Command<Basic | "mcpStore">): Promise<number> {
  const { screen } = command.powers;
  const peer = namedPeer(command);
  if (command.json) return Promise.resolve(printJson(command, peerDocument(peer)));
  const { launch: { url, a2a }, seen } = peer;
  const paper = { paint: screen.paint, width: screen.outWidth ?? screen.width };
  return Promise.resolve(printLines(command, [
    ...fieldLines(paper, [
      ["peer", [`${peer.name}, ${peer.state}`]],
      ["says", [
        seen === undefined
          ? "nothing that was reviewed"
          : `it is ${displayText(seen.name, { max: 200 })} ${displayText(seen.version)}`,
      ]],
      ["card", [displayText(url, { max: 300 }), keysWords(a2a)]],
      ["listens", [`${displayText(a2a.endpoint, { max: 300 })}, ${a2a.binding}`]],
      ["labels", [`what it says is RED; it may be told what is ${peer.clearance}`]],
    ]),
    ...peer.reviewed.flatMap(({ tool, off, suspended }) => [
      `  ${screen.paint.bold(displayText(tool.tool, { max: 256 }))}  ${tool.effect}${
        off ? "  off" : ""
      }${suspended === undefined ? "" : screen.paint.red(`  suspended: ${suspended}`)}`,
      `    models call it ${tool.name}, and are told:`,
      ...alienLines(paper, tool.description),
    ]),
  ]));
}

/** `a2a review NAME`. */
export async function a2aReview(command: Command<Basic | "mcpStore" | "plugins">): Promise<number> {
  const peer = namedPeer(command);
  const exit = await mcpReview(command);
  if (exit !== EXIT.success || command.json) return exit;
  const changes = changesSeen(command, peer);
  if (changes.length > 0) {
    const { paint } = command.powers.screen;
    printLines(command, [
      `  ${paint.red(paint.bold("CHANGED since it was pinned"))}`,
      ...changes.map((each) => `    ${each}`),
    ]);
  }
  return exit;
}

/** `a2a approve NAME`: pins what the last look showed, both the card's facts and the skills. */
export async function a2aApprove(
  command: Command<Basic | "mcpStore" | "plugins">,
): Promise<number> {
  const peer = namedPeer(command);
  const kept = keptLook(registryOf(command), peer);
  if (kept !== undefined && changesSeen(command, peer).length > 0) {
    const launch = launchBy(factsOf(kept.words));
    const changed = lockOf(command).change(peer.name, (each) => ({ ...each, launch }));
    keepLook(registryOf(command), changed, { at: kept.at, look: lookOf(kept) });
  }
  const clearance = clearanceFor(command);
  if (clearance !== undefined) {
    const chosen = { clearance, clearanceChosen: clearance };
    lockOf(command).change(peer.name, (each) => ({ ...each, ...chosen }));
  }
  return await mcpApprove(command);
}

function changesSeen(command: Command<Basic | "mcpStore">, peer: LockedPeer): readonly string[] {
  const kept = keptLook(registryOf(command), peer);
  return kept === undefined ? [] : cardChanges(peer, factsOf(kept.words));
}

function lookOf({ words, accesses }: KeptLook): McpLook {
  return { words, accesses, errors: "" };
}

function ofPeer<K extends PowerName>(work: Work<Basic | "mcpStore" | K>): typeof work {
  return async (command) => {
    namedPeer(command);
    return await work(command);
  };
}

/** `a2a login NAME`. */
export const a2aLogin = ofPeer(mcpLogin);
/** `a2a revoke NAME`. */
export const a2aRevoke = ofPeer(mcpRevoke);
/** `a2a remove NAME`. */
export const a2aRemove = ofPeer(mcpRemove);
/** `a2a log NAME`; works for a removed peer, too. */
export const a2aLog = mcpLog;
