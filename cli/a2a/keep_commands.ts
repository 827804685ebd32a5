/** `a2a log|login|revoke|remove`: what is done with a peer as with any imported server. @module */
import type { Command, Work } from "../command.ts";
import { mcpRemove, mcpRevoke } from "../mcp/command/keep.ts";
import { mcpLog } from "../mcp/command/log.ts";
import { mcpLogin } from "../mcp/login/command.ts";
import { namedPeer } from "./peer_work.ts";

function ofPeer(work: Work): Work {
  return async (command: Command) => {
    namedPeer(command);
    return await work(command);
  };
}

/** `a2a login NAME`. */
export const a2aLogin: Work = ofPeer(mcpLogin);
/** `a2a revoke NAME`. */
export const a2aRevoke: Work = ofPeer(mcpRevoke);
/** `a2a remove NAME`. */
export const a2aRemove: Work = ofPeer(mcpRemove);
/** `a2a log NAME`. A peer that was removed has its log still. */
export const a2aLog: Work = mcpLog;
