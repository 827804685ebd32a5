/**
 * Makes links of a page absolute, as in RFC 3986, and refuses those that are not addresses. @module
 */

const ABSOLUTE = /^(https?):\/\/([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?$/i;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
const MAX = 2_000;

/** A link: an absolute `http`, `https` or `mailto` address; a place on this page; or refused. */
export type Link =
  | { readonly kind: "address"; readonly url: string }
  | { readonly kind: "samePage" }
  /** `javascript:`, `data:`, another scheme, or too long. */
  | { readonly kind: "refused" };

/** Resolves an attribute's link against the page's address. */
export function resolveLink(written: string, base: string): Link {
  // Browsers remove line ends, and characters up to the blank at the ends, before they read the
  // scheme: `java\nscript:`.
  const plain = written.replace(/[\t\n\r]/g, "").replace(/^[^!-\uffff]+|[^!-\uffff]+$/g, "");
  if (plain === "" || plain.startsWith("#")) return { kind: "samePage" };
  if (plain.length > MAX) return { kind: "refused" };
  if (/^mailto:/i.test(plain)) return address(plain);
  if (/^https?:/i.test(plain)) {
    const full = plain.replace(/^(https?):[/\\]*/i, "$1://");
    return ABSOLUTE.test(full) ? address(full) : { kind: "refused" };
  }
  if (SCHEME.test(plain)) return { kind: "refused" };
  const parts = ABSOLUTE.exec(base);
  if (parts === null) return { kind: "refused" };
  const [, scheme = "", host = "", path = "", query = ""] = parts;
  const origin = `${scheme}://${host}`;
  const slashes = plain.replaceAll("\\", "/");
  if (slashes.startsWith("//")) return address(`${scheme}:${plain.replace(/^[/\\]{2}/, "//")}`);
  if (slashes.startsWith("/")) return address(origin + withoutDots(plain));
  if (plain.startsWith("?")) return address(origin + path + plain);
  if (plain.startsWith("#")) return address(origin + path + query + plain);
  return address(origin + withoutDots(path.slice(0, path.lastIndexOf("/") + 1) + plain || "/"));
}

/** The base address of a page's links. */
export function baseOf(url: string, base: string): string {
  if (base === "") return url;
  const link = resolveLink(base, url);
  return link.kind === "address" && link.url.startsWith("http") ? link.url : url;
}

function withoutDots(target: string): string {
  const end = target.search(/[?#]/);
  const [path, rest] = end < 0 ? [target, ""] : [target.slice(0, end), target.slice(end)];
  const out: string[] = [];
  const segments = path.split("/");
  for (const [at, segment] of segments.entries()) {
    const last = at === segments.length - 1;
    if (segment === ".." && out.length > 1) out.pop();
    if (segment !== "." && segment !== "..") out.push(segment);
    else if (last) out.push("");
  }
  const joined = out.join("/");
  return (joined.startsWith("/") ? joined : `/${joined}`) + rest;
}

/** Percent-encodes characters that would end a Markdown link. */
function address(url: string): Link {
  const safe = url.replace(
    /[\s()<>"\\[\]`|]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  );
  return { kind: "address", url: safe };
}
