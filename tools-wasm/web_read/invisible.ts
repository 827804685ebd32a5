/** What a page holds and a person does not see. @module */

/** What was left out. */
export interface Hidden {
  /** Elements that the page hides, with all that is in them. */
  elements: number;
  /** Characters of text in those. */
  characters: number;
  comments: number;
  /** Characters without a shape: zero-width, direction marks, tags. */
  invisible: number;
  /** Links that run code or carry their content: `javascript:`, `data:`. */
  links: number;
}

/** Nothing left out yet. */
export function nothingHidden(): Hidden {
  return { elements: 0, characters: 0, comments: 0, invisible: 0, links: 0 };
}

/** Attributes of an element, by names in lower case. */
export type Attributes = ReadonlyMap<string, string>;

/** Names that a page's own style sheet hides: `.class` and `#id`. */
export type HiddenNames = ReadonlySet<string>;

const OFF = /(?:^|;)(?:left|top|right|bottom|text-indent|margin-left|margin-top):-\d{3,}/;
const NONE =
  /(?:^|;)(?:display:none|visibility:(?:hidden|collapse)|opacity:(?:0|0?\.0\d*|[0-4](?:\.\d+)?%)(?:;|$)|content-visibility:hidden|clip:rect\(0|clip:rect\(1px|clip-path:(?:inset\((?:100|50)%|circle\(0)|transform:(?:scale\(0\)|translate[xy]?\(-\d{4,})|color:transparent)/;
const ZERO = /(?:^|;)(?:max-)?(?:width|height):(?:0|1px)(?:[a-z%]*)(?:;|$)/;

const SIZE =
  /(?:^|;)font(?:-size)?:(?:[^;]*\s)?(\d*\.?\d+)(px|pt|em|rem|ex|ch|%|vw|vh|mm|cm|in|)(?=[;/\s]|$)/;
/** The largest letters that nobody reads, by unit; of others only none at all. */
const TINY: Readonly<Record<string, number>> = {
  ...{ px: 2, pt: 1.5, em: 0.15, rem: 0.15, "%": 15, mm: 0.5, cm: 0.05, in: 0.02 },
};
const WHITE = "255,255,255";
const NAMED: Readonly<Record<string, string>> = {
  ...{ white: WHITE, snow: "255,250,250", ivory: "255,255,240", ghostwhite: "248,248,255" },
  ...{ whitesmoke: "245,245,245", floralwhite: "255,250,240", mintcream: "245,255,250" },
  ...{ azure: "240,255,255", black: "0,0,0" },
};
/** Two colours whose parts differ by no more cannot be told apart. */
const SAME = 16;

/** A colour's parts; undefined where they are not known. */
function partsOf(colour: string): readonly number[] | undefined {
  const bare = colour.trim();
  const hex = /^#?([0-9a-f]{3,8})\b/.exec(bare)?.[1];
  if (hex !== undefined && bare.startsWith("#") || hex?.length === 6) {
    const wide = (hex ?? "").length < 6
      ? [...hex ?? ""].map((one) => one + one).join("")
      : hex ?? "";
    return [0, 2, 4].map((at) => Number.parseInt(wide.slice(at, at + 2), 16));
  }
  const known = Object.hasOwn(NAMED, bare) ? NAMED[bare] : /^rgba?\(([\d,.\s]+)/.exec(bare)?.[1];
  const parts = known?.split(/[,\s]+/).slice(0, 3).map(Number);
  return parts?.length === 3 ? parts : undefined;
}

function alike(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  const [a, b] = [partsOf(one), partsOf(other)];
  if (a === undefined || b === undefined) return one === other;
  return a.every((part, at) => Math.abs(part - (b[at] ?? NaN)) <= SAME);
}

function declared(style: string): { readonly colour?: string; readonly ground?: string } {
  const plain = withoutComments(style.toLowerCase()).replace(/!important/g, "");
  const colour = /(?:^|;)\s*color\s*:([^;]+)/.exec(plain)?.[1]?.trim();
  const ground = /(?:^|;)\s*background(?:-color)?\s*:([^;]+)/.exec(plain)?.[1]?.trim();
  return {
    ...(colour === undefined ? {} : { colour }),
    ...(ground === undefined || ground === "none" || ground === "transparent" ? {} : { ground }),
  };
}

/** The colours of a text and of what lies behind it; undefined where a sheet may say another. */
export interface Ink {
  readonly colour: string | undefined;
  readonly ground: string | undefined;
  /** The two cannot be told apart. */
  readonly unseen: boolean;
}

/** The ink of a page, as far as its own sheets leave it alone. */
export function inkOfPage(sheet: string, linked: boolean): Ink {
  const ground = linked || /background/i.test(sheet) ? undefined : "white";
  return { colour: undefined, ground, unseen: false };
}

/** The ink of an element within another. */
export function inkOf(attributes: Attributes, outer: Ink): Ink {
  const style = attributes.get("style");
  const [colour, ground] = [attributes.get("color"), attributes.get("bgcolor")];
  if (style === undefined && colour === undefined && ground === undefined) return outer;
  const said = style === undefined ? {} : declared(style);
  const behind = said.ground ?? ground?.toLowerCase().trim();
  const ink = said.colour ?? colour?.toLowerCase().trim() ?? outer.colour;
  // What is no colour may be a picture.
  const known = behind === undefined || partsOf(behind) !== undefined;
  const own = known ? behind ?? outer.ground : undefined;
  return { colour: ink, ground: own, unseen: alike(ink, own) };
}

/** Whether declarations make an element unseen. */
function hidesByStyle(style: string, behind?: string): boolean {
  if (style.length > 2_000) return true;
  const plain = withoutComments(style.toLowerCase()).replace(/!important|\s+/g, "");
  if (NONE.test(plain) || OFF.test(plain)) return true;
  if (ZERO.test(plain) && plain.includes("overflow:hidden")) return true;
  const size = SIZE.exec(
    withoutComments(style.toLowerCase()).replace(/!important/g, "").replace(/\s*([:;])\s*/g, "$1"),
  );
  if (size !== null && Number(size[1]) <= (TINY[size[2] ?? ""] ?? 0)) return true;
  const { colour, ground = behind } = declared(style);
  return alike(colour, ground);
}

/** Whether an element is unseen by its own attributes or by the page's style sheet. */
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

/** The single classes and ids that a style sheet hides everywhere: not within `@media` and the like. */
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

function withoutComments(style: string): string {
  const parts: string[] = [];
  let from = 0;
  while (true) {
    const start = style.indexOf("/*", from);
    if (start < 0) return parts.join("") + style.slice(from);
    parts.push(style.slice(from, start));
    const end = style.indexOf("*/", start + 2);
    if (end < 0) return parts.join("");
    from = end + 2;
  }
}

// Zero-width and direction marks, soft hyphens, variation selectors, interlinear marks, tag characters.
const SHAPELESS =
  /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;
// deno-lint-ignore no-control-regex -- these are what is taken out
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

/** Takes characters without a shape out of a text and counts them. */
export function visibleText(text: string, hidden: Hidden): string {
  const plain = text.replace(SHAPELESS, "").replace(CONTROL, "");
  hidden.invisible += text.length - plain.length;
  return plain;
}
