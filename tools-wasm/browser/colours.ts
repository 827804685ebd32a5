/** Colours of CSS, as far as text can be hidden with them. @module */

/** Red, green and blue up to 255, and how opaque up to 1. */
export type Rgba = readonly [number, number, number, number];

/** What a page is painted on. */
export const WHITE: Rgba = [255, 255, 255, 1];

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
export function parseColour(value: string): Rgba | undefined {
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
export function parseBackground(value: string): Rgba | undefined {
  for (const part of value.split(/\s+(?![^(]*\))/)) {
    const colour = parseColour(part);
    if (colour !== undefined) return colour;
  }
  return undefined;
}

/** Whether people cannot tell text of the one from the other beneath it. */
export function isLike(text: Rgba, beneath: Rgba): boolean {
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
