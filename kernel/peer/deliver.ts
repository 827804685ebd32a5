/** One POST of the operator's own program, by the net service: a peer is told where it asked to be told. @module */
import {
  type AllowedOrigin,
  Fault,
  isLoopback,
  type NetRequest,
  toJson,
} from "../../contracts/mod.ts";
import { parseNetAnswer } from "../net/net_answer.ts";
import type { NetService } from "../net/net_service.ts";

/** Most bytes of what is sent, and of an answer, of which only the status is looked at. */
const REQUEST_BYTES = 4_000_000;
const RESPONSE_BYTES = 65_536;
const DEADLINE_MS = 10_000;
/** Deliveries at once: nobody's slow server takes the service from tasks. */
const AT_ONCE = 32;

/** What is sent where. */
export interface Delivery {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Origins that the operator lets its peer name. */
  readonly origins: readonly string[];
}

/** Rejects `refused` for an origin that is not listed or a private address, and with the net service's faults. */
export type Deliver = (delivery: Delivery) => Promise<{ readonly status: number }>;

/** Makes it. A redirect is not followed: its status is the answer. */
export function makeDeliver(
  { net }: { readonly net: Pick<NetService, "provide" | "freshId"> },
): Deliver {
  let underWay = 0;
  return async ({ url, headers, body, origins }) => {
    const allowed = allowedOf(url, origins);
    if (underWay >= AT_ONCE) {
      throw new Fault("rateLimited", `Cannot deliver: ${AT_ONCE} deliveries are under way`);
    }
    underWay += 1;
    try {
      const child = await net.provide();
      const request: NetRequest = {
        ...{ id: net.freshId(), method: "POST", url, headers, body, allow: [allowed] },
        ...{ redirects: 0, requestBytes: REQUEST_BYTES, responseBytes: RESPONSE_BYTES },
        deadlineMs: DEADLINE_MS,
      };
      const { status } = parseNetAnswer(await child.port.ask("fetch", toJson(request)));
      return { status };
    } finally {
      underWay -= 1;
    }
  };
}

/** The origin of a URL, where it is listed. Only this machine itself may be meant by a private address. */
function allowedOf(url: string, origins: readonly string[]): AllowedOrigin {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const listed = origins.flatMap((each) => URL.canParse(each) ? [new URL(each).origin] : []);
  const plain = parsed?.protocol === "https:" || parsed?.protocol === "http:";
  if (parsed === undefined || !plain || !listed.includes(parsed.origin)) {
    throw new Fault(
      "refused",
      "Cannot deliver: its origin is not one that the operator lists for this peer",
    );
  }
  return { origin: parsed.origin, named: isLoopback(parsed.hostname) };
}
