/** Texts of exchanges: a peer's messages for an agent, and messages for a peer. @module */
import { Fault, unreachable } from "../../../contracts/base/fault.ts";
import { isObject } from "../../../contracts/base/json.ts";
import { cleared, type Label, mixLabel } from "../../../contracts/authority/colour.ts";
import type { PeerArtifact, PeerMessage, PeerPart } from "../../../contracts/exchange/exchange.ts";
import type { Powers } from "../../../contracts/task/process.ts";
import type { Artifact } from "../../../contracts/tool/workspace.ts";
import { peerLabelIn, peerLabelOf } from "../../../contracts/exchange/peer_words.ts";
import { parseJson } from "../../../port/mod.ts";

/** Maximum characters of a peer's message as text, so that it fits into a request with the operator's words. */
export const MAX_WORDS = 150_000;
/** Maximum text of one part, as in contracts/exchange/exchange.ts. */
const MAX_PART = 262_144;
const PLACE = "{{body}}";

/** A peer's parts as text of an inbox message; other parts are only named. Throws `tooLarge`. */
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

/** The label that a peer claims in metadata; it can only raise a label. */
export function labelOfPeer(...metadata: readonly (string | undefined)[]): Label {
  return metadata.reduce<Label>((label, text) => {
    const said = text === undefined ? undefined : parseJson(text);
    return mixLabel(label, peerLabelIn(isObject(said) ? said : undefined));
  }, "public");
}

/** The operator's template with the framed message in its place, or appended. */
export function requestWords(template: string, framed: string): string {
  const place = template.indexOf(PLACE);
  if (place === -1) return `${template}\n\n${framed}`;
  // Replace only once: the peer's text is not a template.
  return template.slice(0, place) + framed + template.slice(place + PLACE.length);
}

/** Makes a message of the agent; long text is split into several parts. */
export function saying(
  { powers, text, id, label }: {
    readonly powers: Pick<Powers, "now" | "token">;
    readonly text: string;
    readonly id?: string;
    /** Label of the text, sent with the message. */
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

/** The text, or a notice if the peer's clearance is too low. */
export function within(
  text: string,
  flow: { readonly label: Label; readonly clearance: Label; readonly peer: string },
): string {
  const { label, clearance, peer } = flow;
  if (cleared(label, clearance)) return text;
  return `withheld: ${label}; the operator can raise peers.${peer}.clearance`;
}

/** Maximum bytes of one artifact. */
const MAX_ARTIFACT_BYTES = 1_000_000;
/** Limits of JSON artifacts. */
const JSON_LIMITS = { frameBytes: 1_048_576, depth: 64, nodes: 100_000 } as const;
const BYTES = "application/octet-stream";
/** Media types by file extension. */
const MEDIA: Readonly<Record<string, string>> = Object.freeze({
  ...{ txt: "text/plain", md: "text/plain", csv: "text/csv", html: "text/html" },
  ...{ json: "application/json", pdf: "application/pdf", png: "image/png", jpg: "image/jpeg" },
});

/** Content of an artifact. Remit does not follow links. */
type Shown =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "json"; readonly json: string }
  | { readonly kind: "link"; readonly url: string }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array };

/** Makes an artifact. Throws `tooLarge`, and `invalidArguments` for invalid JSON or web addresses. */
export function peerArtifact(
  { id, name, description, shown, artifact, label }: {
    readonly id: string;
    readonly name: string;
    readonly description: string;
    readonly shown: Shown;
    readonly artifact?: Artifact["id"] | undefined;
    /** Label of the artifact, sent with it. */
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
