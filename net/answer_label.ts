/** How confidential an answer of the web is. @module */
import type { Label } from "../contracts/colour.ts";
import type { NetAnswer } from "../contracts/wire_net.ts";
import { tryIp } from "./address/ip.ts";
import { kindOf } from "./address/ip_ranges.ts";

/** `public` for the web; `internal` for what came from an address that the world cannot reach. */
export function labelOfAnswer({ hops }: Pick<NetAnswer, "hops">): Label {
  const ip = tryIp(hops.at(-1)?.address ?? "");
  return ip !== undefined && kindOf(ip).reach === "public" ? "public" : "internal";
}
