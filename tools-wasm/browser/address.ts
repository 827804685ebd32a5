/**
 * Web addresses as the WHATWG URL standard parses and writes them: QuickJS has no `URL`. Rare and
 * ambiguous forms are omitted, so that a link's address is either exact or not followed.
 * @module
 */

/** The parts of an http or https address, each as written. */
export interface Address {
  readonly scheme: "http" | "https";
  /** With the port, unless it is the scheme's default. */
  readonly host: string;
  readonly path: string;
  /** With its `?`; empty when there is none. */
  readonly query: string;
}

/** Where a link leads. */
export type Place =
  | {
    readonly kind: "web";
    readonly url: string;
    readonly fragment: string;
    readonly address: Address;
  }
  /** `what`: the scheme with its colon, or why the link is not followed. */
  | { readonly kind: "other"; readonly what: string };

/** Maximum length of a followed address, in characters: the gate's limit. */
export const ADDRESS_CHARACTERS = 2_048;

/** Maximum length of an unparsed link; its address may be shorter. */
const LONGEST = 8 * ADDRESS_CHARACTERS;
const TOO_LONG: Place = {
  kind: "other",
  what: `an address of more than ${ADDRESS_CHARACTERS} characters`,
};

const PATH = encodeSet(' "#<>?`{}');
const QUERY = encodeSet(" \"#<>'");
const PORTS = { http: "80", https: "443" } as const;

/** The address as text. */
export function writeAddress({ scheme, host, path, query }: Address): string {
  return `${scheme}://${host}${path}${query}`;
}

/** Parses an address that the net service wrote or the gate approved, so it has one spelling. */
export function parseAddress(url: string): Address | undefined {
  const parts = /^(https?):\/\/([^/?#]+)([^?#]*)(\?[^#]*)?/.exec(url);
  if (parts === null) return undefined;
  const [, scheme, host = "", path = "", query = ""] = parts;
  return { scheme: scheme === "http" ? "http" : "https", host, path: path || "/", query };
}

/** Reads `text` as a link of the page at `base`; without a base it must be absolute. */
export function readPlace(text: string, base?: Address): Place {
  if (text.length > LONGEST) return TOO_LONG;
  const trimmed = withoutEnds(text).replace(/[\t\n\r]/g, "");
  const [before = "", ...after] = trimmed.split("#");
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(before)?.[1]?.toLowerCase();
  const address = scheme === undefined
    ? base && relative(before, base)
    : scheme === "http" || scheme === "https"
    ? absolute(scheme, before.slice(scheme.length + 1))
    : undefined;
  if (scheme !== undefined && scheme !== "http" && scheme !== "https") {
    return { kind: "other", what: `${scheme.slice(0, 32)}:` };
  }
  if (address === undefined) {
    return { kind: "other", what: "an address of a kind that is not followed" };
  }
  const url = writeAddress(address);
  if (url.length > ADDRESS_CHARACTERS) return TOO_LONG;
  return { kind: "web", url, fragment: after.join("#"), address };
}

function absolute(scheme: Address["scheme"], rest: string): Address | undefined {
  // Browsers accept `http:/a`, `http:a` and `http:///a`; nobody writes them honestly.
  const authority = /^[/\\]{2}([^/\\?]+)/.exec(rest)?.[1];
  if (authority === undefined) return undefined;
  const host = hostOf(scheme, authority);
  return host === undefined
    ? undefined
    : { scheme, host, ...tail(rest.slice(2 + authority.length)) };
}

function relative(text: string, base: Address): Address | undefined {
  if (text === "") return base;
  if (text.startsWith("?")) return { ...base, query: queryOf(text) };
  if (/^[/\\]{2}/.test(text)) return absolute(base.scheme, text);
  if (/^[/\\]/.test(text)) return { ...base, ...tail(text) };
  return { ...base, ...tail(base.path.slice(0, base.path.lastIndexOf("/") + 1) + text) };
}

function hostOf(scheme: Address["scheme"], authority: string): string | undefined {
  const { name = "", port = "" } =
    /^(?<name>[^:@]+)(?::(?<port>[0-9]{0,5}))?$/.exec(authority)?.groups ?? {};
  const host = name.toLowerCase();
  if (!isHost(host) || Number(port) > 65_535) return undefined;
  const written = port === "" ? "" : String(Number(port));
  return written === "" || written === PORTS[scheme] ? host : `${host}:${written}`;
}

function tail(rest: string): Pick<Address, "path" | "query"> {
  const mark = rest.indexOf("?");
  const path = mark < 0 ? rest : rest.slice(0, mark);
  return { path: pathOf(path), query: mark < 0 ? "" : queryOf(rest.slice(mark)) };
}

function pathOf(text: string): string {
  const segments = text.replaceAll("\\", "/").replace(/^\//, "").split("/");
  const kept: string[] = [];
  for (const [at, segment] of segments.entries()) {
    const dots = segment.replace(/%2e/gi, ".");
    const last = at === segments.length - 1;
    if (dots === "..") kept.pop();
    if (dots !== "." && dots !== "..") kept.push(percentEncoded(segment, PATH));
    else if (last) kept.push("");
  }
  return `/${kept.join("/")}`;
}

function queryOf(text: string): string {
  return `?${percentEncoded(text.slice(1), QUERY)}`;
}

function encodeSet(characters: string): ReadonlySet<number> {
  return new Set([...characters].map((each) => each.charCodeAt(0)));
}

/** The text without spaces and control characters at its ends. */
function withoutEnds(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && text.charCodeAt(from) <= 32) from += 1;
  while (to > from && text.charCodeAt(to - 1) <= 32) to -= 1;
  return text.slice(from, to);
}

// Host names with a single spelling.

/**
 * Whether `host`, in lower case, is a DNS name or an IPv4 address in the notation that every parser
 * agrees on. The gate decides about `xn--` labels.
 */
function isHost(host: string): boolean {
  if (host.length > 253 || !/^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/.test(host)) return false;
  const labels = host.split(".");
  if (labels.includes("")) return false;
  const last = labels.at(-1) ?? "";
  if (!/^([0-9]+|0x[0-9a-f]*)$/.test(last)) return true;
  return labels.length === 4 &&
    labels.every((label) => /^(0|[1-9][0-9]{0,2})$/.test(label) && Number(label) < 256);
}

// Percent-encoding of addresses and forms.

const HEX = "0123456789ABCDEF";

/** `text` in UTF-8 with `%XX` for every byte outside printable ASCII and every byte of `set`. */
function percentEncoded(text: string, set: ReadonlySet<number>): string {
  let written = "";
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > 32 && code < 127 && !set.has(code)) continue;
    const character = text.slice(at, at + (isPair(text, at) ? 2 : 1));
    written += text.slice(from, at);
    for (const byte of new TextEncoder().encode(character)) {
      written += `%${HEX[byte >> 4]}${HEX[byte & 15]}`;
    }
    at += character.length - 1;
    from = at + 1;
  }
  return written + text.slice(from);
}

/** One text in `application/x-www-form-urlencoded`: a space is `+`, most marks are encoded. */
export function formEncoded(text: string): string {
  return percentEncoded(text, FORM).replaceAll("%20", "+");
}

const FORM: ReadonlySet<number> = new Set(
  Array.from("!\"#$%&'()+,/:;<=>?@[\\]^`{|}~", (each) => each.charCodeAt(0)),
);

function isPair(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  const next = text.charCodeAt(at + 1);
  return code >= 0xd800 && code < 0xdc00 && next >= 0xdc00 && next < 0xe000;
}
