/** Addresses that a server's words name: each judged before anything is sent there. RFC 9728, RFC 8414. @module */
import { Fault, isLoopback } from "../../../contracts/mod.ts";

/** Longest address, characters. */
const LENGTH = 2_048;

/** A refusal to log in. `why` is one clause; nothing secret is in it. */
export function noLogin(why: string, code: Fault["code"] = "refused", cause?: unknown): Fault {
  return new Fault(code, `Cannot log in: ${why}`, { cause });
}

/**
 * Parses an address that a token, a code or a person is to be sent to: https, or http on this machine where the MCP
 * server itself is on it. `what` names it in the refusal: `its token endpoint`.
 *
 * @throws Fault `refused`
 */
export function loginUrl(text: string, what: string, server: URL): URL {
  if (text.length > LENGTH || !/^https?:\/\/[\x21-\x7e]+$/.test(text) || text.includes("\\")) {
    throw noLogin(`${what} is no plain https address`);
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw noLogin(`${what} is no address`);
  if (url.username !== "" || url.password !== "" || text.includes("#")) {
    throw noLogin(`${what} holds a user name, a password or a fragment`);
  }
  if (url.protocol === "http:" && !(isLoopback(url.hostname) && isLoopback(server.hostname))) {
    throw noLogin(`${what} is not https: what is sent there could be read by others`);
  }
  return url;
}

/**
 * Whether an address may lie on this machine or a private network: where the person said that the server itself does.
 * Everything else must be on the public web, whatever the server's words are.
 */
export function isNear(server: URL, url: URL): boolean {
  return url.origin === server.origin || isLoopback(server.hostname) && isLoopback(url.hostname);
}

/** Whether two issuers are one: the same address but for a slash behind the host. RFC 8414, section 3.3. */
export function sameIssuer(one: string, other: string): boolean {
  return one === other || `${one}/` === other && new URL(other).pathname === "/" ||
    one === `${other}/` && new URL(one).pathname === "/";
}
