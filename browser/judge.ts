/**
 * Decides which requests of a page are made. Pure; the kernel judges each request again. Used by
 * requests.ts and session.ts.
 * @module
 */
import { webOrigin, withoutFragment } from "./address.ts";

/** The current call's permissions for requests. */
export interface Granted {
  /** The one origin that may be asked; none when the tool only looks. */
  readonly origin: string | undefined;
  /** The one request that may be more than a GET. */
  readonly exact?: { readonly url: string; readonly body: string };
  /** The first page that is opened must have exactly this address. */
  readonly leadsTo?: string;
}

/** A request as Chromium reports it. */
export interface PageRequest {
  readonly url: string;
  readonly method: string;
  readonly body: string | undefined;
  /** Whether it would replace the page. */
  readonly opens: boolean;
}

/** What to do with a request. */
export type Verdict =
  | { readonly kind: "ask" }
  /** Served inside Chromium: `data:` and `blob:`. */
  | { readonly kind: "local" }
  | { readonly kind: "refuse"; readonly why: Refused };

/** Why a request is not made. */
export type Refused = "scheme" | "origin" | "idle" | "sends" | "differs";

/** What the call has done already. */
export interface Done {
  /** Whether its one exact request was made. */
  readonly sent: boolean;
  /** Whether a page was requested: its redirects may stay within the origin. */
  readonly opened: boolean;
  /** Whether the page is of another origin than the granted one: it may only be left. */
  readonly abroad?: boolean;
}

/** Judges one request. */
export function judgeRequest(
  request: PageRequest,
  granted: Granted | undefined,
  { sent, opened, abroad = false }: Done,
): Verdict {
  const { url, method, body, opens } = request;
  if (/^(data|blob):/i.test(url) && !opens) return { kind: "local" };
  const origin = webOrigin(url);
  if (origin === undefined) return refuse("scheme");
  if (granted === undefined || granted.origin === undefined) return refuse("idle");
  if (origin !== granted.origin) return refuse("origin");
  // What a page of one origin asks of another would carry the session of a signed-in person.
  if (abroad && !opens) return refuse("origin");
  const plain = withoutFragment(url);
  if (method !== "GET" && method !== "HEAD") {
    const { exact } = granted;
    if (exact === undefined || sent) return refuse("sends");
    const same = method === "POST" && plain === exact.url && body === exact.body;
    return same ? { kind: "ask" } : refuse("differs");
  }
  if (opens && !opened && granted.leadsTo !== undefined && plain !== granted.leadsTo) {
    return refuse("differs");
  }
  return { kind: "ask" };
}

function refuse(why: Refused): Verdict {
  return { kind: "refuse", why };
}
