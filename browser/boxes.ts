/**
 * Decides which boxes of a laid-out page people see: hidden text must not reach a model. Used by
 * read_dom.ts and view.ts.
 * @module
 */

/** Left, top, width, height in pixels of the page. */
export type Box = readonly [number, number, number, number];

/** Requested styles, in this order. */
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
  "position",
] as const;

/** Computed styles of one element, by name. */
export type Styles = Readonly<Record<typeof STYLES[number], string>>;

/** The effects of an element on its contents. */
export interface Within {
  /** Opacity of all enclosing elements multiplied. */
  readonly opacity: number;
  /** Everything outside of this box is cut off. */
  readonly clip: Box | undefined;
  /** The background colour; absent where the background is a picture. */
  readonly paper: Colour | undefined;
}

/** The background of a page. */
const WHITE: Colour = [255, 255, 255, 1];

/** The effects at a page's root. */
export const OPEN: Within = Object.freeze({ opacity: 1, clip: undefined, paper: WHITE });

/** Minimum side of a readable box, in pixels. */
const LEAST = 3;
const LEAST_FONT = 5;
const LEAST_OPACITY = 0.1;
/** Minimum difference of red, green and blue together. */
const LEAST_CONTRAST = 24;

/** The effects on the contents of an element with this box and these styles. */
export function within(above: Within, box: Box, styles: Styles): Within {
  const { opacity, filter, clip, position } = styles;
  const cut = styles["overflow-x"] !== "visible" || styles["overflow-y"] !== "visible";
  const gone = isClippedAway(styles["clip-path"]) || /opacity\(0(?:\.0\d*)?%?\)/.test(filter) ||
    (position === "absolute" || position === "fixed") && isEmptyClip(clip);
  return {
    opacity: gone ? 0 : above.opacity * Number(opacity || "1"),
    // Scrolling can bring hidden contents of a scrollable box into view.
    clip: cut ? common(above.clip, scrolls(styles) ? widened(box) : box) : above.clip,
    paper: paperOf(above.paper, styles),
  };
}

/** Whether a box of this size at this place is visible. */
export function isShown(box: Box, within: Within, styles: Styles): boolean {
  if (styles.visibility !== "visible" || within.opacity < LEAST_OPACITY) return false;
  const [left, top, width, height] = box;
  if (left + width <= 0 || top + height <= 0 || left > 20_000) return false;
  const [, , wide, high] = within.clip === undefined ? box : common(box, within.clip);
  return wide >= LEAST && high >= LEAST;
}

/** Whether text is readable on its background. */
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

/** Red, green and blue up to 255, and opacity up to 1. */
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

/** Only a box large enough to see into scrolls. */
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
