/** Server-sent events of a peer, taken apart with limits. @module */
import { Fault } from "../../../contracts/fault.ts";
import { parseJson } from "../../../port/parse.ts";
import { makeEventTexts } from "../../mcp/client/mod.ts";
import { ANSWER_JSON, ANSWER_UNITS } from "./limits.ts";

/** Takes pieces of a stream; gives whole events, each in the SDK's form. */
export interface PeerEvents {
  /** @throws Fault `tooLarge`, `upstream` */
  take(text: string): readonly string[];
}

/** Makes the reader of one stream. */
export function makePeerEvents(): PeerEvents {
  const take = makeEventTexts(
    ANSWER_UNITS,
    () => new Fault("tooLarge", "Cannot read the peer's stream: an event is too long"),
  );
  return Object.freeze<PeerEvents>({ take: (text) => take(text).flatMap(rewritten) });
}

function rewritten(event: string): readonly string[] {
  const data: string[] = [];
  let kind = "message";
  for (const line of event.split("\n")) {
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") data.push(value);
    else if (name === "event" && value !== "") kind = value;
  }
  if (data.length === 0 || (kind !== "message" && kind !== "error")) return [];
  const text = data.join("\n");
  if (text.trim() === "") return [];
  try {
    const json = JSON.stringify(parseJson(text, ANSWER_JSON));
    return [`${kind === "error" ? "event: error\n" : ""}data: ${json}\n\n`];
  } catch (cause) {
    throw new Fault("upstream", "Cannot read the peer's stream: an event does not parse", {
      cause,
    });
  }
}
