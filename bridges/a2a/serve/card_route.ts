/** The card at its well-known path: the bytes that were signed, and nothing where they are known. A2A 1.0, section 8. @module */
import type { CardAnswer } from "../../../contracts/wire_a2a.ts";

/** Where it is. */
export const CARD_PATH = "/.well-known/agent-card.json";

/** Seconds that a card may be kept; after them it is asked for again, by its tag. */
const MAX_AGE = 300;

/** Answers GET and HEAD. */
export function answerCard(request: Request, answer: CardAnswer): Response {
  const { card, etag, modified } = answer;
  const tag = /^(?:W\/)?"/.test(etag) ? etag : `"${etag}"`;
  // HTTP's dates have no milliseconds.
  const second = Math.floor(modified / 1_000) * 1_000;
  const headers = {
    "content-type": "application/json",
    "cache-control": `public, max-age=${MAX_AGE}`,
    etag: tag,
    "last-modified": new Date(second).toUTCString(),
  };
  if (isKnown(request.headers, tag, second)) return new Response(null, { status: 304, headers });
  return new Response(request.method === "HEAD" ? null : card, { headers });
}

/** RFC 9110: a tag that is asked about outweighs a date. */
function isKnown(headers: Headers, tag: string, modified: number): boolean {
  const tags = headers.get("if-none-match");
  if (tags !== null) {
    const bare = (text: string): string => text.trim().replace(/^W\//, "");
    return tags.trim() === "*" || tags.split(",").some((each) => bare(each) === bare(tag));
  }
  const since = headers.get("if-modified-since");
  return since !== null && Date.parse(since) >= modified;
}
