/**
 * The headers that a request may carry. Checked by the kernel, and again by the net service.
 * @module
 */

const COUNT = 32;
const NAME = /^[a-z0-9!#$%&'*+.^_`|~-]{1,64}$/;
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const VALUE_LENGTH = 8_192;
const TOTAL = 16_384;

/** Headers of the connection and the service, or that reveal a source or change a meaning. */
const OWN: ReadonlySet<string> = new Set([
  "accept-charset",
  "accept-encoding",
  "access-control-request-headers",
  "access-control-request-method",
  "access-control-request-private-network",
  "connection",
  "content-length",
  "cookie",
  "cookie2",
  "date",
  "dnt",
  "expect",
  "forwarded",
  "host",
  "http2-settings",
  "keep-alive",
  "max-forwards",
  "origin",
  "referer",
  "referrer",
  "set-cookie",
  "set-cookie2",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "user-agent",
  "via",
  // These would turn a GET, which was judged as reading, into a write.
  "x-http-method",
  "x-http-method-override",
  "x-method-override",
  // These would make a front server ask another host.
  "x-host",
  "x-original-host",
  "x-original-url",
  "x-rewrite-url",
  "x-real-ip",
]);
const OWN_PREFIX = /^(?:proxy-|sec-|x-forwarded-|:)/;

/** Headers that another origin may see after a redirect: none that could hold a secret. */
const HARMLESS: ReadonlySet<string> = new Set(["accept", "accept-language", "content-type"]);

/** Why these headers may not be sent; undefined when they may. Does not repeat values. */
export function headersTrouble(headers: Readonly<Record<string, string>>): string | undefined {
  const entries = Object.entries(headers);
  if (entries.length > COUNT) return `there are more than ${COUNT} headers`;
  const seen = new Set<string>();
  let total = 0;
  for (const [written, value] of entries) {
    const name = written.toLowerCase();
    const shown = JSON.stringify(written.slice(0, 64));
    if (!NAME.test(name)) return `${shown} is not a name of a header`;
    if (seen.has(name)) return `header ${shown} is there twice`;
    seen.add(name);
    if (OWN.has(name) || OWN_PREFIX.test(name)) return `header ${shown} is not the caller's to set`;
    if (value.length > VALUE_LENGTH) return `header ${shown} is longer than ${VALUE_LENGTH}`;
    if (value !== "" && !VALUE.test(value)) return `header ${shown} is not plain ASCII`;
    total += name.length + value.length + 4;
  }
  return total > TOTAL ? `the headers are longer than ${TOTAL} together` : undefined;
}

/** The headers with names in lower case. */
export function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name.toLowerCase(),
      value,
    ]),
  );
}

/** The headers that another origin may see. */
export function harmless(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => HARMLESS.has(name)));
}

/** The headers without those that describe a body. */
export function withoutBody(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !name.startsWith("content-")),
  );
}
