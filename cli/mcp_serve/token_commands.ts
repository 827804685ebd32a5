/** `remit mcp token create|list|revoke` and `remit a2a token create|list|revoke`. @module */
import { EXIT, Fault, type Json } from "../../contracts/base/mod.ts";
import { PeerName } from "../../contracts/exchange/mod.ts";
import { Profile } from "../../contracts/task/mod.ts";
import { type KeptToken, openTokens, type TokenBook } from "../../service/hosts/mod.ts";
import { openPeerTokens } from "../../service/peer/mod.ts";
import { displayText } from "../../text/mod.ts";
import { flag, oneOf } from "../arguments/parse_arguments.ts";
import { type Command, printJson } from "../command.ts";
import { loadConfig } from "../../config/files.ts";
import { preparePlaces } from "../../launch/disk/places.ts";
import { SERVE_AT } from "../service/family.ts";
import { tableLines } from "../terminal/table.ts";
import type { Basic } from "../powers.ts";

/** Tokens of one kind, with one more column: for whom they are. */
interface TokenKind<T extends KeptToken> {
  readonly tokens: Pick<TokenBook<T>, "list" | "create" | "revoke">;
  /** The column: `profile`, `peer`. */
  readonly column: string;
  of(token: Omit<T, "sha256">): string;
  /** The first letter of its ids. */
  readonly letter: string;
  /** The record of a new token, and lines to show. `which`: the word after `create`. */
  make(which: string | undefined, id: string): {
    readonly kept: Omit<T, "sha256">;
    readonly lines: readonly string[];
  };
}

/** The name of a new token: `--name`, else `otherwise`. Throws `invalidInput`. */
function tokenName(command: Command, otherwise: string): string {
  const name = flag(command.parsed, "name") ?? otherwise;
  if (/^[A-Za-z0-9._-]{1,64}$/.test(name)) return name;
  throw new Fault(
    "invalidInput",
    `Cannot name a token "${name}": letters, digits, . _ and - only`,
  );
}

/** A token's name, with its id if that differs. Safe to show. */
function tokenText({ id, name }: Pick<KeptToken, "id" | "name">): string {
  return name === id ? displayText(id) : `${displayText(name)} (${displayText(id)})`;
}

/** `create`, `list`, `revoke`. Throws `invalidInput` for other verbs, `notFound` for no such token. */
function tokenVerbs<T extends KeptToken>(
  command: Command<Basic | "serve">,
  kind: TokenKind<T>,
): Promise<number> {
  const { powers, json, parsed } = command;
  const { screen } = powers;
  const [verb = "", which] = parsed.args;
  const shown = (kept: Omit<T, "sha256">): Record<string, Json> => {
    const { id, name, createdAt } = kept;
    return { id, name, [kind.column]: kind.of(kept), createdAt };
  };
  switch (verb) {
    case "create": {
      const { kept, lines } = kind.make(which, powers.environment.id(kind.letter));
      const token = kind.tokens.create(kept, powers.serve.secret());
      const { createdAt: _now, ...rest } = shown(kept);
      if (json) printJson(command, { ...rest, token });
      else {
        screen.out(`${token}\n`);
        for (const line of lines) screen.say(line);
      }
      break;
    }
    case "list": {
      const all = kind.tokens.list();
      if (json) printJson(command, all.map(shown));
      else {
        const rows = all.map((each) => [
          ...[each.id, each.name, kind.of(each), new Date(each.createdAt).toISOString()],
        ]);
        const heads = ["ID", "NAME", kind.column.toUpperCase(), "MADE"];
        const lines = rows.length === 0
          ? ["no tokens"]
          : tableLines(heads, rows, screen.outWidth ?? 200);
        screen.out(`${lines.join("\n")}\n`);
      }
      break;
    }
    case "revoke": {
      if (which === undefined) {
        throw new Fault("invalidInput", "Cannot revoke a token: say which, by its id or name");
      }
      const gone = kind.tokens.revoke(which);
      if (json) printJson(command, { revoked: gone.id });
      else screen.say(`revoked ${tokenText(gone)}`);
      break;
    }
    default:
      throw new Fault(
        "invalidInput",
        `Cannot do "${verb}" with tokens: there is create, list, revoke`,
      );
  }
  return Promise.resolve(EXIT.success);
}

