/**
 * Cookies of a browser profile by RFC 6265bis, with a narrower scope: the exact origin that set the
 * cookie, unless the Domain is exactly the host of another origin of the profile. So no list of
 * public suffixes is needed. Pure. Used by profiles.ts and profile_store.ts. docs/decision/0126
 * @module
 */
import { COOKIE_LIMITS, ProfileCookie } from "../../../contracts/policy/browser_profile.ts";

/** The result of parsing one `Set-Cookie` line. */
export type SetCookie =
  | { readonly kind: "kept"; readonly cookie: ProfileCookie }
  /** Expired already: the answer deletes the stored cookie with this name and scope. */
  | { readonly kind: "gone"; readonly cookie: ProfileCookie }
  | { readonly kind: "refused"; readonly why: string };

/** Where and when an answer set a cookie. */
export interface CookieSource {
  readonly url: URL;
  /** The profile's origins. */
  readonly origins: readonly string[];
  readonly now: number;
}

const MAX_ATTRIBUTE = 1_024;
const PREFIXES = /^__(secure|host)-/i;
// deno-lint-ignore no-control-regex -- the standard lists these characters
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;

/** Parses one `Set-Cookie` line. A refusal never repeats the cookie's value. */
export function parseSetCookie(line: string, { url, origins, now }: CookieSource): SetCookie {
  if (line.length > 4 * COOKIE_LIMITS.bytes) return refused("it is too long");
  if (CONTROL.test(line)) return refused("it holds a control character");
  const [pair = "", ...rest] = line.split(";");
  const at = pair.indexOf("=");
  // A request sends a nameless cookie as its value alone, which could read as another cookie.
  if (at < 0 || pair.slice(0, at).trim() === "") return refused("it has no name");
  const [name, value] = [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
  if (name.length + value.length > COOKIE_LIMITS.bytes) return refused("it is too long");

  const attributes = attributesOf(rest);
  const secure = attributes.has("secure");
  const sameSite = attributes.get("samesite")?.toLowerCase() ?? "lax";
  const scope = scopeOf(attributes.get("domain") ?? "", url, origins);
  if (scope === undefined) return refused("its Domain is not of this host");
  const path = attributes.get("path") ?? "";
  const expiresAt = expiryOf(attributes, now);
  const parsed = ProfileCookie.safeParse({
    ...{ ...scope, name, value, secure, createdAt: now },
    path: path.startsWith("/") ? path : defaultPath(url.pathname),
    httpOnly: attributes.has("httponly"),
    sameSite: sameSite === "strict" || sameSite === "none" ? sameSite : "lax",
    ...(expiresAt === undefined ? {} : { expiresAt }),
  });
  if (!parsed.success) return refused("it is not plain ASCII, or its path is too long");
  const { data: cookie } = parsed;
  const why = refusalFor(cookie, url, attributes);
  if (why !== undefined) return refused(why);
  return { kind: (expiresAt ?? Infinity) <= now ? "gone" : "kept", cookie };
}

/** Whether two cookies have the same name and scope, so that the later one replaces the earlier. */
export function sameCookie(a: ProfileCookie, b: ProfileCookie): boolean {
  return a.name === b.name && a.path === b.path && a.origin === b.origin && a.shared === b.shared;
}

/** The parts of a request that decide which cookies the request carries. */
export interface CookieRequest {
  readonly url: URL;
  readonly method: string;
  /** Whether a page of another origin leads to this request. */
  readonly crossSite: boolean;
  /** Whether the request opens a page: a top-level navigation. */
  readonly opens: boolean;
  readonly now: number;
}

/** Maximum length of the `Cookie` header; cookies that do not fit are not sent. */
const MAX_HEADER = 16_384;

/** The cookies that a request carries, in the order of the standard. */
export function cookiesFor(
  cookies: readonly ProfileCookie[],
  request: CookieRequest,
): readonly ProfileCookie[] {
  const sorted = cookies.filter((each) => isSent(each, request)).sort((a, b) =>
    b.path.length - a.path.length || a.createdAt - b.createdAt
  );
  let room = MAX_HEADER;
  return sorted.filter(({ name, value }) => (room -= name.length + value.length + 3) >= 0);
}

/** The `Cookie` header for these cookies; empty without any. */
export function cookieHeader(cookies: readonly ProfileCookie[]): string {
  return cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
}

function isSent(
  { origin, shared, path, secure, sameSite, expiresAt = Infinity }: ProfileCookie,
  { url, method, crossSite, opens, now }: CookieRequest,
): boolean {
  const { protocol, hostname } = new URL(origin);
  const inScope = url.origin === origin ||
    (shared && url.protocol === protocol && url.hostname.endsWith(`.${hostname}`));
  if (!inScope || expiresAt <= now || (secure && url.protocol !== "https:")) return false;
  if (!pathMatches(url.pathname, path)) return false;
  if (!crossSite || sameSite === "none") return true;
  return sameSite === "lax" && opens && (method === "GET" || method === "HEAD");
}

function refused(why: string): SetCookie {
  return { kind: "refused", why };
}

/** Attributes by lower-case name; the last of repeated attributes counts. */
function attributesOf(parts: readonly string[]): ReadonlyMap<string, string> {
  return new Map(parts.flatMap((part) => {
    const [name = "", ...value] = part.split("=");
    const text = value.join("=").trim();
    return text.length > MAX_ATTRIBUTE ? [] : [[name.trim().toLowerCase(), text]];
  }));
}

/** A cookie's scope. A Domain that is not a host of the profile narrows to the answering origin. */
function scopeOf(
  domain: string,
  url: URL,
  origins: readonly string[],
): Pick<ProfileCookie, "origin" | "shared"> | undefined {
  const host = domain.replace(/^\./, "").toLowerCase();
  const own = { origin: url.origin, shared: false };
  if (host === "") return own;
  // An IP address has no parent domain and no subdomains.
  const address = /^[\d.]+$|:/.test(url.hostname);
  if (address) return host === url.hostname ? own : undefined;
  if (host !== url.hostname && !url.hostname.endsWith(`.${host}`)) return undefined;
  const named = origins.find((each) => {
    const { protocol, hostname, port } = new URL(each);
    return protocol === url.protocol && hostname === host && port === url.port;
  });
  return named === undefined ? own : { origin: named, shared: true };
}

function refusalFor(
  { name, secure, shared, path, sameSite }: ProfileCookie,
  url: URL,
  attributes: ReadonlyMap<string, string>,
): string | undefined {
  if (secure && url.protocol !== "https:") return "it is Secure, and came over plain http";
  if (sameSite === "none" && !secure) return "SameSite=None goes with Secure alone";
  const prefix = PREFIXES.exec(name)?.[1]?.toLowerCase();
  if (prefix !== undefined && !secure) return "its name promises Secure";
  const host = !shared && (attributes.get("domain") ?? "") === "" && path === "/" &&
    attributes.has("path");
  return prefix === "host" && !host ? "its name promises one host and Path=/" : undefined;
}

function defaultPath(path: string): string {
  const end = path.lastIndexOf("/");
  return end <= 0 ? "/" : path.slice(0, end);
}

function pathMatches(pathname: string, path: string): boolean {
  if (!pathname.startsWith(path)) return false;
  return pathname.length === path.length || path.endsWith("/") || pathname[path.length] === "/";
}

/** When a cookie expires: Max-Age before Expires; undefined when neither can be parsed. */
function expiryOf(attributes: ReadonlyMap<string, string>, now: number): number | undefined {
  const age = attributes.get("max-age") ?? "";
  if (/^-?\d+$/.test(age)) {
    const seconds = Math.min(Number(age), 31_536_000);
    return seconds <= 0 ? 0 : now + seconds * 1_000;
  }
  return cookieDate(attributes.get("expires") ?? "");
}

const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");

/** Parses a date by RFC 6265bis 5.1.1; undefined for any other text. */
export function cookieDate(text: string): number | undefined {
  let time: readonly number[] | undefined;
  let day: number | undefined, month: number | undefined, year: number | undefined;
  for (const token of text.split(/[\t\x20-\x2f\x3b-\x40\x5b-\x60\x7b-\x7e]+/)) {
    const clock = /^(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\D|$)/.exec(token);
    const name = MONTHS.indexOf(token.slice(0, 3).toLowerCase());
    if (time === undefined && clock !== null) time = clock.slice(1).map(Number);
    else if (day === undefined && /^\d{1,2}(?:\D|$)/.test(token)) day = parseInt(token, 10);
    else if (month === undefined && token.length >= 3 && name >= 0) month = name;
    else if (year === undefined && /^\d{2,4}(?:\D|$)/.test(token)) year = parseInt(token, 10);
  }
  if (time === undefined || day === undefined || month === undefined || year === undefined) {
    return undefined;
  }
  const [hours = 0, minutes = 0, seconds = 0] = time;
  const full = year >= 70 && year < 100 ? year + 1_900 : year < 70 ? year + 2_000 : year;
  if (day < 1 || day > 31 || full < 1_601 || hours > 23 || minutes > 59 || seconds > 59) {
    return undefined;
  }
  const at = new Date(Date.UTC(full, month, day, hours, minutes, seconds));
  // Date.UTC turns 31 February into a day of March.
  return at.getUTCDate() === day ? Math.max(0, at.getTime()) : undefined;
}
