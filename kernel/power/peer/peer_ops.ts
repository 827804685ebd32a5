/** What the operator's own programs do with exchanges with peers, through the control socket. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import { isLoopback } from "../../../contracts/base/loopback.ts";
import type { ExchangeId, PeerSend } from "../../../contracts/exchange/exchange.ts";
import type { ExchangeWatch, PeerExchanges } from "../../../contracts/exchange/exchanges.ts";
import { type Json, toJson } from "../../../contracts/base/json.ts";
import type { AllowedOrigin, NetRequest } from "../../../contracts/wire/wire_net.ts";
import type { Uses } from "../../../contracts/task/spending.ts";
import { sentBytes } from "../net/fetching.ts";
import { type NetService, parseNetAnswer } from "../net/net_service.ts";

/** Handlers of the operations that answer and are done. */
export type PeerOps = ReturnType<typeof makePeerOps>;

/** Makes them, each under the name of its operation. */
export function makePeerOps(
  { exchanges, deliver }: { readonly exchanges: PeerExchanges; readonly deliver: Deliver },
) {
  return Object.freeze({
    peerGet: exchanges.get,
    peerCancel: exchanges.cancel,
    peerList: exchanges.list,
    peerPush: exchanges.push,
    peerExport: exchanges.export,
    peerReply: exchanges.reply,
    peerErase: exchanges.erase,
    peerDelivered: exchanges.delivered,
    deliver,
  });
}

/** Tells something on a connection. */
type Tell = (op: string, body: Json) => void;

/** What goes on after its answer: on the connection that asked, until that ends. */
export interface PeerWatching {
  send(sent: PeerSend): Promise<{ readonly exchange: ExchangeId; readonly answer: Json }>;
  watch(ask: ExchangeWatch, tell: Tell): Promise<{ readonly answer: Json; stop(): void }>;
  due(limit: number | undefined, tell: Tell): Promise<{ readonly answer: Json; stop(): void }>;
  /** There may be deliveries that are due. */
  more(): void;
}

/** Where no exchange is. */
export const NO_PEERS: Pick<PeerWatching, "send" | "watch" | "due"> = Object.freeze({
  send: () => Promise.reject(new TypeError("Cannot send: this kernel keeps no exchange")),
  watch: () => Promise.reject(new TypeError("Cannot watch an exchange: this kernel keeps none")),
  due: () => Promise.reject(new TypeError("Cannot deliver: this kernel keeps no exchange")),
});

/** Makes it. */
export function makePeerWatching(
  exchanges: () => Pick<PeerExchanges, "send" | "watch" | "due">,
): PeerWatching {
  /** Connections that deliver. */
  const delivering = new Set<Tell>();
  return Object.freeze<PeerWatching>({
    async send(sent) {
      const exchange = await exchanges().send(sent);
      return { exchange: exchange.id, answer: toJson(exchange) };
    },
    async watch(ask, tell) {
      const { exchange, stop } = await exchanges().watch(
        ask,
        (event) => tell("exchange", toJson({ exchange: ask.exchange, event })),
      );
      return { answer: toJson(exchange), stop };
    },
    async due(limit, tell) {
      delivering.add(tell);
      return {
        answer: toJson(await exchanges().due(limit)),
        stop: () => void delivering.delete(tell),
      };
    },
    more(): void {
      for (const tell of delivering) tell("peerDue", null);
    },
  });
}

/** Most bytes of what is sent, and of an answer, of which only the status is looked at. */
const REQUEST_BYTES = 4_000_000;
const RESPONSE_BYTES = 65_536;
const DEADLINE_MS = 10_000;
/** Deliveries at once: nobody's slow server takes the service from tasks. */
const AT_ONCE = 32;

/** What is sent where. */
interface Delivery {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Origins that the operator lets its peer name. */
  readonly origins: readonly string[];
}

/** Rejects `refused` for an origin that is not listed or a private address, `budgetExhausted`, and with the net service's faults. */
type Deliver = (delivery: Delivery) => Promise<{ readonly status: number }>;

/** Makes it. A redirect is not followed: its status is the answer. */
export function makeDeliver(
  { net, uses }: {
    readonly net: Pick<NetService, "provide" | "freshId">;
    /** Budgets of what leaves; absent: there are none. */
    readonly uses?: Pick<Uses, "take">;
  },
): Deliver {
  let underWay = 0;
  return async ({ url, headers, body, origins }) => {
    const allowed = allowedOf(url, origins);
    if (underWay >= AT_ONCE) {
      throw new Fault("rateLimited", `Cannot deliver: ${AT_ONCE} deliveries are under way`);
    }
    underWay += 1;
    try {
      // The operator's: it is remit.yaml that names the origin.
      const egressBytes = sentBytes({ method: "POST", url, headers, body });
      await uses?.take({ task: undefined }, { egressBytes }, `deliver to ${allowed.origin}`);
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
