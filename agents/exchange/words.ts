/** Words of exchanges: a peer's as text for an agent, and what a peer is told. @module */
import { isObject } from "../../contracts/json.ts";
import { parseJson } from "../../port/mod.ts";
import { cleared, mixLabel } from "../../contracts/colour.ts";
import { Fault, unreachable } from "../../contracts/fault.ts";
import { peerLabelIn, peerLabelOf } from "../../contracts/peer_words.ts";
import type { Label, PeerMessage, PeerPart, Powers } from "../../contracts/mod.ts";

/** Most characters of a peer's message as text: with the operator's words before it, it is one request. */
export const MOST_WORDS = 150_000;
/** Longest text of one part, as contracts/exchange.ts has it. */
const MOST_PART = 262_144;
const PLACE = "{{body}}";

/** A peer's parts as the text of an inbox message. What is no text is named and not shown. Throws `tooLarge`. */
export function textOfParts(parts: readonly PeerPart[]): string {
  const text = parts.map(textOfPart).join("\n\n");
  if (text.length <= MOST_WORDS) return text;
  throw new Fault(
    "tooLarge",
    `Cannot take the message: its text has more than ${MOST_WORDS} characters`,
  );
}

function textOfPart(part: PeerPart): string {
  switch (part.kind) {
    case "text":
      return part.text;
    case "data":
      return part.json;
    case "bytes": {
      const bytes = Math.floor(part.data.length * 3 / 4);
      return `[a file of ${bytes} bytes came with it${called(part)}: not handed over]`;
    }
    case "link":
      return `[a link came with it${called(part)}: ${part.url}; not followed]`;
    default:
      return unreachable(part);
  }
}

function called(
  { name, mediaType }: { name?: string | undefined; mediaType?: string | undefined },
) {
  const what = [name, mediaType].filter((each) => each !== undefined).map((each) =>
    JSON.stringify(each)
  );
  return what.length === 0 ? "" : `, ${what.join(" ")}`;
}

/** How confidential a peer says that its message is: it can only raise that. */
export function labelOfPeer(...metadata: readonly (string | undefined)[]): Label {
  return metadata.reduce<Label>((label, text) => {
    const said = text === undefined ? undefined : parseJson(text);
    return mixLabel(label, peerLabelIn(isObject(said) ? said : undefined));
  }, "public");
}

/** The operator's words with the framed message in its place, or after them. */
export function requestWords(template: string, framed: string): string {
  const place = template.indexOf(PLACE);
  if (place === -1) return `${template}\n\n${framed}`;
  // Once: what a peer wrote is no template.
  return template.slice(0, place) + framed + template.slice(place + PLACE.length);
}

/** Text as a message of the agent. Text that is longer than a part becomes several. */
export function saying(
  { powers, text, id, label }: {
    readonly powers: Pick<Powers, "now" | "token">;
    readonly text: string;
    readonly id?: string;
    /** How confidential the text is: it is told. */
    readonly label?: Label | undefined;
  },
): PeerMessage {
  const told = peerLabelOf(label);
  const parts: PeerPart[] = [];
  for (let at = 0; at < text.length || at === 0; at += MOST_PART) {
    parts.push({ kind: "text", text: text.slice(at, at + MOST_PART).toWellFormed() });
  }
  return {
    ...{ id: id ?? `r${powers.token().slice(-24)}`, role: "agent" },
    ...(told === undefined ? {} : { metadata: JSON.stringify(told) }),
    ...{ parts, extensions: [], references: [], at: powers.now() },
  };
}

/** The text, or why its peer is not told. */
export function within(
  text: string,
  flow: { readonly label: Label; readonly clearance: Label; readonly peer: string },
): string {
  const { label, clearance, peer } = flow;
  if (cleared(label, clearance)) return text;
  return `withheld: ${label}; the operator can raise peers.${peer}.clearance`;
}
