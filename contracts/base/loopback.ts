/** Which hosts are this machine itself: what is sent there does not leave it. @module */

/**
 * True for `localhost`, 127.0.0.0/8 and ::1, also as an IPv4 address in IPv6, in the form that
 * `URL.hostname` writes. Names beneath `localhost` are not: a resolver may send them elsewhere.
 */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" ||
    /^127(?:\.\d{1,3}){3}$/.test(hostname) ||
    /^\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\]$/.test(hostname);
}
