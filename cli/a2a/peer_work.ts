/** Shared by the commands over peers: finding a peer by name, and the facts of its card. @module */
import { Fault } from "../../contracts/base/mod.ts";
import {
  isPeer,
  PeerFacts,
  type PeerLaunch,
  type ServerListing,
} from "../../contracts/exchange/mod.ts";
import { displayText } from "../../text/mod.ts";
import type { Command } from "../command.ts";
import { type LockedServer, parseMcpName } from "../../bridges/mcp/registry/lock.ts";
import { lockOf } from "../mcp/work.ts";
import type { Basic } from "../powers.ts";

/** A peer in remit.lock. */
export type LockedPeer = LockedServer & { readonly launch: PeerLaunch };

/** The peer of this name. Throws Fault `notFound`. */
export function peerNamed(command: Command<Basic | "mcpStore">, text: string): LockedPeer {
  const found = lockOf(command).find(parseMcpName(text));
  if (found !== undefined && isLockedPeer(found)) return found;
  throw new Fault(
    "notFound",
    `Cannot find peer "${displayText(text, { max: 64 })}": ${
      found === undefined
        ? 'there is none of that name; see "remit a2a list"'
        : 'it is an MCP server; see "remit mcp list"'
    }`,
  );
}

/** The peer named by the first argument. Throws Fault `notFound`. */
export function namedPeer(command: Command<Basic | "mcpStore">): LockedPeer {
  return peerNamed(command, command.parsed.args[0] ?? "");
}

/** Whether a server of remit.lock is a peer. */
export function isLockedPeer(server: LockedServer): server is LockedPeer {
  return isPeer(server.launch);
}

/** The card's facts in a look. Throws Fault `upstream` for a look without a card. */
export function factsOf(words: ServerListing): PeerFacts {
  const facts = PeerFacts.safeParse("peer" in words ? words.peer : undefined);
  if (facts.success) return facts.data;
  throw new Fault("upstream", "Cannot read the peer's card: its bridge said nothing of it");
}

/** How to reach the peer from now on, by its card. */
export function launchBy({ card, ...a2a }: PeerFacts): PeerLaunch {
  return { kind: "http", url: card, a2a };
}

/** The differences between a card and its pin, a sentence each. The card is untrusted; the sentences are safe text. */
export function cardChanges({ launch }: LockedPeer, facts: PeerFacts): readonly string[] {
  const { endpoint, binding, keys } = launch.a2a;
  const was = `${endpoint} (${binding})`, is = `${facts.endpoint} (${facts.binding})`;
  const signed = keys.length === 0 || keys.some((key) => facts.keys.includes(key));
  return [
    ...(launch.url === facts.card ? [] : [`its card lies at ${shown(facts.card)}`]),
    ...(was === is ? [] : [`it listens at ${shown(is)}; it was ${shown(was)}`]),
    ...(signed ? [] : [`none of the keys that signed its card does so now: ${keysWords(facts)}`]),
  ];
}

/** The card's signers, in words. */
export function keysWords({ keys }: Pick<PeerFacts, "keys">): string {
  return keys.length === 0
    ? "nobody signed its card: it is what its origin says"
    : `signed by ${keys.map((key) => displayText(key, { max: 64 })).join(", ")}`;
}

function shown(text: string): string {
  return displayText(text, { max: 300 });
}
