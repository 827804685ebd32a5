/** What `mcp token` and `a2a token` share: verbs, names, the list. @module */
import { EXIT, Fault, type Json } from "../../contracts/mod.ts";
import { displayText } from "../../text/mod.ts";
import { type Command, printJson } from "../command.ts";
import { flag } from "../arguments/parse_arguments.ts";
import { tableLines } from "../terminal/table.ts";
import type { KeptToken, TokenBook } from "./token_book.ts";

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
export function tokenName(command: Command, otherwise: string): string {
  const name = flag(command.parsed, "name") ?? otherwise;
  if (/^[A-Za-z0-9._-]{1,64}$/.test(name)) return name;
  throw new Fault(
    "invalidInput",
    `Cannot name a token "${name}": letters, digits, . _ and - only`,
  );
}

/** A token in words: its name, and its id where that is another word. Safe to show. */
export function tokenText({ id, name }: Pick<KeptToken, "id" | "name">): string {
  return name === id ? displayText(id) : `${displayText(name)} (${displayText(id)})`;
}

/** `… token create|list|revoke`. Throws `invalidInput` for another verb, `notFound` for no such token. */
export function tokenVerbs<T extends KeptToken>(command: Command, words: TokenWords<T>): number {
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
