/** Words of exchanges: a peer's as text for an agent, and what a peer is told. @module */
import { Fault, unreachable } from "../../../contracts/base/fault.ts";
import { isObject } from "../../../contracts/base/json.ts";
import { cleared, type Label, mixLabel } from "../../../contracts/authority/colour.ts";
import type { PeerArtifact, PeerMessage, PeerPart } from "../../../contracts/exchange/exchange.ts";
import type { Powers } from "../../../contracts/task/process.ts";
import type { Artifact } from "../../../contracts/tool/workspace.ts";
import { peerLabelIn, peerLabelOf } from "../../../contracts/exchange/peer_words.ts";
import { parseJson } from "../../../port/mod.ts";

/** Most characters of a peer's message as text: with the operator's words before it, it is one request. */
export const MAX_WORDS = 150_000;
/** Longest text of one part, as contracts/exchange/exchange.ts has it. */
const MAX_PART = 262_144;
const PLACE = "{{body}}";

/** A peer's parts as the text of an inbox message. What is no text is named and not shown. Throws `tooLarge`. */
export function textOfParts(parts: readonly PeerPart[]): string {
  const text = parts.map(textOfPart).join("\n\n");
  if (text.length <= MAX_WORDS) return text;
  throw new Fault(
    "tooLarge",
    `Cannot take the message: its text has more than ${MAX_WORDS} characters`,
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
      return `[a file of ${bytes} bytes came with it${called(part)}: artifact_read reads it]`;
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
  for (let at = 0; at < text.length || at === 0; at += MAX_PART) {
    parts.push({ kind: "text", text: text.slice(at, at + MAX_PART).toWellFormed() });
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

/** Most bytes of one artifact. */
const MAX_ARTIFACT_BYTES = 1_000_000;
/** JSON that is shown: levels and values. */
const JSON_LIMITS = { frameBytes: 1_048_576, depth: 64, nodes: 100_000 } as const;
const BYTES = "application/octet-stream";
/** By the end of a file's name. */
const MEDIA: Readonly<Record<string, string>> = Object.freeze({
  ...{ txt: "text/plain", md: "text/plain", csv: "text/csv", html: "text/html" },
  ...{ json: "application/json", pdf: "application/pdf", png: "image/png", jpg: "image/jpeg" },
});

/** What an artifact holds. A link is its receiver's to follow. */
type Shown =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "json"; readonly json: string }
  | { readonly kind: "link"; readonly url: string }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array };

/** Makes it. Throws `tooLarge`, and `invalidArguments` for what is no JSON, or no address of the web. */
export function peerArtifact(
  { id, name, description, shown, artifact, label }: {
    readonly id: string;
    readonly name: string;
    readonly description: string;
    readonly shown: Shown;
    readonly artifact?: Artifact["id"] | undefined;
    /** How confidential it is: it is told. */
    readonly label?: Artifact["label"] | undefined;
  },
): PeerArtifact {
  return {
    ...{ id, name: name.slice(0, 256), description: description.slice(0, 1_024) },
    parts: [partOf(shown, name.slice(0, 256))],
    ...(artifact === undefined ? {} : { artifact }),
    ...(label === undefined || label === "public" ? {} : { label }),
  };
}

function partOf(shown: Shown, name: string): PeerPart {
  switch (shown.kind) {
    case "text":
      return { kind: "text", text: shown.text.toWellFormed() };
    case "json":
      return { kind: "data", json: checkedJson(shown.json) };
    case "link": {
      const url = URL.canParse(shown.url) ? new URL(shown.url) : undefined;
      const web = url?.protocol === "https:" || url?.protocol === "http:";
      if (url !== undefined && web) {
        const type = mediaOf(name);
        return {
          kind: "link",
          url: url.href,
          name,
          ...(type === BYTES ? {} : { mediaType: type }),
        };
      }
      throw new Fault("invalidArguments", "Cannot show a link: it is no http or https address");
    }
    default: {
      const { bytes } = shown;
      if (bytes.length <= MAX_ARTIFACT_BYTES) {
        return { kind: "bytes", data: bytes.toBase64(), mediaType: mediaOf(name), name };
      }
      throw new Fault(
        "tooLarge",
        `Cannot show "${name}" to a peer: it has more than ${MAX_ARTIFACT_BYTES} bytes`,
      );
    }
  }
}

function checkedJson(text: string): string {
  try {
    return JSON.stringify(parseJson(text, JSON_LIMITS));
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw new Fault("invalidArguments", `Cannot show it as JSON: ${error.message}`);
  }
}

function mediaOf(name: string): string {
  const end = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  return Object.hasOwn(MEDIA, end) ? MEDIA[end] ?? BYTES : BYTES;
}
