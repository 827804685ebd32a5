/**
 * Cookies of a profile after RFC 6265bis, and narrower: a cookie is bound to the exact origin that set it, unless its
 * Domain is exactly the host of another origin of the profile. So no list of public suffixes decides anything. Pure.
 * docs/decision/0126
 * @module
 */
import { COOKIE_LIMITS, ProfileCookie } from "../../../contracts/policy/browser_profile.ts";

/** What an answer says of one cookie. */
export type SetCookie =
  | { readonly kind: "kept"; readonly cookie: ProfileCookie }
  /** Expired already: it takes the one of its place away. */
  | { readonly kind: "gone"; readonly cookie: ProfileCookie }
  | { readonly kind: "refused"; readonly why: string };

/** Who answered, and when. */
export interface AnsweredBy {
  readonly url: URL;
  /** Those of the profile. */
  readonly origins: readonly string[];
  readonly now: number;
}

const ATTRIBUTE = 1_024;
const PREFIXES = /^__(secure|host)-/i;
// deno-lint-ignore no-control-regex -- the standard's own list
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;

/** Reads one `Set-Cookie`. Its value is never repeated. */
export function parseSetCookie(line: string, { url, origins, now }: AnsweredBy): SetCookie {
  if (line.length > 4 * COOKIE_LIMITS.bytes) return refused("it is too long");
  if (CONTROL.test(line)) return refused("it holds a control character");
  const [pair = "", ...rest] = line.split(";");
  const at = pair.indexOf("=");
  // One without a name could pass for any other on its way back.
  if (at < 0 || pair.slice(0, at).trim() === "") return refused("it has no name");
  const [name, value] = [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
  if (name.length + value.length > COOKIE_LIMITS.bytes) return refused("it is too long");

  const said = attributesOf(rest);
  const secure = said.has("secure");
  const sameSite = said.get("samesite")?.toLowerCase() ?? "lax";
  const place = placeOf(said.get("domain") ?? "", url, origins);
  if (place === undefined) return refused("its Domain is not of this host");
  const path = said.get("path") ?? "";
  const expiresAt = expiryOf(said, now);
  const parsed = ProfileCookie.safeParse({
    ...{ ...place, name, value, secure, createdAt: now },
    path: path.startsWith("/") ? path : defaultPath(url.pathname),
    httpOnly: said.has("httponly"),
    sameSite: sameSite === "strict" || sameSite === "none" ? sameSite : "lax",
    ...(expiresAt === undefined ? {} : { expiresAt }),
  });
  if (!parsed.success) return refused("it is not plain ASCII, or its path is too long");
  const { data: cookie } = parsed;
  const why = wrongFor(cookie, url, said);
  if (why !== undefined) return refused(why);
  return { kind: (expiresAt ?? Infinity) <= now ? "gone" : "kept", cookie };
}

/** Whether two are one cookie: what is set last stays. */
export function samePlace(a: ProfileCookie, b: ProfileCookie): boolean {
  return a.name === b.name && a.path === b.path && a.origin === b.origin && a.shared === b.shared;
}

/** A request as far as cookies go. */
export interface AskedWith {
  readonly url: URL;
  readonly method: string;
  /** The page that leads there, if one does, is another origin's. */
  readonly crossSite: boolean;
  /** It opens a page. */
  readonly opens: boolean;
  readonly now: number;
}

/** Longest `Cookie` header; cookies that do not fit stay at home. */
const HEADER = 16_384;

/** The cookies that go along, in the order of the standard. */
export function cookiesFor(
  cookies: readonly ProfileCookie[],
  asked: AskedWith,
): readonly ProfileCookie[] {
  const sorted = cookies.filter((each) => goesAlong(each, asked)).sort((a, b) =>
    b.path.length - a.path.length || a.createdAt - b.createdAt
  );
  let room = HEADER;
  return sorted.filter(({ name, value }) => (room -= name.length + value.length + 3) >= 0);
}

/** The header for these; empty without any. */
export function cookieHeader(cookies: readonly ProfileCookie[]): string {
  return cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
}

function goesAlong(
  { origin, shared, path, secure, sameSite, expiresAt = Infinity }: ProfileCookie,
  { url, method, crossSite, opens, now }: AskedWith,
): boolean {
  const { protocol, hostname } = new URL(origin);
  const place = url.origin === origin ||
    (shared && url.protocol === protocol && url.hostname.endsWith(`.${hostname}`));
  if (!place || expiresAt <= now || (secure && url.protocol !== "https:")) return false;
  if (!pathMatches(url.pathname, path)) return false;
  if (!crossSite || sameSite === "none") return true;
  return sameSite === "lax" && opens && (method === "GET" || method === "HEAD");
}

function refused(why: string): SetCookie {
  return { kind: "refused", why };
}

/** Attributes by their names in lower case; of repeated ones the last. */
function attributesOf(parts: readonly string[]): ReadonlyMap<string, string> {
  return new Map(parts.flatMap((part) => {
    const [name = "", ...value] = part.split("=");
    const text = value.join("=").trim();
    return text.length > ATTRIBUTE ? [] : [[name.trim().toLowerCase(), text]];
  }));
}

/** Whose it is. A wider Domain than the profile's own hosts narrows to the origin that answered. */
function placeOf(
  domain: string,
  url: URL,
  origins: readonly string[],
): Pick<ProfileCookie, "origin" | "shared"> | undefined {
  const host = domain.replace(/^\./, "").toLowerCase();
  const own = { origin: url.origin, shared: false };
  if (host === "") return own;
  // An address has no hosts above it or beneath it.
  const address = /^[\d.]+$|:/.test(url.hostname);
  if (address) return host === url.hostname ? own : undefined;
  if (host !== url.hostname && !url.hostname.endsWith(`.${host}`)) return undefined;
  const named = origins.find((each) => {
    const { protocol, hostname, port } = new URL(each);
    return protocol === url.protocol && hostname === host && port === url.port;
  });
  return named === undefined ? own : { origin: named, shared: true };
}

function wrongFor(
  { name, secure, shared, path, sameSite }: ProfileCookie,
  url: URL,
  said: ReadonlyMap<string, string>,
): string | undefined {
  if (secure && url.protocol !== "https:") return "it is Secure, and came over plain http";
  if (sameSite === "none" && !secure) return "SameSite=None goes with Secure alone";
  const prefix = PREFIXES.exec(name)?.[1]?.toLowerCase();
  if (prefix !== undefined && !secure) return "its name promises Secure";
  const host = !shared && (said.get("domain") ?? "") === "" && path === "/" && said.has("path");
  return prefix === "host" && !host ? "its name promises one host and Path=/" : undefined;
}

function defaultPath(path: string): string {
  const end = path.lastIndexOf("/");
  return end <= 0 ? "/" : path.slice(0, end);
}

function pathMatches(asked: string, path: string): boolean {
  if (!asked.startsWith(path)) return false;
  return asked.length === path.length || path.endsWith("/") || asked[path.length] === "/";
}

/** When it ends: Max-Age before Expires; undefined where neither is understood. */
function expiryOf(said: ReadonlyMap<string, string>, now: number): number | undefined {
  const age = said.get("max-age") ?? "";
  if (/^-?\d+$/.test(age)) {
    const seconds = Math.min(Number(age), 31_536_000);
    return seconds <= 0 ? 0 : now + seconds * 1_000;
  }
  return cookieDate(said.get("expires") ?? "");
}

const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");

/** A date as RFC 6265bis 5.1.1 reads it; undefined for what is none. */
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
  // There is no 31st of February.
  return at.getUTCDate() === day ? Math.max(0, at.getTime()) : undefined;
}
