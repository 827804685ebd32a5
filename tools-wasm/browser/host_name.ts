/** Names of hosts that have one spelling. @module */

/**
 * Whether `host`, in lower case, is a DNS name or an IPv4 address written as every parser writes it. Whether an `xn--`
 * label means anything is left to the gate.
 */
export function isHost(host: string): boolean {
  if (host.length > 253 || !/^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/.test(host)) return false;
  const labels = host.split(".");
  if (labels.includes("")) return false;
  const last = labels.at(-1) ?? "";
  if (!/^([0-9]+|0x[0-9a-f]*)$/.test(last)) return true;
  return labels.length === 4 &&
    labels.every((label) => /^(0|[1-9][0-9]{0,2})$/.test(label) && Number(label) < 256);
}
