/** What a delivery says: the same objects as a stream's, as JSON text. Pure. A2A 1.0, section 4.3.3. @module */
import { StreamResponse } from "@a2a-js/sdk";
import type { Exchange, ExchangeEvent } from "../../../contracts/exchange.ts";
import { taskOf } from "./task.ts";
import { makeTeller } from "./stream_events.ts";

/**
 * An exchange as it stands, without its history, which its receiver may ask for; with an event: what it adds to `exchange`,
 * and where that is nothing, the exchange.
 */
export function renderPush(exchange: Exchange, event: ExchangeEvent | null): string {
  const [added] = event === null ? [] : makeTeller(exchange).next(event);
  const whole: StreamResponse = {
    payload: { $case: "task", value: taskOf(exchange, { historyLength: 0 }) },
  };
  return JSON.stringify(StreamResponse.toJSON(added ?? whole));
}
