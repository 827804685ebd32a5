/** Single-use tokens: each permits one call that passed the gate. @module */
import { Fault } from "../contracts/base/fault.ts";
import type { Colour, Label } from "../contracts/authority/colour.ts";
import type { Digest, Pid } from "../contracts/authority/ids.ts";
import type { GrantedCall } from "../contracts/task/power.ts";
import type { Powers, ProcessKeeper } from "../contracts/task/process.ts";
import { canonicalJson } from "../port/mod.ts";
import { argumentsText } from "./arguments.ts";
import { sha256Hex } from "../port/digest.ts";

/** The call that a token permits; for any other call it is void. */
export interface TokenBinding {
  readonly pid: Pid;
  readonly conversation: string;
  readonly turn: number;
  readonly callId: string;
  readonly tool: string;
  readonly argumentsHash: Digest;
  readonly colour: Colour;
  readonly label: Label;
}

/** A binding with the descriptor and expiry that are fixed when the token is made. */
export interface TokenGrant extends TokenBinding {
  readonly descriptor: Digest;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** The tokens of one kernel: in memory, void after a restart. */
export interface Tokens {
  mint(grant: TokenGrant): string;
  /**
   * Uses a token. It is invalid afterwards, even if this throws.
   * @throws {Fault} `refused` when it is unknown, used, expired or bound to something else.
   */
  redeem(token: string, use: TokenBinding): TokenGrant;
  /** Invalidates an unused token. */
  end(token: string): void;
  /** Number of unused tokens. */
  live(): number;
}

/** Makes an empty table of tokens. */
export function makeTokens(powers: Pick<Powers, "now" | "token">): Tokens {
  const table = new Map<string, TokenGrant>();
  return Object.freeze({
    mint: (grant: TokenGrant) => {
      const token = powers.token();
      if (table.has(token)) throw new TypeError("Cannot mint a token: randomness repeats");
      table.set(token, Object.freeze({ ...grant }));
      return token;
    },
    redeem: (token: string, use: TokenBinding) => {
      const grant = table.get(token);
      // INVARIANT: removed before anything is compared, so that one token starts one call.
      // (test: "mallory starts one token a thousand times at once and one start wins")
      table.delete(token);
      const wrong = grant === undefined
        ? "it is unknown or was used"
        : grant.expiresAt <= powers.now()
        ? "it has expired"
        : difference(grant, use);
      if (grant === undefined || wrong !== undefined) {
        throw new Fault("refused", `Cannot start "${use.tool}" with this token: ${wrong}`);
      }
      return grant;
    },
    end: (token: string) => void table.delete(token),
    live: () => table.size,
  });
}

const BOUND = [
  "pid",
  "conversation",
  "turn",
  "callId",
  "tool",
  "argumentsHash",
  "colour",
  "label",
] as const;

function difference(grant: TokenGrant, use: TokenBinding): string | undefined {
  const differs = BOUND.find((key) => grant[key] !== use[key]);
  return differs === undefined ? undefined : `it was given for another ${differs}`;
}

/** SHA-256 of canonical arguments and of the digests of their resolved references. */
export function argumentsHash(
  text: string,
  digests: Readonly<Record<string, Digest>>,
): Digest {
  // Hashing one string is faster than hashing three.
  return sha256Hex(`${text}\n${canonicalJson(digests)}`);
}

/**
 * Makes the check that a power calls before its effect: it redeems the token for the call, against
 * the current state of the process.
 * @throws {Fault} `refused` as {@link Tokens.redeem}; `gone` when the process has ended.
 */
export function makeRedeem(
  tokens: Tokens,
  processes: Pick<ProcessKeeper, "get">,
): (call: GrantedCall) => void {
  return (call) => {
    const process = processes.get(call.pid);
    if (process === undefined || process.status === "ended") {
      tokens.end(call.token);
      throw new Fault("gone", `Cannot start "${call.tool}": its process has ended`);
    }
    tokens.redeem(call.token, {
      pid: call.pid,
      conversation: process.conversation,
      turn: process.turn,
      callId: call.callId,
      tool: call.tool,
      argumentsHash: argumentsHash(argumentsText(call.args), call.resolved.digests),
      colour: process.colour,
      label: process.label,
    });
  };
}
