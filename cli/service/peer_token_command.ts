/** `remit a2a token create|list|revoke`. Issue 7. @module */
import { EXIT, Fault, PeerName } from "../../contracts/mod.ts";
import { displayText } from "../../text/mod.ts";
import { type Command, printJson } from "../command.ts";
import { loadConfig } from "../config_files.ts";
import { flag } from "../parse_arguments.ts";
import { preparePlaces } from "../places.ts";
import { tableLines } from "../table.ts";
import type { TokenBook } from "../token_book.ts";
import { SERVE_AT } from "./serve_command_table.ts";
import { openPeerTokens, type PeerToken } from "./peer_tokens.ts";

/** `a2a token create PEER [--name N]`, `a2a token list`, `a2a token revoke ID`. */
export function a2aToken(command: Command): Promise<number> {
  const { hands, places, parsed } = command;
  preparePlaces(hands.disk, places, hands.around.uid);
  const tokens = openPeerTokens({ disk: hands.disk, places });
  const [verb = "", which] = parsed.args;
  switch (verb) {
    case "create":
      return Promise.resolve(create(command, tokens, which));
    case "list":
      return Promise.resolve(list(command, tokens));
    case "revoke": {
      if (which === undefined) {
        throw new Fault("invalidInput", "Cannot revoke a token: say which, by its id or name");
      }
      const { id, name } = tokens.revoke(which);
      if (command.json) printJson(command, { revoked: id });
      else {hands.screen.say(
          `revoked ${displayText(name)}${name === id ? "" : ` (${displayText(id)})`}`,
        );}
      return Promise.resolve(EXIT.success);
    }
    default:
      throw new Fault(
        "invalidInput",
        `Cannot do "${verb}" with tokens: there is create, list, revoke`,
      );
  }
}

function create(
  command: Command,
  tokens: TokenBook<PeerToken>,
  which: string | undefined,
): number {
  const { hands, parsed, places } = command;
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
  const name = flag(parsed, "name") ?? id;
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(name)) {
    throw new Fault(
      "invalidInput",
      `Cannot name a token "${name}": letters, digits, . _ and - only`,
    );
  }
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
      name === id ? id : `${name} (${id})`
    } of peer ${peer.data}: shown this once, only its hash is kept`,
  );
  screen.say("  the other side keeps it in a file and types");
  screen.say(`    remit a2a add ${displayText(url, { max: 300 })} --token-file FILE`);
  return EXIT.success;
}

function list(command: Command, tokens: TokenBook<PeerToken>): number {
  const rows = tokens.list();
  if (command.json) {
    printJson(
      command,
      rows.map(({ id, name, peer, createdAt }) => ({ id, name, peer, createdAt })),
    );
    return EXIT.success;
  }
  const { screen } = command.hands;
  const lines = tableLines(
    ["ID", "NAME", "PEER", "MADE"],
    rows.map((
      { id, name, peer, createdAt },
    ) => [id, name, peer, new Date(createdAt).toISOString()]),
    screen.outWidth ?? 200,
  );
  screen.out(`${lines.join("\n")}\n`);
  return EXIT.success;
}
