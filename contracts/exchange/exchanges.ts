/**
 * What the operator's own programs may ask about exchanges with peers. agents/ implements it, the
 * control socket serves it.
 * @module
 */
import type {
  Exchange,
  ExchangeEvent,
  ExchangeId,
  PeerDue,
  PeerName,
  PeerPage,
  PeerQuery,
  PeerSend,
  PushConfig,
} from "./exchange.ts";
import type { PushAsk } from "../wire/wire_a2a.ts";

/** Names an exchange; `peer` is absent when the operator asks. */
export interface ExchangeAsk {
  readonly peer?: PeerName | undefined;
  readonly exchange: ExchangeId;
}

/** How an exchange is watched. */
export interface ExchangeWatch extends ExchangeAsk {
  /** Include the agent's words while it works; default true. */
  readonly progress?: boolean | undefined;
}

/** The exchanges of a kernel. Every method rejects `notFound` alike for unknown exchanges and for those of another peer. */
export interface PeerExchanges {
  /** Durable when it resolves. Rejects `conflict`, `rateLimited`, `tooLarge`, `denied`, `invalidInput`. */
  send(sent: PeerSend): Promise<Exchange>;
  get(ask: ExchangeAsk): Promise<Exchange>;
  /** Rejects `conflict` once the exchange is finished. */
  cancel(ask: ExchangeAsk): Promise<Exchange>;
  /** Newest change first. Rejects `invalidInput` for an invalid page. */
  list(
    query: Omit<PeerQuery, "peer"> & { readonly peer?: PeerName | undefined },
  ): Promise<PeerPage>;
  /** Returns the exchange and reports every later event without a gap until it is finished. */
  watch(
    ask: ExchangeWatch,
    hear: (event: ExchangeEvent) => void,
  ): Promise<{ readonly exchange: Exchange; stop(): void }>;
  push(
    ask: { readonly peer?: PeerName | undefined } & Pick<PushAsk, "exchange" | "op">,
  ): Promise<readonly PushConfig[]>;
  /** The operator's own words to the peer. */
  reply(ask: { readonly exchange: ExchangeId; readonly text: string }): Promise<Exchange>;
  /** Shows the peer a released artifact of its task. Rejects `conflict`, `clearance`, `tooLarge`. */
  export(ask: { readonly exchange: ExchangeId; readonly artifact: string }): Promise<Exchange>;
  /** Erases the content of finished exchanges. Rejects `conflict` for an unfinished one. */
  erase(
    which: { readonly exchange: ExchangeId } | {
      readonly before: number;
      readonly peer?: PeerName | undefined;
    },
  ): Promise<{ readonly erased: number }>;
  /** Deliveries to make, oldest change first. */
  due(limit?: number): Promise<readonly PeerDue[]>;
  delivered(made: {
    readonly exchange: ExchangeId;
    readonly config: string;
    readonly version: number;
    readonly ok: boolean;
    readonly again?: number | undefined;
  }): Promise<void>;
}
