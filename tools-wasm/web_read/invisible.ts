/** Content of a page that people do not see. @module */
import {
  type Declaration,
  fontSize,
  isGone,
  isLike,
  parseColour,
  parseDeclarations,
  type Properties,
  withoutComments,
} from "../../text/css.ts";

/** Counts of what was left out. */
export interface Hidden {
  /** Hidden elements, each with its contents. */
  elements: number;
  /** Characters of text in hidden elements. */
  characters: number;
  comments: number;
  /** Characters without a shape: zero-width, direction marks, tags. */
  invisible: number;
  /** Links that run code or contain data: `javascript:`, `data:`. */
  links: number;
}

/** An empty count. */
export function nothingHidden(): Hidden {
  return { elements: 0, characters: 0, comments: 0, invisible: 0, links: 0 };
}

/** Attributes of an element, by names in lower case. */
export type Attributes = ReadonlyMap<string, string>;

/** Names that a page's own style sheet hides: `.class` and `#id`. */
export type HiddenNames = ReadonlySet<string>;

/** Font sizes below this are unreadable, in pixels. */
const TINY = 3;
/** A style longer than pages normally have hides something, or hides that it does. */
const STYLE = 2_000;
const VALUE = 300;
const HIDDEN = /^(?:hidden|collapse)$/;
const RULES = { far: -100, strict: true };

/** Whether people cannot tell two colours apart; unknown ones only if written alike. */
function alike(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined) return false;
  const a = parseColour(one), b = other === undefined ? undefined : parseColour(other);
  if (a !== undefined && a[3] < 0.1) return true;
  return a === undefined || b === undefined ? one === other : isLike(a, b);
}

const named = ({ name, value }: Declaration) => [name, value] as const;

function declared(of: Properties): { readonly colour?: string; readonly ground?: string } {
  const colour = of.get("color"), ground = of.get("background-color") ?? of.get("background");
  return {
    ...(colour === undefined ? {} : { colour }),
    ...(ground === undefined || ground === "none" || ground === "transparent" ? {} : { ground }),
  };
}

/** The colours of a text and its background; undefined where a sheet may override them. */
export interface Ink {
  readonly colour: string | undefined;
  readonly ground: string | undefined;
  /** Whether the two cannot be told apart. */
  readonly unseen: boolean;
}

/** The ink of a page, as far as its own sheets allow a decision. */
export function inkOfPage(sheet: string, linked: boolean): Ink {
  const ground = linked || /background/i.test(sheet) ? undefined : "white";
  return { colour: undefined, ground, unseen: false };
}

/** The ink of an element within another. */
export function inkOf(attributes: Attributes, outer: Ink): Ink {
  const style = attributes.get("style");
  const [colour, ground] = [attributes.get("color"), attributes.get("bgcolor")];
  if (style === undefined && colour === undefined && ground === undefined) return outer;
  const declarations = style === undefined
    ? {}
    : declared(new Map(parseDeclarations(style).map(named)));
  const behind = declarations.ground ?? ground?.toLowerCase().trim();
  const ink = declarations.colour ?? colour?.toLowerCase().trim() ?? outer.colour;
  // A background that is not a colour may be a picture.
  const known = behind === undefined || parseColour(behind) !== undefined;
  const own = known ? behind ?? outer.ground : undefined;
  return { colour: ink, ground: own, unseen: alike(ink, own) };
}

/** Whether declarations make an element invisible. */
function hidesByStyle(style: string, behind?: string): boolean {
  if (style.length > STYLE) return true;
  // Hides a value too long to examine, not counting blanks.
  if (style.split(";").some((each) => each.replace(/\s+/g, " ").length > VALUE)) return true;
  const each = parseDeclarations(style).map(named);
  // The winner of two rules for one property is not determined: one that hides suffices.
  const of = new Map(each);
  if ([of, ...each.map((one) => new Map([one]))].some((some) => isGone(some, RULES))) return true;
  if (each.some(([name, value]) => name === "visibility" && HIDDEN.test(value))) return true;
  const size = fontSize(of);
  if (size !== undefined && size < TINY) return true;
  const { colour, ground = behind } = declared(of);
  return alike(colour, ground);
}

/** Whether an element is hidden by its own attributes or by the page's style sheet. */
export function isHidden(attributes: Attributes, names: HiddenNames): boolean {
  if (attributes.has("hidden") && attributes.get("hidden")?.toLowerCase() !== "until-found") {
    return true;
  }
  if (attributes.get("aria-hidden")?.trim().toLowerCase() === "true") return true;
  const style = attributes.get("style");
  if (style !== undefined && hidesByStyle(style)) return true;
  if (names.size === 0) return false;
  const id = attributes.get("id");
  if (id !== undefined && names.has(`#${id}`)) return true;
  const classes = attributes.get("class")?.split(/\s+/, 50) ?? [];
  return classes.some((name) => names.has(`.${name}`));
}

const MAX_SHEET = 500_000;

/**
 * The single classes and ids that a style sheet hides everywhere, not within `@media` and the like.
 */
export function hiddenNames(sheet: string, ground?: string): HiddenNames {
  const names = new Set<string>();
  let depth = 0;
  let within = 0;
  let head = "";
  for (
    const part of withoutComments(sheet.slice(0, MAX_SHEET)).match(/[{}]|[^{}]+/g) ??
      []
  ) {
    if (part === "{") {
      depth += 1;
      if (head.trim().startsWith("@") && within === 0) within = depth;
    } else if (part === "}") {
      if (depth === within) within = 0;
      depth = Math.max(0, depth - 1);
      head = "";
    } else if (depth === 0) head = part;
    else if (depth === 1 && within === 0 && hidesByStyle(part, ground)) {
      for (const selector of head.split(",")) {
        const simple = selector.trim();
        if (/^[.#][\w-]+$/.test(simple)) names.add(simple);
      }
    }
  }
  return names;
}

// Zero-width and direction marks, soft hyphens, variation selectors, interlinear marks, tag characters.
const SHAPELESS =
  /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;
// deno-lint-ignore no-control-regex -- this pattern removes control characters
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

/** Removes characters without a shape from a text and counts them. */
export function visibleText(text: string, hidden: Hidden): string {
  const plain = text.replace(SHAPELESS, "").replace(CONTROL, "");
  hidden.invisible += text.length - plain.length;
  return plain;
}
