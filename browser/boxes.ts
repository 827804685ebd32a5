/** Which boxes of a laid out page people see: what hides text from them must not reach a model. @module */

/** Left, top, width, height in pixels of the page. */
export type Box = readonly [number, number, number, number];

/** Styles that are asked for, in this order. */
export const STYLES = [
  "display",
  "visibility",
  "opacity",
  "font-size",
  "color",
  "-webkit-text-fill-color",
  "background-color",
  "background-image",
  "overflow-x",
  "overflow-y",
  "clip",
  "clip-path",
  "filter",
  "white-space-collapse",
  "position",
] as const;

/** Computed styles of one element, by name. */
export type Styles = Readonly<Record<typeof STYLES[number], string>>;

/** What an element does to everything in it. */
export interface Within {
  /** How opaque, all that is around it taken together. */
  readonly opacity: number;
  /** What is outside of this is cut off. */
  readonly clip: Box | undefined;
  /** What it is painted on; absent where that is a picture. */
  readonly paper: Colour | undefined;
}

/** What a page is painted on. */
const WHITE: Colour = [255, 255, 255, 1];

/** How a page begins. */
export const OPEN: Within = Object.freeze({ opacity: 1, clip: undefined, paper: WHITE });

/** Least side of a box that can be read, pixels. */
const LEAST = 3;
const LEAST_FONT = 5;
const LEAST_OPACITY = 0.1;
/** Of red, green and blue together. */
const LEAST_CONTRAST = 24;

/** What is left for everything in an element whose box and styles these are. */
export function within(above: Within, box: Box, styles: Styles): Within {
  const { opacity, filter, clip, position } = styles;
  const cut = styles["overflow-x"] !== "visible" || styles["overflow-y"] !== "visible";
  const gone = isClippedAway(styles["clip-path"]) || /opacity\(0(?:\.0\d*)?%?\)/.test(filter) ||
    (position === "absolute" || position === "fixed") && isEmptyClip(clip);
  return {
    opacity: gone ? 0 : above.opacity * Number(opacity || "1"),
    // Where it scrolls, what is out of sight now can be brought into it.
    clip: cut ? common(above.clip, scrolls(styles) ? widened(box) : box) : above.clip,
    paper: paperOf(above.paper, styles),
  };
}

/** Whether a box of this size in this place can be seen. */
export function isShown(box: Box, within: Within, styles: Styles): boolean {
  if (styles.visibility !== "visible" || within.opacity < LEAST_OPACITY) return false;
  const [left, top, width, height] = box;
  if (left + width <= 0 || top + height <= 0 || left > 20_000) return false;
  const [, , wide, high] = within.clip === undefined ? box : common(box, within.clip);
  return wide >= LEAST && high >= LEAST;
}

/** Whether text can be read where it stands. */
export function isReadable(styles: Styles, { paper }: Within): boolean {
  if (Number.parseFloat(styles["font-size"]) < LEAST_FONT) return false;
  const fill = colourOf(styles["-webkit-text-fill-color"]) ?? colourOf(styles.color);
  if (fill === undefined) return true;
  if (fill[3] < LEAST_OPACITY) return false;
  if (paper === undefined) return true;
  const [red, green, blue] = blended(fill, paper);
  return Math.abs(red - paper[0]) + Math.abs(green - paper[1]) + Math.abs(blue - paper[2]) >=
    LEAST_CONTRAST;
}

function paperOf(above: Colour | undefined, styles: Styles): Colour | undefined {
  if (styles["background-image"] !== "none") return undefined;
  const own = colourOf(styles["background-color"]);
  if (own === undefined || own[3] === 0) return above;
  if (own[3] >= 1) return own;
  return above === undefined ? undefined : blended(own, above);
}

function blended(ink: Colour, paper: Colour): Colour {
  const mix = (a: number, b: number): number => a * ink[3] + b * (1 - ink[3]);
  return [mix(ink[0], paper[0]), mix(ink[1], paper[1]), mix(ink[2], paper[2]), 1];
}

/** Red, green and blue up to 255, and how opaque up to 1. */
export type Colour = readonly [number, number, number, number];

function colourOf(text: string): Colour | undefined {
  const parts = /^rgba?\(([^)]*)\)$/.exec(text)?.[1]?.split(",").map(Number);
  if (parts === undefined) return undefined;
  const [red = 0, green = 0, blue = 0, alpha = 1] = parts;
  return [red, green, blue, alpha];
}

function scrolls(styles: Styles): boolean {
  return /auto|scroll/.test(`${styles["overflow-x"]} ${styles["overflow-y"]}`);
}

/** Only a place that can be looked into scrolls. */
function widened(box: Box): Box {
  const [, , width, height] = box;
  return width < LEAST * 4 || height < LEAST * 4 ? box : [-1e9, -1e9, 2e9, 2e9];
}

function common(a: Box | undefined, b: Box): Box {
  if (a === undefined) return b;
  const left = Math.max(a[0], b[0]);
  const top = Math.max(a[1], b[1]);
  const right = Math.min(a[0] + a[2], b[0] + b[2]);
  const bottom = Math.min(a[1] + a[3], b[1] + b[3]);
  return [left, top, Math.max(0, right - left), Math.max(0, bottom - top)];
}

function isEmptyClip(clip: string): boolean {
  const sides = /^rect\(([^)]*)\)$/.exec(clip)?.[1]?.split(/[\s,]+/).map(Number.parseFloat);
  if (sides === undefined) return false;
  const [top = 0, right = 0, bottom = 0, left = 0] = sides;
  return right - left < LEAST || bottom - top < LEAST;
}

function isClippedAway(path: string): boolean {
  const inset = /^inset\(([^)]*)\)/.exec(path)?.[1]?.split(/\s+/) ?? [];
  const half = inset.map((side) => side.endsWith("%") ? Number.parseFloat(side) : 0);
  return half.some((share) => share >= 50) ||
    /^circle\(0|^ellipse\(0|^polygon\(0(px|%)? 0/.test(path);
}
