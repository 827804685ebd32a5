/**
 * `/a2a` and the card: peers, each request with its credential. Whose it is is asked anew for each; what it may do is the
 * starter's to say. contracts/wire_a2a.ts.
 * @module
 */
import type { PeerHolder } from "../contracts/wire_a2a.ts";
import { type Ask, type Routes, tooMany } from "./answers.ts";
import { holderOf, tryBearer } from "./bearer.ts";
import type { Rates } from "./rate_limit.ts";
import { type BodyBounds, wholeBody } from "./whole_body.ts";

/** The protocol, whoever speaks it. Without a holder it answers nobody but readers of the card. */
export interface Peers {
  fetch(
    request: Request,
    body: Uint8Array | undefined,
    caller: { readonly token: string | null; readonly holder?: PeerHolder },
  ): Promise<Response>;
}

/** What the routes are made of. */
export interface A2aParts {
  readonly rates: { readonly peer: Rates; readonly wrong: Rates };
  /** Whose a credential is. Rejects with `denied`. */
  admit(token: string): Promise<PeerHolder>;
  readonly peers: Peers;
  readonly bounds: BodyBounds;
}

/** Longest credential: a JWT. */
const TOKEN = 16_384;
const PATHS = ["/.well-known/agent-card.json", "/a2a", "/a2a/*"] as const;

/** Adds them. */
export function serveA2a(app: Routes, { rates, admit, peers, bounds }: A2aParts): void {
  const serve = async (c: Ask): Promise<Response> => {
    const { raw } = c.req;
    const token = tryBearer(c.req.header("authorization"), TOKEN);
    // Nothing is read of whom nobody knows.
    if (token === undefined) return await peers.fetch(raw, undefined, { token: null });
    const holder = await holderOf(c, { admit: () => admit(token), wrong: rates.wrong });
    if (holder instanceof Response) return holder;
    if (holder === undefined) return await peers.fetch(raw, undefined, { token });
    if (!rates.peer.take(holder.peer, holder.perMinute)) return tooMany(c);
    if (raw.body === null) return await peers.fetch(raw, undefined, { token, holder });
    const bytes = await wholeBody(c, bounds);
    if (bytes instanceof Response) return bytes;
    // Whoever is known may wait long for an answer: for that its body needs no room.
    c.env.body?.over();
    return await peers.fetch(raw, bytes, { token, holder });
  };
  for (const path of PATHS) app.all(path, serve);
}
