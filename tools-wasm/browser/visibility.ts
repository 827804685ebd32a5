/** Decides which elements people see: hidden text must not reach a model. @module */
import {
  fontSize,
  isGone,
  isLike,
  parseBackground,
  parseColour,
  parseDeclarations,
  type Properties,
  type Rgba,
  WHITE,
} from "../../text/css.ts";
import type { StyleSheet } from "./style_sheet.ts";
import type { Element } from "./tree.ts";

/** The properties that an element's text inherits. */
export interface Look {
  readonly colour?: Rgba;
  /** Absent where it is unknown, as over an image. */
  readonly background?: Rgba;
  readonly invisible: boolean;
  readonly tiny: boolean;
}

/** The look at a page's root. */
export const PLAIN: Look = Object.freeze({ background: WHITE, invisible: false, tiny: false });

/** A colour that resembles only fully transparent text. */
const CLEAR: Rgba = [-1_000, -1_000, -1_000, 1];

const RULES = { far: -500, strict: false };

/** The look of an element's text beneath one that looks as `above`; undefined when hidden. */
export function lookOf(element: Element, above: Look, sheet: StyleSheet): Look | undefined {
  const { attributes } = element;
  if (attributes.has("hidden") || attributes.get("aria-hidden")?.trim().toLowerCase() === "true") {
    return undefined;
  }
  if (element.name === "dialog" && !attributes.has("open")) return undefined;
  const properties = propertiesOf(element, sheet);
  if (properties.size === 0) return above;
  // Pages hide their whole body until a script has run, so that rule hides nothing here.
  const whole = element.name === "html" || element.name === "body";
  return !whole && isGone(properties, RULES) ? undefined : inherited(properties, above);
}

/** Whether text with this look can be read. */
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
