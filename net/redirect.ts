/** Decides where a redirect leads: the Fetch standard's rules, and stricter ones. Used by hops.ts. @module */
import { harmless, withoutBody } from "./request_headers.ts";
import { URL_LIMIT } from "./address/origin.ts";

/** One request before it is sent. */
export interface Step {
  readonly method: string;
  readonly url: URL;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

/** What follows an answer. */
export type Follow =
  | { readonly kind: "end" }
  | { readonly kind: "stop"; readonly location: string; readonly why: string }
  | { readonly kind: "go"; readonly location: string; readonly step: Step };

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
const AUTHORITY = /^(?:https?:)?\/\/([^/?#]*)/i;

/** Decides what follows an answer with this status and these `location` headers. */
export function follow(step: Step, status: number, locations: readonly string[]): Follow {
  const [location] = locations;
  if (!REDIRECTS.has(status) || location === undefined) return { kind: "end" };
  const shown = location.slice(0, URL_LIMIT);
  const target = locations.some((each) => each !== location)
    ? "it names more than one place"
    : targetOf(location, step.url);
  if (typeof target === "string") return { kind: "stop", location: shown, why: target };
  const next = rewritten(step, status, target);
  const why = next.url.origin === step.url.origin || isReading(next.method)
    ? undefined
    : `a ${next.method} is not sent on to another origin`;
  if (why !== undefined) return { kind: "stop", location: shown, why };
  return { kind: "go", location: shown, step: next };
}

function isReading(method: string): boolean {
  return method === "GET" || method === "HEAD";
}

/** The redirect's address, or why it is not followed. */
function targetOf(location: string, from: URL): URL | string {
  if (location.length > URL_LIMIT) return `the address is longer than ${URL_LIMIT} characters`;
  if (!/^[\x21-\x7e]*$/.test(location) || location.includes("\\")) {
    return "the address is not plain ASCII without spaces and backslashes";
  }
  if (SCHEME.test(location) && !/^https?:\/\//i.test(location)) {
    return "the address is not a plain http or https address";
  }
  let url: URL;
  try {
    url = new URL(location, from);
  } catch {
    // The parser's message adds nothing.
    return "the address does not parse";
  }
  const authority = AUTHORITY.exec(location)?.[1];
  if (authority !== undefined) {
    if (authority.includes("@")) return "the address holds a user name";
    const port = url.protocol === "https:" ? "443" : "80";
    const written = authority.toLowerCase();
    // One address, one spelling: others may read 0x7f.1 or full-width digits differently.
    if (written !== url.host && written !== `${url.host}:${port}`) {
      return "the host is not written as it is read";
    }
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") return "it leads away from the web";
  if (from.protocol === "https:" && url.protocol === "http:") return "it leads from https to http";
  url.hash = "";
  return url.href.length > URL_LIMIT ? "the address is too long" : url;
}

function rewritten(step: Step, status: number, url: URL): Step {
  const { method } = step;
  const toGet = status === 303 ? !isReading(method) : status < 303 && method === "POST";
  const kept = toGet ? withoutBody(step.headers) : step.headers;
  const headers = url.origin === step.url.origin ? kept : harmless(kept);
  const body = toGet ? undefined : step.body;
  return { method: toGet ? "GET" : method, url, headers, ...(body === undefined ? {} : { body }) };
}
