/** Ports that a web request may go to. @module */

/** Bad ports of the Fetch standard above 1023: other protocols that an HTTP request could talk to. */
const BAD: ReadonlySet<number> = new Set([
  1_719, // h323gatestat
  1_720, // h323hostcall
  1_723, // pptp
  2_049, // nfs
  3_659, // apple-sasl
  4_045, // npp
  4_190, // sieve
  5_060, // sip
  5_061, // sips
  6_000, // x11
  6_566, // sane-port
  6_665, // irc
  6_666, // irc
  6_667, // irc
  6_668, // irc
  6_669, // irc
  6_679, // osaut
  6_697, // ircs
  10_080, // amanda
]);

/** The port that an address names, or its scheme's own. */
export function portOf(url: URL): number {
  if (url.port !== "") return Number(url.port);
  return url.protocol === "https:" ? 443 : 80;
}

/** Whether an origin that nobody named may have this port: 80, 443, and most from 1024 on. */
export function isWebPort(port: number): boolean {
  return port === 80 || port === 443 || (port >= 1_024 && port <= 65_535 && !BAD.has(port));
}
