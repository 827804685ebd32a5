/** Which values of Host and Origin are let in: what a page of somebody else's sends is not. @module */
import { isLoopback } from "../contracts/loopback.ts";

/** The door. */
export interface Door {
  /** The `Host` header. */
  host(value: string | undefined): boolean;
  /** The `Origin` header; absent where no page asks. */
  origin(value: string | undefined): boolean;
}

/** Makes the door of a server at `address`, `host:port`. */
export function makeDoor(
  address: string,
  more: { readonly hosts: readonly string[]; readonly origins: readonly string[] },
): Door {
  const url = new URL(`http://${address}`);
  // This machine has three names; a name of somebody else's that leads here is none of them.
  const own = isLoopback(url.hostname)
    ? ["127.0.0.1", "localhost", "[::1]"].map((name) => `${name}:${portOf(url)}`)
    : [`${url.hostname}:${portOf(url)}`];
  const hosts = new Set([...own, ...more.hosts].map((each) => withPort(each.toLowerCase(), url)));
  const origins = new Set([...own.map((each) => `http://${each}`), ...more.origins].map(originOf));
  return Object.freeze<Door>({
    host: (value) => value !== undefined && hosts.has(withPort(value.toLowerCase(), url)),
    origin: (value) => value === undefined || origins.has(originOf(value)),
  });
}

function portOf(url: URL): string {
  return url.port === "" ? "80" : url.port;
}

/** Port 80 is left out by those who ask. */
function withPort(host: string, own: URL): string {
  return portOf(own) === "80" && !/:\d+$/.test(host) ? `${host}:80` : host;
}

function originOf(text: string): string {
  try {
    const { origin } = new URL(text);
    return origin === "null" ? `no origin: ${text}` : origin;
  } catch (error) {
    if (error instanceof TypeError) return `no origin: ${text}`;
    throw error;
  }
}
