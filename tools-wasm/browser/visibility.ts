/** Whether people would see an element: what hides text from them must not reach a model. @module */
import { parseDeclarations, pixels, type Properties } from "./declarations.ts";
import type { StyleSheet } from "./style_sheet.ts";
import type { Element } from "./tree.ts";

// Colours of CSS, as far as text can be hidden with them.

/** Red, green and blue up to 255, and how opaque up to 1. */
type Rgba = readonly [number, number, number, number];

/** What a page is painted on. */
const WHITE: Rgba = [255, 255, 255, 1];

const NAMES: ReadonlyMap<string, Rgba> = new Map([
  ["white", WHITE],
  ["snow", [255, 250, 250, 1]],
  ["ivory", [255, 255, 240, 1]],
  ["whitesmoke", [245, 245, 245, 1]],
  ["ghostwhite", [248, 248, 255, 1]],
  ["floralwhite", [255, 250, 240, 1]],
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

/** Reads a colour; undefined for one that is not known here. */
function parseColour(value: string): Rgba | undefined {
  const named = NAMES.get(value);
  if (named !== undefined) return named;
  const hex = /^#([0-9a-f]{3,8})$/.exec(value)?.[1];
  if (hex !== undefined) return ofHex(hex);
  const inner = /^rgba?\(([^)]*)\)$/.exec(value)?.[1];
  if (inner === undefined) return undefined;
  const parts = inner.split(/[\s,/]+/).filter((part) => part !== "").map(share);
  const [red = Number.NaN, green = Number.NaN, blue = Number.NaN, opaque = 1] = parts;
  return [red, green, blue].some(Number.isNaN) ? undefined : [red, green, blue, opaque];
}

/** The colour in a `background`; undefined when there is none that is known, so that nothing is said about it. */
function parseBackground(value: string): Rgba | undefined {
  for (const part of value.split(/\s+(?![^(]*\))/)) {
    const colour = parseColour(part);
    if (colour !== undefined) return colour;
  }
  return undefined;
}

/** Whether people cannot tell text of the one from the other beneath it. */
function isLike(text: Rgba, beneath: Rgba): boolean {
  if (text[3] < 0.1) return true;
  return Math.abs(text[0] - beneath[0]) + Math.abs(text[1] - beneath[1]) +
      Math.abs(text[2] - beneath[2]) < 24;
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

/** What an element's text inherits. */
export interface Look {
  readonly colour?: Rgba;
  /** Absent where it is not known, as over an image. */
  readonly background?: Rgba;
  readonly invisible: boolean;
  readonly tiny: boolean;
}

/** How a page begins. */
export const PLAIN: Look = Object.freeze({ background: WHITE, invisible: false, tiny: false });

/** Like nothing but text that is itself not there. */
const CLEAR: Rgba = [-1_000, -1_000, -1_000, 1];

/** Pixels from the window's edge at which something is put there to be out of sight. */
const FAR = -500;

/** How the element's text looks, beneath one that looks as `above`; undefined when nothing of it is seen. */
export function lookOf(element: Element, above: Look, sheet: StyleSheet): Look | undefined {
  const { attributes } = element;
  if (attributes.has("hidden") || attributes.get("aria-hidden")?.trim().toLowerCase() === "true") {
    return undefined;
  }
  if (element.name === "dialog" && !attributes.has("open")) return undefined;
  const properties = propertiesOf(element, sheet);
  if (properties.size === 0) return above;
  // Pages hide themselves until a script has run; nothing beneath could be seen then, so nothing is singled out.
  const whole = element.name === "html" || element.name === "body";
  return !whole && isGone(properties) ? undefined : inherited(properties, above);
}

/** Whether text that looks so can be read. */
export function isSeen({ colour, background, invisible, tiny }: Look): boolean {
  return !invisible && !tiny && (colour === undefined || !isLike(colour, background ?? CLEAR));
}

function propertiesOf(element: Element, sheet: StyleSheet): Properties {
  const { attributes } = element;
  const inline = parseDeclarations(attributes.get("style") ?? "");
  const all = [...sheet.of(element), ...inline];
  const properties = new Map<string, string>();
  const colour = attributes.get(
    element.name === "font" ? "color" : element.name === "body" ? "text" : "",
  );
  const background = attributes.get("bgcolor");
  if (colour !== undefined) properties.set("color", colour.trim().toLowerCase());
  if (background !== undefined) properties.set("background", background.trim().toLowerCase());
  for (const strong of [false, true]) {
    for (const { name, value, important } of all) {
      if (important !== strong) continue;
      if (name === "background-color") properties.set("background", value);
      else properties.set(name, value);
    }
  }
  return properties;
}

function isGone(properties: Properties): boolean {
  const value = (name: string): string => properties.get(name) ?? "";
  if (value("display") === "none" || value("content-visibility") === "hidden") return true;
  const opacity = Number.parseFloat(value("opacity") || "1");
  if (opacity * (value("opacity").endsWith("%") ? 0.01 : 1) < 0.1) return true;
  if (/opacity\(0(?:\.0\d*)?%?\)/.test(value("filter"))) return true;
  if (
    /scale(?:3d|x|y)?\(\s*0(?:\.0\d*)?\s*[,)]/.test(value("transform")) || value("scale") === "0"
  ) return true;
  return isClipped(properties) || isAway(properties);
}

/** No room to be seen in. */
function isClipped(properties: Properties): boolean {
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
  const clip = /^rect\(([^)]*)\)$/.exec(properties.get("clip") ?? "")?.[1];
  if (
    clip !== undefined && clip.split(/[\s,]+/).every((edge) => Math.abs(pixels(edge) ?? 99) <= 1)
  ) return true;
  const path = properties.get("clip-path") ?? "";
  return /^inset\(\s*(?:50|[6-9]\d|100)%/.test(path) ||
    /^(?:circle|polygon)\(\s*0(?:px|%)?\s*(?:at|\)|0\s*[,)])/.test(path);
}

/** Beyond an edge of the page. */
function isAway(properties: Properties): boolean {
  const far = (name: string): boolean => (pixels(properties.get(name)) ?? 0) <= FAR;
  const position = properties.get("position") ?? "static";
  if (position !== "static" && position !== "sticky") {
    if (["left", "right", "top", "bottom"].some(far)) return true;
  }
  if (far("text-indent") || far("margin-left") || far("margin-top")) return true;
  const moved = /translate(?:3d|x|y)?\(([^)]*)\)/.exec(properties.get("transform") ?? "")?.[1];
  return moved?.split(",").some((part) => (pixels(part.trim()) ?? 0) <= FAR) ?? false;
}

