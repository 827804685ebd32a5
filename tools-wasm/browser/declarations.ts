/** CSS declarations, as far as they decide whether people see something. @module */

/** Properties and their values, both in lower case. */
export type Properties = ReadonlyMap<string, string>;

/** One declaration. */
export interface Declaration {
  readonly name: string;
  readonly value: string;
  readonly important: boolean;
}

/** Properties that can hide. Others are not kept. */
const KEPT: ReadonlySet<string> = new Set([
  ...["display", "visibility", "content-visibility", "opacity", "font-size", "font", "text-indent"],
  ...["width", "height", "max-width", "max-height", "overflow", "overflow-x", "overflow-y"],
  ...["position", "left", "right", "top", "bottom", "margin-left", "margin-top"],
  ...[
    "clip",
    "clip-path",
    "transform",
    "scale",
    "color",
    "background",
    "background-color",
    "background-image",
    "filter",
  ],
]);
const DECLARATIONS = 200;

/** Reads `a: b; c: d !important`. */
export function parseDeclarations(text: string): readonly Declaration[] {
  const found: Declaration[] = [];
  for (const each of withoutComments(text).split(";", DECLARATIONS)) {
    const colon = each.indexOf(":");
    const name = each.slice(0, colon).trim().toLowerCase();
    if (colon < 0 || !KEPT.has(name)) continue;
    const whole = each.slice(colon + 1).trim();
    // Bounds the work of the expressions below.
    if (whole.length > 300) continue;
    const written = unescaped(whole).trim().toLowerCase();
    const important = /!\s*important$/.test(written);
    const value = written.replace(/\s*!\s*important$/, "").trim();
    found.push({ name, value, important });
  }
  return found;
}

/** The text without its comments. */
export function withoutComments(text: string): string {
  let kept = "";
  for (let from = 0;;) {
    const open = text.indexOf("/*", from);
    if (open < 0) return kept + text.slice(from);
    kept += text.slice(from, open);
    const close = text.indexOf("*/", open + 2);
    if (close < 0) return kept;
    from = close + 2;
  }
}

/** `\6e one` is `none`. */
function unescaped(text: string): string {
  return text.replace(/\\([0-9a-fA-F]{1,6})[ \t\n]?/g, (_all, hex: string) => {
    const code = Number.parseInt(hex, 16);
    return code > 0 && code < 0x110000 ? String.fromCodePoint(code) : "";
  });
}

/** A length in CSS pixels; undefined for what is not a length, or depends on the window. */
export function pixels(value: string | undefined): number | undefined {
  const { number, unit = "" } =
    /^(?<number>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(?<unit>[a-z%]*)$/.exec(value ?? "")?.groups ??
      {};
  if (number === undefined) return undefined;
  const factor = UNITS.get(unit);
  return Number(number) === 0 ? 0 : factor === undefined ? undefined : Number(number) * factor;
}

const UNITS: ReadonlyMap<string, number> = new Map([
  ...[["px", 1], ["", 1], ["pt", 4 / 3], ["em", 16], ["rem", 16], ["ch", 8], ["ex", 8]] as const,
  // A share of a window of a thousand pixels: only its order matters.
  ...[["%", 10], ["vw", 10], ["vh", 10], ["cm", 38], ["mm", 3.8], ["in", 96], ["pc", 16]] as const,
]);
