/** Which hosts are this machine: traffic to them does not leave it. @module */

/**
 * True for `localhost`, 127.0.0.0/8 and ::1, also IPv4-mapped, in the form that `URL.hostname`
 * writes. False for names beneath `localhost`: a resolver may send them elsewhere.
 */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" ||
    /^127(?:\.\d{1,3}){3}$/.test(hostname) ||
    /^\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\]$/.test(hostname);
}
