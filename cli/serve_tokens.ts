/** Bearer tokens of the gateway: STATE/person/mcp_tokens.json holds hashes, and never a token. Issue 6, Export. @module */
import { timingSafeEqual } from "node:crypto";
import { join } from "node:path";
import { z } from "zod";
import { Fault, Profile, type ServeHolder } from "../contracts/mod.ts";
import { sha256Hex } from "../port/digest.ts";
import type { DiskRead, DiskWrite } from "./hands.ts";
import type { Places } from "./places.ts";

const FILE = "mcp_tokens.json";
const MOST = 256;
const PREFIX = "remit_mcp_";

const Entry = z.object({
  id: z.string().min(1).max(32),
  name: z.string().min(1).max(64),
  profile: Profile,
  /** SHA-256 of the token, hex: it has 256 bits of chance, so nothing slower is needed. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  createdAt: z.int().min(0),
}).strict();
/** A token, without the token. */
export type TokenEntry = z.infer<typeof Entry>;

const Book = z.object({ version: z.literal(1), tokens: z.array(Entry).max(MOST) }).strict();

/** What tokens are made with. */
export interface TokenParts {
  readonly disk: Pick<DiskRead & DiskWrite, "read" | "write" | "stat">;
  readonly places: Pick<Places, "person">;
}

/** The tokens of one state. Read anew for each question, so that a revoked one is refused at once. */
export interface Tokens {
  list(): readonly TokenEntry[];
  /** Keeps a token's hash. `secret` is its chance. Gives the token, which is shown once. */
  create(
    more: Pick<TokenEntry, "id" | "name" | "profile" | "createdAt">,
    secret: string,
  ): string;
  /** By id or name. Throws `notFound`. */
  revoke(which: string): TokenEntry;
  /** Whose a token is; undefined for a wrong one. Takes the same time for every wrong one. */
  tryHolder(token: string): ServeHolder | undefined;
}

/** Opens the book of tokens. A file that others could read is refused. */
export function openTokens({ disk, places }: TokenParts): Tokens {
  const path = join(places.person, FILE);
  const read = (): readonly TokenEntry[] => {
    const bytes = disk.read(path);
    if (bytes === undefined) return [];
    if (((disk.stat(path)?.mode ?? 0) & 0o077) !== 0) {
      throw new Fault("refused", `Cannot use "${path}": others can read it; make it 0600`);
    }
    const parsed = Book.safeParse(tryJson(new TextDecoder().decode(bytes)));
    if (!parsed.success) {
      throw new Fault("invalidInput", `Cannot read "${path}": it does not parse`);
    }
    return parsed.data.tokens;
  };
  const write = (tokens: readonly TokenEntry[]): void =>
    disk.write(path, `${JSON.stringify({ version: 1, tokens }, null, 2)}\n`, { mode: 0o600 });
  return Object.freeze<Tokens>({
    list: read,
    create(more, secret): string {
      const tokens = read();
      if (tokens.length >= MOST) {
        throw new Fault("tooLarge", `Cannot make a token: there are ${MOST}; revoke one`);
      }
      if (tokens.some(({ name }) => name === more.name)) {
        throw new Fault(
          "alreadyExists",
          `Cannot make token "${more.name}": there is one of that name`,
        );
      }
      const token = `${PREFIX}${secret}`;
      write([...tokens, { ...more, sha256: sha256Hex(token) }]);
      return token;
    },
    revoke(which): TokenEntry {
      const tokens = read();
      const found = tokens.find(({ id, name }) => id === which || name === which);
      if (found === undefined) {
        throw new Fault("notFound", `Cannot revoke token "${which}": see "remit mcp token list"`);
      }
      write(tokens.filter(({ id }) => id !== found.id));
      return found;
    },
    tryHolder(token): ServeHolder | undefined {
      const given = new TextEncoder().encode(sha256Hex(token));
      let found: TokenEntry | undefined;
      for (const entry of read()) {
        if (timingSafeEqual(given, new TextEncoder().encode(entry.sha256))) found = entry;
      }
      return found === undefined ? undefined : { holder: found.id, profile: found.profile };
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
