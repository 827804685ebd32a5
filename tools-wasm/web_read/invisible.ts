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
  /(?:^|;)(?:display:none|visibility:(?:hidden|collapse)|opacity:0?\.?0*(?:;|$)|font-size:0|content-visibility:hidden|clip:rect\(0|clip:rect\(1px|clip-path:(?:inset\((?:100|50)%|circle\(0)|transform:(?:scale\(0\)|translate[xy]?\(-\d{4,})|color:transparent)/;
const ZERO = /(?:^|;)(?:max-)?(?:width|height):(?:0|1px)(?:[a-z%]*)(?:;|$)/;

/** Whether declarations make an element unseen. */
function hidesByStyle(style: string): boolean {
  if (style.length > 2_000) return true;
  const plain = withoutComments(style.toLowerCase()).replace(/!important|\s+/g, "");
  if (NONE.test(plain) || OFF.test(plain)) return true;
  if (ZERO.test(plain) && plain.includes("overflow:hidden")) return true;
  const color = /(?:^|;)color:([^;]+)/.exec(plain)?.[1];
  const behind = /(?:^|;)background(?:-color)?:([^;]+)/.exec(plain)?.[1];
  return color !== undefined && color === behind;
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

const MOST_SHEET = 500_000;

/** The single classes and ids that a style sheet hides everywhere: not within `@media` and the like. */
export function hiddenNames(sheet: string): HiddenNames {
  const names = new Set<string>();
  let depth = 0;
  let within = 0;
  let head = "";
  for (
    const part of withoutComments(sheet.slice(0, MOST_SHEET)).match(/[{}]|[^{}]+/g) ??
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
    else if (depth === 1 && within === 0 && hidesByStyle(part)) {
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
