/** What the starter is asked for one caller, with its credential each time, and its refusals in A2A's words. @module */
import * as z from "zod";
import {
  Exchange,
  type ExchangeId,
  type PeerPage,
  type PeerQuery,
  PushConfig,
} from "../../../contracts/exchange.ts";
import { type Json, toJson } from "../../../contracts/json.ts";
import type { Port } from "../../../contracts/port.ts";
import { CardAnswer, type PeerSay, type PushAsk } from "../../../contracts/wire_a2a.ts";
import { type Asked, refusalOf } from "./refusal.ts";
import type { Watch, Watches } from "./watches.ts";

/** The starter, as one caller may ask it. */
export interface Desk {
  card(): Promise<CardAnswer>;
  send(say: PeerSay): Promise<Exchange>;
  get(exchange: ExchangeId): Promise<Exchange>;
  list(query: Omit<PeerQuery, "peer">): Promise<PeerPage>;
  cancel(exchange: ExchangeId): Promise<Exchange>;
  push(exchange: ExchangeId, op: PushAsk["op"]): Promise<readonly PushConfig[]>;
  /** `progress`: the agent's words are told while it works. */
  watch(exchange: ExchangeId, progress: boolean): Promise<Watch>;
  /** Sends, and watches what it was sent to. */
  sendWatched(say: PeerSay, progress: boolean): Promise<Watch>;
}

const Page = z.object({
  exchanges: z.array(Exchange).max(100),
  total: z.int().min(0),
  next: z.string().max(128),
}).strict();

/** Makes it for a credential; null asks for the public card only. */
export function makeDesk(
  parts: { readonly port: Pick<Port, "ask">; readonly watches: Watches; note(text: string): void },
  token: string | null,
): Desk {
  const during = async <T>(asked: Asked, does: () => Promise<T>): Promise<T> => {
    try {
      return await does();
    } catch (error) {
      const refusal = refusalOf(error, asked);
      if (refusal.message === "Internal error") {
        parts.note(`a2a ${asked} failed: ${error instanceof Error ? error.message : "?"}`);
      }
      throw refusal;
    }
  };
  const ask = <T>(
    asked: Asked,
    op: string,
    body: unknown,
    parse: (answer: Json) => T,
  ): Promise<T> => during(asked, async () => parse(await parts.port.ask(op, toJson(body))));
  return Object.freeze<Desk>({
    card: () => ask("card", "a2aCard", { token }, (answer) => CardAnswer.parse(answer)),
    send: (say) => ask("send", "a2aSend", say, (answer) => Exchange.parse(answer)),
    get: (exchange) => ask("get", "a2aGet", { token, exchange }, (got) => Exchange.parse(got)),
    list: (query) => ask("list", "a2aList", { token, query }, (answer) => Page.parse(answer)),
    cancel: (exchange) =>
      ask("cancel", "a2aCancel", { token, exchange }, (got) => Exchange.parse(got)),
    push: (exchange, op) =>
      ask(
        "push",
        "a2aPush",
        { token, exchange, op },
        (answer) => z.array(PushConfig).max(16).parse(answer),
      ),
    watch: (exchange, progress) =>
      during("watch", () => parts.watches.open(token, exchange, progress)),
    sendWatched: (say, progress) => during("send", () => parts.watches.send(say, progress)),
  });
}
