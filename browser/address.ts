/** Addresses as the tools show and compare them. @module */

/** Maximum length of a followed address, in characters: the gate's limit. */
const ADDRESS_CHARACTERS = 2_048;

/** Where a link leads. */
export type Place =
  | { readonly kind: "web"; readonly url: string }
  /** `what`: why it is not followed. */
  | { readonly kind: "other"; readonly what: string };

/** Reads `text` as a link, resolved against `base`. */
export function readPlace(text: string, base: string): Place {
  let url: URL;
  try {
    url = new URL(text, base);
  } catch {
    return { kind: "other", what: "an address that does not parse" };
  }
  const { protocol, username, password } = url;
  if (protocol !== "http:" && protocol !== "https:") {
    return { kind: "other", what: protocol.slice(0, 32) };
  }
  if (username !== "" || password !== "") {
    return { kind: "other", what: "an address with a name in it" };
  }
  const plain = withoutFragment(url.href);
  if (plain.length > ADDRESS_CHARACTERS) {
    return { kind: "other", what: `an address of more than ${ADDRESS_CHARACTERS} characters` };
  }
  return { kind: "web", url: plain };
}

/** The address without its fragment, which is never sent. */
export function withoutFragment(url: string): string {
  const at = url.indexOf("#");
  return at < 0 ? url : url.slice(0, at);
}

/** The origin of an http or https address; undefined for any other. */
export function webOrigin(url: string): string | undefined {
  try {
    const { protocol, origin } = new URL(url);
    return protocol === "http:" || protocol === "https:" ? origin : undefined;
  } catch {
    return undefined;
  }
}
