/** Words for events about models, whose texts are untrusted. @module */
import { usdText } from "./announcement.ts";
import { numberOf, type SeenEvent, textOf } from "../audit/event_fields.ts";

const USES: Readonly<Record<string, string>> = {
  aside: " for a tool",
  summary: " for a summary",
  embedding: " for vectors",
};

/** Words for an event about a model; undefined for other events. */
export function modelWords(event: SeenEvent): string | undefined {
  const field = (name: string): string => textOf(event, name);
  switch (event.event) {
    case "modelAsked": {
      const use = USES[field("use")] ?? "";
      const money = numberOf(event, "money");
      const price = money > 0 ? `, ${usdText(money)} USD` : "";
      return `asks ${field("host")}, about ${numberOf(event, "tokens")} tokens${price}${use}`;
    }
    case "modelQueued": {
      const seconds = Math.ceil(numberOf(event, "ms") / 1_000);
      return `waits about ${seconds} s for the rate of ${field("host")}`;
    }
    case "modelFailed":
      return `gave no answer: ${field("code")}`;
    case "modelChanged":
      if (event.body["made"] !== true) {
        return `stays ${field("from")}: ${field("refused") || "another could not be had"}`;
      }
      return field("to") === ""
        ? "another one, from the next words on"
        : `${field("from")} → ${field("to")}`;
    default:
      return undefined;
  }
}
