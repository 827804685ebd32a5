/** What a task made, as an artifact for a peer. @module */
import { Fault } from "../../contracts/fault.ts";
import type { Artifact, PeerArtifact, PeerPart } from "../../contracts/mod.ts";
import { parseJson } from "../../port/mod.ts";

/** Most bytes of one artifact. */
const MOST_ARTIFACT_BYTES = 1_000_000;
/** JSON that is shown: levels and values. */
const JSON_LIMITS = { frameBytes: 1_048_576, depth: 64, nodes: 100_000 } as const;
const BYTES = "application/octet-stream";
/** By the end of a file's name. */
const MEDIA: Readonly<Record<string, string>> = Object.freeze({
  ...{ txt: "text/plain", md: "text/plain", csv: "text/csv", html: "text/html" },
  ...{ json: "application/json", pdf: "application/pdf", png: "image/png", jpg: "image/jpeg" },
});

/** What an artifact holds. A link is its receiver's to follow. */
export type Shown =
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
      if (bytes.length <= MOST_ARTIFACT_BYTES) {
        return { kind: "bytes", data: bytes.toBase64(), mediaType: mediaOf(name), name };
      }
      throw new Fault(
        "tooLarge",
        `Cannot show "${name}" to a peer: it has more than ${MOST_ARTIFACT_BYTES} bytes`,
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
