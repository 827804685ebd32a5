/** Fetches a web page for a wiki, through the net service's checks of each hop. @module */
import { Buffer } from "node:buffer";
import * as z from "zod";
import { Fault, type Json } from "../../../contracts/base/mod.ts";
import type { NetAnswer, NetRequest } from "../../../contracts/wire/mod.ts";
import type { Fetched } from "../powers.ts";

/** Powers for fetching. */
export interface FetchParts {
  /** Sends a request and follows redirects; each hop is checked. */
  fetchHops(request: NetRequest, signal: AbortSignal): Promise<ReturnType<typeof netAnswer>>;
  /** Whether a host is a literal address. */
  isAddress(host: string): boolean;
}

const Answer = z.object({
  status: z.number(),
  url: z.string(),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
  bytes: z.number(),
  cut: z.boolean(),
  stopped: z.object({ location: z.string(), why: z.string() }).optional(),
});

/** Parses the net service's answer. */
export function netAnswer(answer: Json): Omit<NetAnswer, "hops" | "stopped"> & Stopped {
  return Answer.parse(answer);
}

/** A redirect that was not followed. */
export interface Stopped {
  readonly stopped?: NetAnswer["stopped"] | undefined;
}

/** Milliseconds for the whole fetch. */
const FETCH_MS = 30_000;
const MAX_REDIRECTS = 3;
const MAX_BYTES = 32 * 1024 * 1024;

/** Fetches a page. Throws like {@link WikiPowers.fetch}. */
export async function fetchPage(
  text: string,
  parts: FetchParts,
  signal: AbortSignal,
): Promise<Fetched> {
  const url = readUrl(text);
  const allow = allowed(url, parts.isAddress(url.hostname));
  const answer = await parts.fetchHops({
    id: "wiki",
    method: "GET",
    url: url.href,
    headers: { accept: "text/html,text/markdown,text/plain,application/pdf,*/*;q=0.5" },
    allow,
    redirects: MAX_REDIRECTS,
    requestBytes: 0,
    responseBytes: MAX_BYTES,
    deadlineMs: FETCH_MS,
  }, signal);
  if (answer.stopped !== undefined) {
    throw new Fault(
      "refused",
      `Cannot fetch "${text}": ${stoppedText(answer, answer.stopped, allow)}`,
    );
  }
  if (answer.status !== 200) {
    const code = answer.status === 404 || answer.status === 410 ? "notFound" : "upstream";
    throw new Fault(code, `Cannot fetch "${text}": the server answers ${answer.status}`);
  }
  if (answer.cut) {
    throw new Fault("tooLarge", `Cannot fetch "${text}": it is longer than ${answer.bytes} bytes`);
  }
  return Object.freeze({
    url: answer.url,
    mediaType: (answer.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "",
    bytes: new Uint8Array(Buffer.from(answer.body, "base64")),
  });
}

/** Why a redirect was not followed, with the target, so that a person can name that site. */
function stoppedText(
  { url }: { readonly url: string },
  { location, why }: NonNullable<Stopped["stopped"]>,
  allow: NetRequest["allow"],
): string {
  const to = URL.canParse(location, url) ? new URL(location, url) : undefined;
  const web = to !== undefined && /^https?:$/.test(to.protocol);
  return !web || allow.some(({ origin }) => origin === to.origin)
    ? `it leads to "${location}": ${why}`
    : `it leads to "${to.href}", another site, which is not followed; if you trust that one, name it`;
}

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || text.length > 4_096) {
    throw new Fault("invalidInput", `Cannot fetch "${text}": it is no http or https URL`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new Fault(
      "invalidInput",
      `Cannot fetch "${url.host}": a URL with a password is not kept`,
    );
  }
  url.hash = "";
  return url;
}

/** The same host, including a move to https. `named`: a literal address may be private. */
function allowed(url: URL, named: boolean): NetRequest["allow"] {
  const secure = new URL(url.href);
  secure.protocol = "https:";
  return [...new Set([url.origin, secure.origin, `https://${url.hostname}`])]
    .map((origin) => ({ origin, named }));
}
