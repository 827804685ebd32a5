/** What the operator's own programs do with exchanges with peers, through the control socket. Issue 7. @module */
import {
  type Exchange,
  type ExchangeEvent,
  type ExchangeId,
  type Json,
  type PeerDue,
  type PeerName,
  type PeerPage,
  type PeerQuery,
  type PeerSend,
  type PushAsk,
  type PushConfig,
  toJson,
} from "../contracts/mod.ts";
import type { Deliver, Delivery } from "./deliver.ts";

interface Ask {
  readonly peer?: PeerName | undefined;
  readonly exchange: ExchangeId;
}

/** The exchanges of a kernel, as agents/ makes them. */
export interface PeerExchanges {
  send(sent: PeerSend): Promise<Exchange>;
  get(ask: Ask): Promise<Exchange>;
  cancel(ask: Ask): Promise<Exchange>;
  list(
    query: Omit<PeerQuery, "peer"> & { readonly peer?: PeerName | undefined },
  ): Promise<PeerPage>;
  watch(
    ask: Ask,
    hear: (event: ExchangeEvent) => void,
  ): Promise<{ readonly exchange: Exchange; stop(): void }>;
  push(
    ask: { readonly peer?: PeerName | undefined } & Pick<PushAsk, "exchange" | "op">,
  ): Promise<readonly PushConfig[]>;
  reply(ask: { readonly exchange: ExchangeId; readonly text: string }): Promise<Exchange>;
  export(ask: { readonly exchange: ExchangeId; readonly artifact: string }): Promise<Exchange>;
  erase(
    which: { readonly exchange: ExchangeId } | {
      readonly before: number;
      readonly peer?: PeerName | undefined;
    },
  ): Promise<{ readonly erased: number }>;
  due(limit?: number): Promise<readonly PeerDue[]>;
  delivered(made: {
    readonly exchange: ExchangeId;
    readonly config: string;
    readonly version: number;
    readonly ok: boolean;
    readonly again?: number | undefined;
  }): Promise<void>;
}

/** The operations that answer and are done. */
export interface PeerOps {
  peerSend(sent: PeerSend): Promise<Exchange>;
  peerGet(ask: Ask): Promise<Exchange>;
  peerCancel(ask: Ask): Promise<Exchange>;
  peerList(query: Parameters<PeerExchanges["list"]>[0]): Promise<PeerPage>;
  peerPush(ask: Parameters<PeerExchanges["push"]>[0]): Promise<readonly PushConfig[]>;
  peerExport(ask: Parameters<PeerExchanges["export"]>[0]): Promise<Exchange>;
  peerReply(ask: Parameters<PeerExchanges["reply"]>[0]): Promise<Exchange>;
  peerErase(which: Parameters<PeerExchanges["erase"]>[0]): Promise<{ readonly erased: number }>;
  peerDelivered(made: Parameters<PeerExchanges["delivered"]>[0]): Promise<void>;
  deliver(delivery: Delivery): Promise<{ readonly status: number }>;
}

/** Makes them. */
export function makePeerOps(
  { exchanges, deliver }: { readonly exchanges: PeerExchanges; readonly deliver: Deliver },
): PeerOps {
  return Object.freeze<PeerOps>({
    peerSend: (sent) => exchanges.send(sent),
    peerGet: (ask) => exchanges.get(ask),
    peerCancel: (ask) => exchanges.cancel(ask),
    peerList: (query) => exchanges.list(query),
    peerPush: (ask) => exchanges.push(ask),
    peerExport: (ask) => exchanges.export(ask),
    peerReply: (ask) => exchanges.reply(ask),
    peerErase: (which) => exchanges.erase(which),
    peerDelivered: (made) => exchanges.delivered(made),
    deliver,
  });
}

/** Tells something on a connection. */
export type Tell = (op: string, body: Json) => void;

/** What goes on after its answer: on the connection that asked, until that ends. */
export interface PeerWatching {
  watch(ask: Ask, tell: Tell): Promise<{ readonly answer: Json; stop(): void }>;
  due(limit: number | undefined, tell: Tell): Promise<{ readonly answer: Json; stop(): void }>;
  /** There may be deliveries that are due. */
  more(): void;
}

/** Where no exchange is. */
export const NO_PEERS: Pick<PeerWatching, "watch" | "due"> = Object.freeze({
  watch: () => Promise.reject(new TypeError("Cannot watch an exchange: this kernel keeps none")),
  due: () => Promise.reject(new TypeError("Cannot deliver: this kernel keeps no exchange")),
});

/** Makes it. */
export function makePeerWatching(
  exchanges: () => Pick<PeerExchanges, "watch" | "due">,
): PeerWatching {
  /** Connections that deliver. */
  const delivering = new Set<Tell>();
  return Object.freeze<PeerWatching>({
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
