/** `remit a2a token create|list|revoke`. @module */
import { EXIT, Fault, PeerName } from "../../contracts/mod.ts";
import { displayText } from "../../text/mod.ts";
import { type Command, printJson } from "../command.ts";
import { loadConfig } from "../config/files.ts";
import { preparePlaces } from "../disk/places.ts";
import type { TokenBook } from "../mcp_serve/token_book.ts";
import { tokenName, tokenText, tokenVerbs } from "../mcp_serve/token_words.ts";
import { SERVE_AT } from "./serve_command_table.ts";
import { openPeerTokens, type PeerToken } from "./peer/tokens.ts";

/** `a2a token create PEER [--name N]`, `a2a token list`, `a2a token revoke ID`. */
export function a2aToken(command: Command): Promise<number> {
  const { hands, places } = command;
  preparePlaces(hands.disk, places, hands.around.uid);
  const tokens = openPeerTokens({ disk: hands.disk, places });
  return Promise.resolve(tokenVerbs(command, {
    tokens,
    of: "peer",
    ofToken: ({ peer }) => peer,
    create: (which) => create(command, tokens, which),
  }));
}

function create(
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
