/** Bearer tokens of one kind: a file in STATE/person holds only their hashes. @module */
import { timingSafeEqual } from "node:crypto";
import { join } from "node:path";
import * as z from "zod";
import { Fault } from "../../contracts/base/mod.ts";
import { Profile } from "../../contracts/task/mod.ts";
import type { ServeHolder } from "../../contracts/wire/mod.ts";
import { sha256Hex } from "../../port/digest.ts";

const MAX = 256;

/** The stored fields common to all tokens. */
export const KEPT_TOKEN = {
  id: z.string().min(1).max(32),
  name: z.string().min(1).max(64),
  /** SHA-256 of the token, hex: a token has 256 random bits, so no slower hash is needed. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  createdAt: z.int().min(0),
};

/** The stored part of a token, without the token. */
export type KeptToken = Readonly<z.infer<z.ZodObject<typeof KEPT_TOKEN>>>;

/** Where tokens are stored. */
export interface TokenParts {
  readonly disk: {
    read(path: string): Uint8Array | undefined;
    write(path: string, text: string, options: { readonly mode: number }): void;
    /** The permission bits; undefined where there is no file. */
    stat(path: string): { readonly mode: number } | undefined;
  };
  /** STATE/person. */
  readonly places: { readonly person: string };
}

/** One kind of tokens. */
export interface TokenKind<T extends KeptToken> {
  /** The file's name in STATE/person. */
  readonly file: string;
  /** The prefix of each token. */
  readonly prefix: string;
  readonly entry: z.ZodType<T>;
  /** The command that lists the tokens, for refusals. */
  readonly listed: string;
}

/** The tokens of one kind. The file is read each time, so that a revoked token fails at once. */
export interface TokenBook<T extends KeptToken> {
  list(): readonly T[];
  /** Stores the hash of a token made of `secret`, 256 random bits. Returns the token. */
  create(more: Omit<T, "sha256">, secret: string): string;
  /** Revokes by id or name. Throws `notFound`. */
  revoke(which: string): T;
  /** The entry of a token; undefined for a wrong one. Takes the same time for every wrong token. */
  tryFind(token: string): T | undefined;
}

/** Opens a book of tokens. Refuses a file that others can read. */
export function openTokenBook<T extends KeptToken>(
  { disk, places }: TokenParts,
  kind: TokenKind<T>,
): TokenBook<T> {
  const path = join(places.person, kind.file);
  const book = z.object({ version: z.literal(1), tokens: z.array(kind.entry).max(MAX) }).strict();
  let last: { readonly text: string; readonly tokens: readonly T[] } | undefined;
  const read = (): readonly T[] => {
    const bytes = disk.read(path);
    if (bytes === undefined) return [];
    if (((disk.stat(path)?.mode ?? 0) & 0o077) !== 0) {
      throw new Fault("refused", `Cannot use "${path}": others can read it; make it 0600`);
    }
    const text = new TextDecoder().decode(bytes);
    if (last?.text === text) return last.tokens;
    const parsed = book.safeParse(tryJson(text));
    if (!parsed.success) {
      throw new Fault("invalidInput", `Cannot read "${path}": it does not parse`);
    }
    last = { text, tokens: parsed.data.tokens };
    return last.tokens;
  };
  const write = (tokens: readonly T[]): void =>
    disk.write(path, `${JSON.stringify({ version: 1, tokens }, null, 2)}\n`, { mode: 0o600 });
  return Object.freeze<TokenBook<T>>({
    list: read,
    create(more, secret): string {
      const tokens = read();
      if (tokens.length >= MAX) {
        throw new Fault("tooLarge", `Cannot make a token: there are ${MAX}; revoke one`);
      }
      if (tokens.some(({ name }) => name === more.name)) {
        throw new Fault(
          "alreadyExists",
          `Cannot make token "${more.name}": there is one of that name`,
        );
      }
      const token = `${kind.prefix}${secret}`;
      write([...tokens, kind.entry.parse({ ...more, sha256: sha256Hex(token) })]);
      return token;
    },
    revoke(which): T {
      const tokens = read();
      const found = tokens.find(({ id, name }) => id === which || name === which);
      if (found === undefined) {
        throw new Fault("notFound", `Cannot revoke token "${which}": see "${kind.listed}"`);
      }
      write(tokens.filter(({ id }) => id !== found.id));
      return found;
    },
    tryFind(token): T | undefined {
      const given = new TextEncoder().encode(sha256Hex(token));
      let found: T | undefined;
      for (const entry of read()) {
        if (timingSafeEqual(given, new TextEncoder().encode(entry.sha256))) found = entry;
      }
      return found;
    },
  });
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const HostToken = z.object({ ...KEPT_TOKEN, profile: Profile }).strict();
/** The stored part of a host's token. */
export type TokenEntry = z.infer<typeof HostToken>;

/** The tokens of MCP hosts. */
export interface Tokens extends Pick<TokenBook<TokenEntry>, "list" | "create" | "revoke"> {
  /** The holder of a token; undefined for a wrong one. */
  tryHolder(token: string): ServeHolder | undefined;
}

/** Opens the tokens of MCP hosts, STATE/person/mcp_tokens.json, or of people who use `--fleet`. */
export function openTokens(parts: TokenParts, of: "mcp" | "fleet" = "mcp"): Tokens {
  const book = openTokenBook(parts, {
    ...{ file: `${of}_tokens.json`, prefix: `remit_${of}_`, entry: HostToken },
    listed: `remit ${of} token list`,
  });
  return Object.freeze<Tokens>({
    ...{ list: book.list, create: book.create, revoke: book.revoke },
    tryHolder(token): ServeHolder | undefined {
      const found = book.tryFind(token);
      return found === undefined ? undefined : { holder: found.id, profile: found.profile };
    },
  });
}
