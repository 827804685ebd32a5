/** `remit mcp token create|list|revoke`. Issue 6, Export. @module */
import { EXIT, Fault, Profile } from "../contracts/mod.ts";
import { displayText } from "../text/mod.ts";
import { type Command, printJson } from "./command.ts";
import { flag, oneOf } from "./parse_arguments.ts";
import { preparePlaces } from "./places.ts";
import { openTokens, type Tokens } from "./serve_tokens.ts";
import { tableLines } from "./table.ts";

/** `mcp token create [--profile P] [--name N]`, `mcp token list`, `mcp token revoke ID`. */
export function mcpToken(command: Command): Promise<number> {
  const { hands, places, parsed } = command;
  preparePlaces(hands.disk, places, hands.around.uid);
  const tokens = openTokens({ disk: hands.disk, places });
  const [verb = "", which] = parsed.args;
  switch (verb) {
    case "create":
      return Promise.resolve(create(command, tokens));
    case "list":
      return Promise.resolve(list(command, tokens));
    case "revoke": {
      if (which === undefined) {
        throw new Fault("invalidInput", "Cannot revoke a token: say which, by its id or name");
      }
      const { id, name } = tokens.revoke(which);
      if (command.json) printJson(command, { revoked: id });
      else hands.screen.say(`revoked ${displayText(name)} (${displayText(id)})`);
      return Promise.resolve(EXIT.success);
    }
    default:
      throw new Fault(
        "invalidInput",
        `Cannot do "${verb}" with tokens: there is create, list, revoke`,
      );
  }
}

function create(command: Command, tokens: Tokens): number {
  const { hands, parsed } = command;
  const id = hands.around.id("m");
  const name = flag(parsed, "name") ?? id;
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(name)) {
    throw new Fault(
      "invalidInput",
      `Cannot name a token "${name}": letters, digits, . _ and - only`,
    );
  }
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
    `  token ${name} (${id}), profile ${profile}: shown this once, only its hash is kept`,
  );
  if (profile === "operator") {
    hands.screen.say("  it is refused by a server that listens beyond this machine");
  }
  return EXIT.success;
}

function list(command: Command, tokens: Tokens): number {
  const rows = tokens.list();
  if (command.json) {
    printJson(
      command,
      rows.map(({ id, name, profile, createdAt }) => ({ id, name, profile, createdAt })),
    );
    return EXIT.success;
  }
  const { screen } = command.hands;
  const lines = tableLines(
    ["ID", "NAME", "PROFILE", "MADE"],
    rows.map((
      { id, name, profile, createdAt },
    ) => [id, name, profile, new Date(createdAt).toISOString()]),
    screen.outWidth ?? 200,
  );
  screen.out(`${lines.join("\n")}\n`);
  return EXIT.success;
}
