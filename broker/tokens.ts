/** Single-use tokens: what passed the gate, until it is used. @module */
import { Fault } from "../contracts/base/fault.ts";
import type { Colour, Label } from "../contracts/authority/colour.ts";
import type { Digest, Pid } from "../contracts/authority/ids.ts";
import type { GrantedCall } from "../contracts/task/power.ts";
import type { Powers, ProcessKeeper } from "../contracts/task/process.ts";
import { canonicalJson } from "../port/mod.ts";
import { argumentsText } from "./arguments.ts";
import { sha256Hex } from "../port/digest.ts";

/** Everything that a token is good for; for anything else it is void. */
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

/** A binding with what is fixed when the token is made: descriptor and end. */
export interface TokenGrant extends TokenBinding {
  readonly descriptor: Digest;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** The tokens of one kernel: in memory, void after a restart. */
export interface Tokens {
  mint(grant: TokenGrant): string;
  /**
   * Uses a token up. Whatever is wrong, it is dead afterwards.
   * @throws {Fault} `refused` when it is unknown, used, expired or bound to something else.
   */
  redeem(token: string, use: TokenBinding): TokenGrant;
  /** Ends a token that was not used. */
  end(token: string): void;
  /** How many are not used yet. */
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
      // INVARIANT: gone before anything is compared: one start for one token.
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

/** SHA-256 of canonical arguments and of the digests that their references came to. */
export function argumentsHash(
  text: string,
  digests: Readonly<Record<string, Digest>>,
): Digest {
  // One string is hashed faster than three.
  return sha256Hex(`${text}\n${canonicalJson(digests)}`);
}

/**
 * What a power calls before its effect: redeems the token for the call in hand, against the process
 * as it is at that moment.
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
