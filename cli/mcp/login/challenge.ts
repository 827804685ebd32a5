/** The header `www-authenticate` of a refusal. RFC 9110, section 11.6.1; RFC 9728, section 5.1. @module */

/** What a server says with a refusal. */
export interface Challenge {
  /** Where it describes itself: untrusted. */
  readonly resourceMetadata?: string;
  /** The scopes that it wants, untrusted. */
  readonly scope?: string;
}

const LENGTH = 8_192;
const TOKEN = /[!#$%&'*+.^_`|~0-9A-Za-z-]/;

interface Scanner {
  readonly text: string;
  at: number;
}

/** The first challenge of scheme Bearer; empty when there is none or the header does not read. */
export function bearerChallenge(header: string | undefined): Challenge {
  if (header === undefined || header.length > LENGTH) return {};
  const params = bearerParams({ text: header, at: 0 });
  const resourceMetadata = params.get("resource_metadata");
  const scope = params.get("scope");
  return {
    ...(resourceMetadata === undefined ? {} : { resourceMetadata }),
    ...(scope === undefined ? {} : { scope }),
  };
}

function bearerParams(scan: Scanner): ReadonlyMap<string, string> {
  let scheme = "";
  let found: Map<string, string> | undefined;
  for (;;) {
    skip(scan, " \t,");
    const word = token(scan);
    if (word === "") return found ?? new Map();
    skip(scan, " \t");
    if (scan.text[scan.at] !== "=") {
      // A word without a value begins the next challenge.
      if (found !== undefined) return found;
      scheme = word.toLowerCase();
      if (scheme === "bearer") found = new Map();
      continue;
    }
    scan.at++;
    skip(scan, " \t");
    const value = scan.text[scan.at] === '"' ? quoted(scan) : token(scan);
    if (value === undefined) return new Map();
    const name = word.toLowerCase();
    // Said twice it means neither.
    if (found !== undefined) found.set(name, found.has(name) ? "" : value);
  }
}

function skip(scan: Scanner, chars: string): void {
  while (scan.at < scan.text.length && chars.includes(scan.text[scan.at] ?? "")) scan.at++;
}

function token(scan: Scanner): string {
  const from = scan.at;
  while (TOKEN.test(scan.text[scan.at] ?? "")) scan.at++;
  // The padding of a token68, which no parameter has.
  return scan.text.slice(from, scan.at);
}

function quoted(scan: Scanner): string | undefined {
  let value = "";
  for (scan.at++; scan.at < scan.text.length; scan.at++) {
    const char = scan.text[scan.at] ?? "";
    if (char === '"') {
      scan.at++;
      return value;
    }
    if (char === "\\") scan.at++;
    value += scan.text[scan.at] ?? "";
  }
  return undefined;
}
