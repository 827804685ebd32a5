/**
 * Superscripts, subscripts and formulas (MathML and Office) as plain text on one line that changes no number. Elements
 * without a linear form keep their parts apart. Used by memory-wiki/parse/docx/body.ts and
 * tools-wasm/web_read/inline.ts.
 * @module
 */

/** An element of a formula; its name has no prefix. */
export interface MathNode {
  readonly name: string;
  readonly attributes: { get(name: string): string | undefined };
  readonly children: readonly (string | MathNode)[];
}

/** Deeper elements of a formula are cut. */
const MAX_DEPTH = 100;
/** Superscripts that are no exponents: ordinals and trade marks. */
const PLAIN_ABOVE = /^(?:st|nd|rd|th|er|ers|re|res|ème|eme|tm|sm|mc|[®©™℠*†‡§ºª]+)$/iu;
/** Possible text of a note's mark, where it is a link. */
const NOTE = /^[\p{L}\p{N}*†‡§¶]{1,6}$/u;
/** A text that needs no brackets as an operand. */
const ONE =
  /^(?:[+\-−±]?(?:\p{L}\p{M}*|\p{N}+(?:[.,]\p{N}+)*)|[\p{L}\p{N}]+|\([^()]*\)|[^\s\p{L}\p{N}])$/u;

/**
 * A superscript or subscript: `10` and `6` are `10^6`. `noted`: the text links to a note of the page. `next`: the text
 * after it, so that `x`, `1` below and `2` become `x_(1)2`.
 */
export function scripted(
  where: "sup" | "sub",
  text: string,
  options: { readonly noted?: boolean; readonly next?: string } = {},
): string {
  const bare = text.trim();
  if (bare === "") return "";
  if (where === "sup" && options.noted === true && NOTE.test(bare)) return ` (note ${bare})`;
  // Brackets already set a mark apart.
  if (where === "sup" && (PLAIN_ABOVE.test(bare) || /^\\?\[.*\]/s.test(bare))) return bare;
  const runsOn = [/\p{N}$/u, /\p{L}$/u].some((end) =>
    end.test(bare) && end.test(/^./su.exec(options.next ?? "")?.[0] ?? "")
  );
  return `${where === "sup" ? "^" : "_"}${runsOn ? `(${bare})` : grouped(bare)}`;
}

function grouped(text: string): string {
  return ONE.test(text) ? text : `(${text})`;
}

/** A formula on one line: `(a+b)/c`, `x_i^2`, `sqrt(2)`. Annotations that a page does not show are left out. */
export function linearMath(node: MathNode): string {
  return linear(node, 0).replace(/\s+/g, " ").trim();
}

function linear(node: MathNode | string, depth: number): string {
  if (typeof node === "string") return node.trim() === "" ? "" : node;
  if (depth > MAX_DEPTH) return "…";
  const elements = node.children.filter((child) => typeof child !== "string");
  const nth = (at: number): string => {
    const child = elements[at];
    return child === undefined ? "" : linear(child, depth + 1).trim();
  };
  /** The child of this name, as Office writes formulas. */
  const part = (name: string): string => {
    const at = elements.findIndex((child) => child.name === name);
    return at < 0 ? "" : nth(at);
  };
  /** A sign set in the element's properties. */
  const sign = (name: string, otherwise: string): string => {
    const properties = elements.find((child) => child.name === `${node.name}Pr`);
    const given = properties?.children.find((child) =>
      typeof child !== "string" && child.name === name
    );
    return typeof given === "object" ? given.attributes.get("val") ?? "" : otherwise;
  };
  const all = (): string => joined(node.children.map((child) => linear(child, depth + 1)));
  const base = (text: string): string => text === "" ? "" : grouped(text);
  const upper = (text: string): string => text === "" ? "" : `^${grouped(text)}`;
  const lower = (text: string): string => text === "" ? "" : `_${grouped(text)}`;
  switch (node.name) {
    case "annotation":
    case "annotation-xml":
    case "mphantom":
    case "maction":
      return node.name === "maction" ? nth(0) : "";
    case "mfrac":
      return `${base(nth(0))}/${base(nth(1))}`;
    case "f":
      return `${base(part("num"))}/${base(part("den"))}`;
    case "msup":
    case "mover":
      return base(nth(0)) + upper(nth(1));
    case "msub":
    case "munder":
      return base(nth(0)) + lower(nth(1));
    case "msubsup":
    case "munderover":
      return base(nth(0)) + lower(nth(1)) + upper(nth(2));
    case "sSup":
    case "sSub":
    case "sSubSup":
      return base(part("e")) + lower(part("sub")) + upper(part("sup"));
    case "sPre":
      return `${lower(part("sub"))}${upper(part("sup"))} ${base(part("e"))}`;
    case "limLow":
      return base(part("e")) + lower(part("lim"));
    case "limUpp":
      return base(part("e")) + upper(part("lim"));
    case "nary":
      return `${sign("chr", "∫")}${lower(part("sub"))}${upper(part("sup"))} ${part("e")}`;
    case "msqrt":
      return `sqrt(${all()})`;
    case "mroot":
      return `root(${nth(0)}, ${nth(1)})`;
    case "rad": {
      const degree = part("deg");
      return degree === "" ? `sqrt(${part("e")})` : `root(${part("e")}, ${degree})`;
    }
    case "d": {
      const inner = elements.flatMap((child, at) => child.name === "e" ? [nth(at)] : []);
      return sign("begChr", "(") + inner.join(sign("sepChr", "|")) + sign("endChr", ")");
    }
    case "mfenced":
      return (node.attributes.get("open") ?? "(") +
        elements.map((_, at) => nth(at)).join(node.attributes.get("separators") ?? ", ") +
        (node.attributes.get("close") ?? ")");
    case "acc":
      return base(part("e")) + upper(sign("chr", "\u0302"));
    case "mtable":
    case "m":
    case "eqArr":
      return `[${
        elements.flatMap((child, at) =>
          /^(?:mtr|mlabeledtr|mr|e)$/.test(child.name) ? [nth(at)] : []
        )
          .join("; ")
      }]`;
    case "mtr":
    case "mlabeledtr":
    case "mr":
      return elements.map((_, at) => nth(at)).join(", ");
    case "mspace":
      return " ";
    default:
      return node.name.endsWith("Pr") ? "" : all();
  }
}

/** Joins parts; a space keeps neighbours apart that would read as one word or number. */
function joined(parts: readonly string[]): string {
  let text = "";
  for (const part of parts) {
    const touch = /[\p{L}\p{N}]$/u.test(text) && /^[\p{L}\p{N}]/u.test(part);
    text += touch ? ` ${part}` : part;
  }
  return text;
}
