/** The form that an address must have before anything is done with it. @module */
import { Fault } from "../../contracts/base/fault.ts";

/** Maximum length of an address, in characters. */
export const URL_LIMIT = 2_048;

function bad(why: string): Fault {
  return new Fault("invalidArguments", `Cannot fetch: ${why}`);
}

/**
 * The origin of an address that every parser reads alike.
 *
 * @throws Fault `invalidArguments` for other schemes, user names, fragments, spaces, backslashes,
 * characters beyond ASCII, and addresses that change when they are parsed and written again
 *
 * @example
 * ```ts
 * import { originOf } from "./origin.ts";
 * originOf("https://example.org/a?b=c"); // "https://example.org"
 * ```
 */
export function originOf(text: string): string {
  return parseAddress(text).origin;
}

/** The parts of an address that {@link originOf} accepts. @throws Fault as there */
export function parseAddress(text: string): URL {
  if (text.length > URL_LIMIT) throw bad(`the address is longer than ${URL_LIMIT} characters`);
  if (!/^https?:\/\/[\x21-\x7e]+$/.test(text) || /[\\#]/.test(text)) {
    throw bad("the address is not a plain http or https address");
  }
  let url;
  try {
    url = new URL(text);
  } catch (cause) {
    throw new Fault("invalidArguments", "Cannot fetch: the address does not parse", { cause });
  }
  if (url.username !== "" || url.password !== "" || /^https?:\/\/[^/?]*@/.test(text)) {
    throw bad("the address holds a user name");
  }
  // One address, one spelling: other parsers may read 0x7f.1, odd ports and dot segments
  // differently.
  if (url.href !== text && url.href !== `${text}/`) {
    throw bad(`the address is not written as it is read; write ${JSON.stringify(url.href)}`);
  }
  return url;
}
