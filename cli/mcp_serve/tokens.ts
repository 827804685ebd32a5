/** Tokens that MCP hosts show to the gateway: STATE/person/mcp_tokens.json. @module */
import * as z from "zod";
import { Profile, type ServeHolder } from "../../contracts/mod.ts";
import { KEPT_TOKEN, openTokenBook, type TokenBook, type TokenParts } from "./token_book.ts";

const Entry = z.object({ ...KEPT_TOKEN, profile: Profile }).strict();
/** A token, without the token. */
export type TokenEntry = z.infer<typeof Entry>;

/** The tokens of one state. */
export interface Tokens extends Pick<TokenBook<TokenEntry>, "list" | "create" | "revoke"> {
  /** Whose a token is; undefined for a wrong one. */
  tryHolder(token: string): ServeHolder | undefined;
}

/** Opens the book of tokens. A file that others could read is refused. */
export function openTokens(parts: TokenParts): Tokens {
  const book = openTokenBook(parts, {
    ...{ file: "mcp_tokens.json", prefix: "remit_mcp_", entry: Entry },
    listed: "remit mcp token list",
  });
  return Object.freeze<Tokens>({
    ...{ list: book.list, create: book.create, revoke: book.revoke },
    tryHolder(token): ServeHolder | undefined {
      const found = book.tryFind(token);
      return found === undefined ? undefined : { holder: found.id, profile: found.profile };
    },
  });
}