function inherited(properties: Properties, above: Look): Look {
  const visibility = properties.get("visibility") ?? "inherit";
  const size = fontSize(properties);
  const colour = colourOf(properties, above);
  const background = backgroundOf(properties, above);
  return {
    ...(colour === undefined ? {} : { colour }),
    ...(background === undefined ? {} : { background }),
    invisible: visibility === "inherit"
      ? above.invisible
      : visibility === "hidden" || visibility === "collapse",
    tiny: size === undefined ? above.tiny : size < 3,
  };
}

function colourOf(properties: Properties, above: Look): Rgba | undefined {
  const written = properties.get("color") ?? "inherit";
  return written === "inherit" ? above.colour : parseColour(written);
}

function backgroundOf(properties: Properties, above: Look): Rgba | undefined {
  const image = properties.get("background-image") ?? "none";
  const written = properties.get("background");
  if (image !== "none") return undefined;
  if (written === undefined || /^(none|inherit|unset|initial|0 0|0)$/.test(written)) {
    return above.background;
  }
  const colour = parseBackground(written);
  return colour === undefined || (colour[3] > 0 && colour[3] < 0.9)
    ? undefined
    : colour[3] === 0
    ? above.background
    : colour;
}

function fontSize(properties: Properties): number | undefined {
  const written = properties.get("font-size") ?? sizeOf(properties.get("font"));
  return written?.endsWith("%") ? Number.parseFloat(written) * 0.16 : pixels(written);
}

/** The size in a `font`. */
function sizeOf(font: string | undefined): string | undefined {
  return font?.split(/[\s/]+/).find((part) =>
    pixels(part) !== undefined && /[a-z%]|^0$/.test(part)
  );
}