/** `mcp token create [NAME] [--profile P] [--name NAME]`, and `list`, `revoke ID`. */
export function mcpToken(command: Command<Basic | "serve">): Promise<number> {
  const { powers, places, parsed } = command;
  preparePlaces(powers.disk, places, powers.environment.uid);
  return tokenVerbs(command, {
    ...{ tokens: openTokens({ disk: powers.disk, places }), column: "profile", letter: "m" },
    of: ({ profile }) => profile,
    make(which, id) {
      const name = tokenName(command, which ?? id);
      const profile = oneOf(parsed, "profile", Profile.options) ?? "guest";
      const said = tokenText({ id, name });
      return {
        kept: { id, name, profile, createdAt: powers.environment.now() },
        lines: [
          `  token ${said}, profile ${profile}: shown this once, only its hash is kept`,
          ...(profile === "operator"
            ? ["  it is refused by a server that listens beyond this machine"]
            : []),
        ],
      };
    },
  });
}

/** `fleet token create [NAME] [--profile P]`, and `list`, `revoke ID`: tokens of people who use `--fleet`. */
export function fleetToken(command: Command<Basic | "serve">): Promise<number> {
  const { powers, places, parsed } = command;
  preparePlaces(powers.disk, places, powers.environment.uid);
  return tokenVerbs(command, {
    ...{
      tokens: openTokens({ disk: powers.disk, places }, "fleet"),
      column: "profile",
      letter: "f",
    },
    of: ({ profile }) => profile,
    make(which, id) {
      const name = tokenName(command, which ?? id);
      const profile = oneOf(parsed, "profile", Profile.options) ?? "guest";
      return {
        kept: { id, name, profile, createdAt: powers.environment.now() },
        lines: [
          `  token ${tokenText({ id, name })}: shown this once, only its hash is kept`,
          "  whoever has it sees every task of the fleet and may start more; answers need the person's own key",
          "  on the other machine: remit fleet login URL",
        ],
      };
    },
  });
}

/** `a2a token create PEER [--name N]`, and `list`, `revoke ID`. */
export function a2aToken(command: Command<Basic | "serve">): Promise<number> {
  const { powers, places } = command;
  preparePlaces(powers.disk, places, powers.environment.uid);
  return tokenVerbs(command, {
    ...{ tokens: openPeerTokens({ disk: powers.disk, places }), column: "peer", letter: "p" },
    of: ({ peer }) => peer,
    make(which, id) {
      const { peer, url } = peerOf(command, which);
      const name = tokenName(command, id);
      const said = tokenText({ id, name });
      return {
        kept: { id, name, peer, createdAt: powers.environment.now() },
        lines: [
          `  token ${said} of peer ${peer}: shown this once, only its hash is kept`,
          "  the other side keeps it in a file and types",
          `    remit a2a add ${displayText(url, { max: 300 })} --token-file FILE`,
        ],
      };
    },
  });
}

/** A peer of remit.yaml that uses tokens, and this service's address for it. */
function peerOf(
  { powers, places }: Command,
  which: string | undefined,
): { readonly peer: PeerName; readonly url: string } {
  const peer = PeerName.safeParse(which ?? "");
  if (!peer.success) {
    throw new Fault("invalidInput", "Cannot make a token: say for which peer of remit.yaml");
  }
  const config = loadConfig(powers.disk, places, { folder: powers.environment.cwd, mounts: [] });
  const { peers, at, serve } = config.service;
  const known = Object.hasOwn(peers, peer.data) ? peers[peer.data] : undefined;
  if (known === undefined) {
    throw new Fault(
      "notFound",
      `Cannot make a token: remit.yaml has no "peers: { ${peer.data}: … }"; write what it may have there first`,
    );
  }
  if (known.auth !== undefined) {
    throw new Fault(
      "conflict",
      `Cannot make a token: "${peer.data}" shows tokens of "${known.auth.issuer}" (${
        at(`peers.${peer.data}`)
      })`,
    );
  }
  return { peer: peer.data, url: serve.url ?? `http://${serve.listen ?? SERVE_AT}` };
}
