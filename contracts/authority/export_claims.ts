/**
 * The list `remit.json` of an exported wiki: the colour and label of each file, by digest. Anyone
 * may have written the list, so it can only lower the trust of a file, and only of files beneath
 * its own folder. Parsed by hand because a toolhost loads no schema library. docs/decision/0038.
 * @module
 */
import type { ContentColours } from "../memory/content_trust.ts";

/** File name of the list. */
export const EXPORT_LIST = "remit.json";
/** Longest list that is read, bytes; all files beside a longer list count as RED and secret. */
export const EXPORT_LIST_BYTES = 64 * 1024 * 1024;

const COLOURS = ["BLUE", "YELLOW", "RED"] as const;
const LABELS = ["public", "internal", "secret"] as const;

/** The colours and labels that a list claims. */
export interface ExportClaims {
  /** Claim for the content with this digest; undefined where the list has none. */
  of(digest: string): ContentColours | undefined;
  /** The worst of all claims. */
  readonly all: ContentColours;
}

const WORST: ContentColours = { colour: "RED", label: "secret" };
/** RED and secret for every content; used where the list is too long to read. */
export const WORST_CLAIMS: ExportClaims = Object.freeze({ of: () => WORST, all: WORST });

/** The lower colour and the higher label of two claims. */
export function worseClaim(a: ContentColours, b: ContentColours): ContentColours {
  return {
    colour: COLOURS.indexOf(a.colour) >= COLOURS.indexOf(b.colour) ? a.colour : b.colour,
    label: LABELS.indexOf(a.label) >= LABELS.indexOf(b.label) ? a.label : b.label,
  };
}

/**
 * Parses a list; undefined where the file is no list of an export. A missing field counts as the
 * worst value.
 */
export function parseExportClaims(bytes: Uint8Array): ExportClaims | undefined {
  let list: unknown;
  try {
    list = JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  const files = field(list, "files");
  if (field(list, "remit") !== "wiki-export" || !Array.isArray(files)) return undefined;
  const claims = new Map<string, ContentColours>();
  let all: ContentColours = { colour: "BLUE", label: "public" };
  for (const file of files) {
    const digest = field(file, "digest");
    if (typeof digest !== "string") continue;
    const [colour, label] = [field(file, "colour"), field(file, "label")];
    const claim: ContentColours = {
      colour: COLOURS.find((each) => each === colour) ?? "RED",
      label: LABELS.find((each) => each === label) ?? "secret",
    };
    const before = claims.get(digest);
    claims.set(digest, before === undefined ? claim : worseClaim(before, claim));
    all = worseClaim(all, claim);
  }
  return Object.freeze<ExportClaims>({ of: (digest) => claims.get(digest), all });
}

function field(value: unknown, name: string): unknown {
  return value !== null && typeof value === "object" && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}
