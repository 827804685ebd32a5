/** `remit mcp token create|list|revoke` and `remit a2a token create|list|revoke`. @module */
import { EXIT, Fault, type Json, PeerName, Profile } from "../../contracts/mod.ts";
import { displayText } from "../../text/mod.ts";
import { type Command, printJson } from "../command.ts";
import { flag, oneOf } from "../arguments/parse_arguments.ts";
import { tableLines } from "../terminal/table.ts";
import {
  type KeptToken,
  openTokens,
  type TokenBook,
  type Tokens,
} from "../../service/hosts/mod.ts";
import { openPeerTokens, type PeerToken } from "../../service/peer/mod.ts";
import { preparePlaces } from "../disk/places.ts";
import { loadConfig } from "../config/files.ts";
import { SERVE_AT } from "../service/command_table.ts";

// What `mcp token` and `a2a token` share: verbs, names, the list.

/** Tokens of one kind: whose they are is one more column. */
export interface TokenWords<T extends KeptToken> {
  readonly tokens: Pick<TokenBook<T>, "list" | "revoke">;
  /** What a token is of: `profile`, `peer`. */
  readonly of: string;
  readonly ofToken: (token: T) => string;
  /** Makes one; `which` is the word after `create`. */
  readonly create: (which: string | undefined) => number;
}

/** The name of a new token: of `--name`, else the one given. Throws `invalidInput`. */
function tokenName(command: Command, otherwise: string): string {
  const name = flag(command.parsed, "name") ?? otherwise;
  if (/^[A-Za-z0-9._-]{1,64}$/.test(name)) return name;
  throw new Fault(
    "invalidInput",
    `Cannot name a token "${name}": letters, digits, . _ and - only`,
  );
}

/** A token in words: its name, and its id where that is another word. Safe to show. */
function tokenText({ id, name }: Pick<KeptToken, "id" | "name">): string {
  return name === id ? displayText(id) : `${displayText(name)} (${displayText(id)})`;
}

/** `… token create|list|revoke`. Throws `invalidInput` for another verb, `notFound` for no such token. */
function tokenVerbs<T extends KeptToken>(command: Command, words: TokenWords<T>): number {
  const { hands, json, parsed } = command;
  const [verb = "", which] = parsed.args;
  switch (verb) {
    case "create":
      return words.create(which);
    case "list":
      return list(command, words);
    case "revoke": {
      if (which === undefined) {
        throw new Fault("invalidInput", "Cannot revoke a token: say which, by its id or name");
      }
      const gone = words.tokens.revoke(which);
      if (json) printJson(command, { revoked: gone.id });
      else hands.screen.say(`revoked ${tokenText(gone)}`);
      return EXIT.success;
    }
    default:
      throw new Fault(
        "invalidInput",
        `Cannot do "${verb}" with tokens: there is create, list, revoke`,
      );
  }
}

function list<T extends KeptToken>(
  command: Command,
  { tokens, of, ofToken }: TokenWords<T>,
): number {
  const { screen } = command.hands;
  const all = tokens.list();
  if (command.json) {
    printJson(
      command,
      all.map((each): Record<string, Json> => ({
        id: each.id,
        name: each.name,
        [of]: ofToken(each),
        createdAt: each.createdAt,
      })),
    );
    return EXIT.success;
  }
  const rows = all.map((each) => [
    each.id,
    each.name,
    ofToken(each),
    new Date(each.createdAt).toISOString(),
  ]);
  const lines = rows.length === 0
    ? ["no tokens"]
    : tableLines(["ID", "NAME", of.toUpperCase(), "MADE"], rows, screen.outWidth ?? 200);
  screen.out(`${lines.join("\n")}\n`);
  return EXIT.success;
}

// `remit mcp token create|list|revoke`.

/** `mcp token createHostToken [NAME] [--profile P] [--name NAME]`, `mcp token list`, `mcp token revoke ID`. */
export function mcpToken(command: Command): Promise<number> {
  const { hands, places } = command;
  preparePlaces(hands.disk, places, hands.around.uid);
  const tokens = openTokens({ disk: hands.disk, places });
  return Promise.resolve(tokenVerbs(command, {
    tokens,
    of: "profile",
    ofToken: ({ profile }) => profile,
    create: (which) => createHostToken(command, tokens, which),
  }));
}

function createHostToken(command: Command, tokens: Tokens, which?: string): number {
  const { hands, parsed } = command;
  const id = hands.around.id("m");
  const name = tokenName(command, which ?? id);
  const profile = oneOf(parsed, "profile", Profile.options) ?? "guest";
  const token = tokens.create(
    { id, name, profile, createdAt: hands.around.now() },
    hands.serve.secret(),
  );
  if (command.json) {
    printJson(command, { id, name, profile, token });
    return EXIT.success;
  }
  hands.screen.out(`${token}\n`);
  hands.screen.say(
    `  token ${
      tokenText({ id, name })
    }, profile ${profile}: shown this once, only its hash is kept`,
  );
  if (profile === "operator") {
    hands.screen.say("  it is refused by a server that listens beyond this machine");
  }
  return EXIT.success;
}

// `remit a2a token create|list|revoke`.

/** `a2a token createPeerToken PEER [--name N]`, `a2a token list`, `a2a token revoke ID`. */
export function a2aToken(command: Command): Promise<number> {
  const { hands, places } = command;
  preparePlaces(hands.disk, places, hands.around.uid);
  const tokens = openPeerTokens({ disk: hands.disk, places });
  return Promise.resolve(tokenVerbs(command, {
    tokens,
    of: "peer",
    ofToken: ({ peer }) => peer,
    create: (which) => createPeerToken(command, tokens, which),
  }));
}

function createPeerToken(
  command: Command,
  tokens: TokenBook<PeerToken>,
  which: string | undefined,
): number {
  const { hands, places } = command;
  const peer = PeerName.safeParse(which ?? "");
  if (!peer.success) {
    throw new Fault("invalidInput", "Cannot make a token: say for which peer of remit.yaml");
  }
  const { peers, at, serve } =
    loadConfig(hands.disk, places, { folder: hands.around.cwd, mounts: [] })
      .service;
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
  const url = serve.url ?? `http://${serve.listen ?? SERVE_AT}`;
  const id = hands.around.id("p");
  const name = tokenName(command, id);
  const token = tokens.create(
    { id, name, peer: peer.data, createdAt: hands.around.now() },
    hands.serve.secret(),
  );
  if (command.json) {
    printJson(command, { id, name, peer: peer.data, token });
    return EXIT.success;
  }
  hands.screen.out(`${token}\n`);
  const { screen } = hands;
  screen.say(
    `  token ${
      tokenText({ id, name })
    } of peer ${peer.data}: shown this once, only its hash is kept`,
  );
  screen.say("  the other side keeps it in a file and types");
  screen.say(`    remit a2a add ${displayText(url, { max: 300 })} --token-file FILE`);
  return EXIT.success;
}
