/** What the operator's own programs ask of the exchanges with peers: agents/ keeps them, the control socket serves them. @module */
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

/** Whose exchange; without `peer` the operator asks. */
export interface ExchangeAsk {
  readonly peer?: PeerName | undefined;
  readonly exchange: ExchangeId;
}

/** How an exchange is watched. */
export interface ExchangeWatch extends ExchangeAsk {
  /** The agent's words while it works are told, too; unless it is false. */
  readonly progress?: boolean | undefined;
}

/** The exchanges of a kernel. Every method rejects `notFound` for what is another peer's, as for what never was. */
export interface PeerExchanges {
  /** Durable when it resolves. Rejects `conflict`, `rateLimited`, `tooLarge`, `denied`, `invalidInput`. */
  send(sent: PeerSend): Promise<Exchange>;
  get(ask: ExchangeAsk): Promise<Exchange>;
  /** Rejects `conflict` once it is over. */
  cancel(ask: ExchangeAsk): Promise<Exchange>;
  /** Newest change first. Rejects `invalidInput` for a page that is none. */
  list(
    query: Omit<PeerQuery, "peer"> & { readonly peer?: PeerName | undefined },
  ): Promise<PeerPage>;
  /** Hears what happens from the exchange that is answered on, without a gap, until it is over. */
  watch(
    ask: ExchangeWatch,
    hear: (event: ExchangeEvent) => void,
  ): Promise<{ readonly exchange: Exchange; stop(): void }>;
  push(
    ask: { readonly peer?: PeerName | undefined } & Pick<PushAsk, "exchange" | "op">,
  ): Promise<readonly PushConfig[]>;
  /** The operator's own words to the peer. */
  reply(ask: { readonly exchange: ExchangeId; readonly text: string }): Promise<Exchange>;
  /** A released artifact of its task is shown. Rejects `conflict`, `clearance`, `tooLarge`. */
  export(ask: { readonly exchange: ExchangeId; readonly artifact: string }): Promise<Exchange>;
  /** Erases the content of what is over. Rejects `conflict` for one that is not. */
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
