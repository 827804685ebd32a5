/** `remit mcp token create|list|revoke`. @module */
import { EXIT, Profile } from "../../contracts/mod.ts";
import { type Command, printJson } from "../command.ts";
import { oneOf } from "../arguments/parse_arguments.ts";
import { preparePlaces } from "../disk/places.ts";
import { openTokens, type Tokens } from "./tokens.ts";
import { tokenName, tokenText, tokenVerbs } from "./token_words.ts";

/** `mcp token create [NAME] [--profile P] [--name NAME]`, `mcp token list`, `mcp token revoke ID`. */
export function mcpToken(command: Command): Promise<number> {
  const { hands, places } = command;
  preparePlaces(hands.disk, places, hands.around.uid);
  const tokens = openTokens({ disk: hands.disk, places });
  return Promise.resolve(tokenVerbs(command, {
    tokens,
    of: "profile",
    ofToken: ({ profile }) => profile,
    create: (which) => create(command, tokens, which),
  }));
}

function create(command: Command, tokens: Tokens, which?: string): number {
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
