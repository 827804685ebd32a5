/** Which requests of a page are made at all. Pure; the kernel judges each of them again. @module */
import { webOrigin, withoutFragment } from "./address.ts";

/** A call of a tool that is under way, as far as requests go. */
export interface Granted {
  /** The one origin that may be asked; none when the tool only looks. */
  readonly origin: string | undefined;
  /** The one request that may be more than a GET. */
  readonly exact?: { readonly url: string; readonly body: string };
  /** The first page that is opened has to be exactly this. */
  readonly leadsTo?: string;
}

/** A request as Chromium holds it. */
export interface PageRequest {
  readonly url: string;
  readonly method: string;
  readonly body: string | undefined;
  /** It would replace the page. */
  readonly opens: boolean;
}

/** What is done with it. */
export type Verdict =
  | { readonly kind: "ask" }
  /** Without leaving Chromium: `data:` and `blob:`. */
  | { readonly kind: "local" }
  | { readonly kind: "refuse"; readonly why: Refused };

/** Why it is not made. */
export type Refused = "scheme" | "origin" | "idle" | "sends" | "differs";

/** What the call has done already. */
export interface Done {
  /** Its one exact request was made. */
  readonly sent: boolean;
  /** A page was asked for: what it leads on to is within the origin. */
  readonly opened: boolean;
}

/** Judges one request. */
export function judgeRequest(
  request: PageRequest,
  granted: Granted | undefined,
  { sent, opened }: Done,
): Verdict {
  const { url, method, body, opens } = request;
  if (/^(data|blob):/i.test(url) && !opens) return { kind: "local" };
  const origin = webOrigin(url);
  if (origin === undefined) return refuse("scheme");
  if (granted === undefined || granted.origin === undefined) return refuse("idle");
  if (origin !== granted.origin) return refuse("origin");
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
