/**
 * What an export of a wiki says of its files: `remit.json` beside them, by digest. Anyone may have
 * written it, so that it only ever makes a file worse, and only files beneath its own folder. Parsed
 * by hand: a toolhost has no schemas. docs/decision/0038.
 * @module
 */
import type { ContentColours } from "../memory/content_trust.ts";

/** The name of an export's list. */
export const EXPORT_LIST = "remit.json";
/** Longest list that is read, bytes; a folder with a longer one is taken for RED and secret. */
export const EXPORT_LIST_BYTES = 64 * 1024 * 1024;

const COLOURS = ["BLUE", "YELLOW", "RED"] as const;
const LABELS = ["public", "internal", "secret"] as const;

/** Colours and labels that a list claims. */
export interface ExportClaims {
  /** Of a content; undefined where the list does not have it. */
  of(digest: string): ContentColours | undefined;
  /** The worst of all. */
  readonly all: ContentColours;
}

/** As bad as can be: of a list that is too long to be read. */
export const WORST_CLAIMS: ExportClaims = Object.freeze<ExportClaims>({
  of: () => WORST,
  all: { colour: "RED", label: "secret" },
});
const WORST: ContentColours = WORST_CLAIMS.all;

/** The worse of two. */
export function worseClaim(a: ContentColours, b: ContentColours): ContentColours {
  return {
    colour: COLOURS.indexOf(a.colour) >= COLOURS.indexOf(b.colour) ? a.colour : b.colour,
    label: LABELS.indexOf(a.label) >= LABELS.indexOf(b.label) ? a.label : b.label,
  };
}

/** Reads a list; undefined for a file of that name that is none. What an entry lacks counts as the worst. */
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
