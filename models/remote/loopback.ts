/** Whether a host is this machine. @module */

/** True for `localhost` and what is beneath it, 127.0.0.0/8 and ::1, as `URL.hostname` writes them. */
export function isLoopback(hostname: string): boolean {
  const name = hostname.replace(/\.$/, "").toLowerCase();
  if (name === "localhost" || name.endsWith(".localhost") || name === "[::1]") return true;
  return /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(name) ||
    /^\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\]$/.test(name);
}
