/**
 * CSS that decides whether people see text: what is hidden from them must not reach a model.
 * @module
 */

/** Values of CSS properties by name, both in lower case. */
export type Properties = ReadonlyMap<string, string>;

/** One declaration. */
export interface Declaration {
  readonly name: string;
  readonly value: string;
  readonly important: boolean;
}

/** Properties that can hide text; the parser drops all others. */
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
const MAX_DECLARATIONS = 1_000;

/** Parses `a: b; c: d !important`; keeps properties that can hide text. */
export function parseDeclarations(text: string): readonly Declaration[] {
  const found: Declaration[] = [];
  for (const each of withoutComments(text).split(";", MAX_DECLARATIONS)) {
    const colon = each.indexOf(":");
    const name = unescaped(each.slice(0, Math.max(0, colon)).slice(-100)).trim().toLowerCase();
    if (colon < 0 || !KEPT.has(name)) continue;
    const whole = each.slice(colon + 1).replace(/\s+/g, " ").trim();
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

/** Decodes hexadecimal escapes: `\6e one` is `none`. */
function unescaped(text: string): string {
  return text.replace(/\\([0-9a-fA-F]{1,6})[ \t\n]?/g, (_all, hex: string) => {
    const code = Number.parseInt(hex, 16);
    return code > 0 && code < 0x110000 ? String.fromCodePoint(code) : "";
  });
}

/** A length in CSS pixels; undefined for a value that is no length or depends on the window. */
function pixels(value: string | undefined): number | undefined {
  const { number, unit = "" } =
    /^(?<number>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(?<unit>[a-z%]*)$/.exec(value ?? "")?.groups ??
      {};
  if (number === undefined) return undefined;
  const factor = UNITS.get(unit);
  return Number(number) === 0 ? 0 : factor === undefined ? undefined : Number(number) * factor;
}

const UNITS: ReadonlyMap<string, number> = new Map([
  ...[["px", 1], ["", 1], ["pt", 4 / 3], ["em", 16], ["rem", 16], ["ch", 8], ["ex", 8]] as const,
  // Relative to a window of a thousand pixels: only the order of magnitude matters.
  ...[["%", 10], ["vw", 10], ["vh", 10], ["cm", 38], ["mm", 3.8], ["in", 96], ["pc", 16]] as const,
]);

// Colours that can hide text.

/** Red, green and blue up to 255, and how opaque up to 1. */
export type Rgba = readonly [number, number, number, number];

/** The default background of a page. */
export const WHITE: Rgba = [255, 255, 255, 1];

const NAMES: ReadonlyMap<string, Rgba> = new Map([
  ["white", WHITE],
  ["snow", [255, 250, 250, 1]],
  ["ivory", [255, 255, 240, 1]],
  ["whitesmoke", [245, 245, 245, 1]],
  ["ghostwhite", [248, 248, 255, 1]],
  ["floralwhite", [255, 250, 240, 1]],
  ["mintcream", [245, 255, 250, 1]],
  ["azure", [240, 255, 255, 1]],
  ["black", [0, 0, 0, 1]],
  ["red", [255, 0, 0, 1]],
  ["blue", [0, 0, 255, 1]],
  ["green", [0, 128, 0, 1]],
  ["yellow", [255, 255, 0, 1]],
  ["gray", [128, 128, 128, 1]],
  ["grey", [128, 128, 128, 1]],
  ["silver", [192, 192, 192, 1]],
  ["navy", [0, 0, 128, 1]],
  ["transparent", [0, 0, 0, 0]],
]);

/** Parses a colour; undefined for a notation or name not known here. */
export function parseColour(value: string): Rgba | undefined {
  const named = NAMES.get(value);
  if (named !== undefined) return named;
  const hex = /^#([0-9a-f]{3,8})$|^([0-9a-f]{6})$/.exec(value)?.slice(1).find((each) =>
    each !== undefined
  );
  if (hex !== undefined) return ofHex(hex);
  const inner = /^rgba?\(([^)]*)\)$/.exec(value)?.[1];
  if (inner === undefined) return undefined;
  const parts = inner.split(/[\s,/]+/).filter((part) => part !== "").map(share);
  const [red = Number.NaN, green = Number.NaN, blue = Number.NaN, opaque = 1] = parts;
  return [red, green, blue].some(Number.isNaN) ? undefined : [red, green, blue, opaque];
}

/** The colour in a `background`; undefined when no colour in it is known. */
export function parseBackground(value: string): Rgba | undefined {
  for (const part of value.split(/\s+(?![^(]*\))/)) {
    const colour = parseColour(part);
    if (colour !== undefined) return colour;
  }
  return undefined;
}

/** People cannot tell colours apart whose channels differ by no more, each or in sum. */
const SAME_EACH = 16;
const SAME = 24;

/** Whether people cannot tell text of colour `text` from the colour beneath it. */
export function isLike(text: Rgba, beneath: Rgba): boolean {
  if (text[3] < 0.1) return true;
  const apart = [0, 1, 2].map((at) => Math.abs((text[at] ?? 0) - (beneath[at] ?? 0)));
  return Math.max(...apart) <= SAME_EACH || apart.reduce((sum, each) => sum + each, 0) < SAME;
}

function ofHex(hex: string): Rgba | undefined {
  const wide = hex.length <= 4 ? [...hex].map((digit) => digit + digit).join("") : hex;
  if (wide.length !== 6 && wide.length !== 8) return undefined;
  const at = (from: number): number => Number.parseInt(wide.slice(from, from + 2), 16);
  return [at(0), at(2), at(4), wide.length === 8 ? at(6) / 255 : 1];
}

function share(part: string): number {
  const number = Number(part.replace(/%$/, ""));
  return part.endsWith("%") ? (number / 100) * 255 : number;
}

/** Thresholds for text out of sight, and whether doubtful cases count as hidden. */
export interface GoneRules {
  /** Offset from the window's edge that puts something out of sight; pixels, below 0. */
  readonly far: number;
  /** Also count what only hides together with another rule: an offset without a position, one edge of a clip. */
  readonly strict: boolean;
}

/** Whether an element with these properties is invisible. */
export function isGone(properties: Properties, rules: GoneRules): boolean {
  const value = (name: string): string => properties.get(name) ?? "";
  if (value("display") === "none" || value("content-visibility") === "hidden") return true;
  const opacity = Number.parseFloat(value("opacity") || "1");
  if (opacity * (value("opacity").endsWith("%") ? 0.01 : 1) < 0.1) return true;
  if (/opacity\(0(?:\.0\d*)?%?\)/.test(value("filter"))) return true;
  if (
    /scale(?:3d|x|y)?\(\s*0(?:\.0\d*)?\s*[,)]/.test(value("transform")) || value("scale") === "0"
  ) return true;
  return isClipped(properties, rules) || isAway(properties, rules);
}

/** Whether the visible area is next to nothing. */
function isClipped(properties: Properties, { strict }: GoneRules): boolean {
  const small = (name: string): boolean => {
    const size = pixels(properties.get(name));
    return size !== undefined && size >= 0 && size <= 2;
  };
  const overflow = ["overflow", "overflow-x", "overflow-y"].map((name) =>
    properties.get(name) ?? ""
  ).join(" ");
  if (/hidden|clip|scroll|auto/.test(overflow)) {
    if (small("width") || small("height") || small("max-width") || small("max-height")) return true;
  }
  if (strict && /^rect\(\s*(?:0|1px)/.test(properties.get("clip") ?? "")) return true;
  const clip = /^rect\(([^)]*)\)$/.exec(properties.get("clip") ?? "")?.[1];
  if (
    clip !== undefined && clip.split(/[\s,]+/).every((edge) => Math.abs(pixels(edge) ?? 99) <= 1)
  ) return true;
  const path = properties.get("clip-path") ?? "";
  return /^inset\(\s*(?:50|[6-9]\d|100)%/.test(path) ||
    /^(?:circle|polygon)\(\s*0(?:px|%)?\s*(?:at|\)|0\s*[,)])/.test(path);
}

/** Whether the element lies beyond an edge of the page. */
function isAway(properties: Properties, { far: edge, strict }: GoneRules): boolean {
  const far = (name: string): boolean => (pixels(properties.get(name)) ?? 0) <= edge;
  const position = properties.get("position") ?? "static";
  if (strict || (position !== "static" && position !== "sticky")) {
    if (["left", "right", "top", "bottom"].some(far)) return true;
  }
  if (far("text-indent") || far("margin-left") || far("margin-top")) return true;
  const moved = /translate(?:3d|x|y)?\(([^)]*)\)/.exec(properties.get("transform") ?? "")?.[1];
  return moved?.split(",").some((part) => (pixels(part.trim()) ?? 0) <= edge) ?? false;
}

/** The font size in pixels; undefined where no known property gives one. */
export function fontSize(properties: Properties): number | undefined {
  const written = properties.get("font-size") ?? sizeOf(properties.get("font"));
  return written?.endsWith("%") ? Number.parseFloat(written) * 0.16 : pixels(written);
}

/** The size in a `font` shorthand. */
function sizeOf(font: string | undefined): string | undefined {
  return font?.split(/[\s/]+/).find((part) =>
    pixels(part) !== undefined && /[a-z%]|^0$/.test(part)
  );
}
