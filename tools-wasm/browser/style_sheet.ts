/**
 * Rules of `<style>` elements that can hide something, and the elements that they match. @module
 */
import { type Declaration, parseDeclarations, withoutComments } from "../../text/css.ts";
import type { Element } from "./tree.ts";

/** A part of a selector without spaces: `a.b#c[d]`. */
interface Compound {
  readonly name?: string;
  readonly id?: string;
  readonly classes: readonly string[];
  /** Required attributes, with a value where the selector gives one. */
  readonly attributes: readonly (readonly [string, string | undefined])[];
}

/** A selector, last part first; `child`: the part before it must be the parent itself. */
interface Selector {
  readonly parts: readonly { readonly compound: Compound; readonly child: boolean }[];
  readonly weight: number;
}

interface Rule {
  readonly selector: Selector;
  readonly declarations: readonly Declaration[];
  readonly order: number;
}

/** The style sheets of a page. */
export interface StyleSheet {
  /** The declarations that apply to the element, lowest precedence first. */
  readonly of: (element: Element) => readonly Declaration[];
  /** Whether the limit of trials was reached: hidden text may have been taken for visible. */
  readonly isSpent: () => boolean;
}

const RULES = 300;
const CHARACTERS = 400_000;
const MEDIA_DEPTH = 3;
/** Maximum number of selector trials for a page. */
const TRIALS = 500_000;
/** Rules for print or narrow windows do not decide what people see. */
const SHOWN_MEDIA = /^@media\s+(all|screen|only\s+screen)\s*$/i;

/** Parses style sheets in order. Rules beyond the limits, or not understood, hide nothing. */
export function parseStyleSheet(texts: readonly string[]): StyleSheet {
  const rules: Rule[] = [];
  for (const text of texts) readRules(withoutComments(text.slice(0, CHARACTERS)), rules);
  const keyed = new Map<string, Rule[]>();
  for (const rule of rules) {
    const key = keyOf(rule.selector.parts[0]?.compound);
    const same = keyed.get(key);
    if (same === undefined) keyed.set(key, [rule]);
    else same.push(rule);
  }
  // An element is looked up repeatedly: for its own text, and for the names of its ancestors.
  const known = new Map<Element, readonly Declaration[]>();
  let trials = 0;
  const find = (element: Element): readonly Declaration[] => {
    const fitting: Rule[] = [];
    for (const key of keysOf(element)) {
      for (const rule of keyed.get(key) ?? []) {
        if (++trials > TRIALS) return [];
        if (fits(rule.selector, element)) fitting.push(rule);
      }
    }
    fitting.sort((a, b) => a.selector.weight - b.selector.weight || a.order - b.order);
    return fitting.flatMap(({ declarations }) => declarations);
  };
  return Object.freeze({
    of(element: Element): readonly Declaration[] {
      if (rules.length === 0) return [];
      const found = known.get(element) ?? find(element);
      known.set(element, found);
      return found;
    },
    isSpent: () => trials > TRIALS,
  });
}

function readRules(text: string, rules: Rule[], depth = 0): void {
  for (let from = 0; rules.length < RULES;) {
    const open = text.indexOf("{", from);
    if (open < 0) return;
    const head = text.slice(from, open).split(";").at(-1)?.trim() ?? "";
    if (head.startsWith("@")) {
      const end = blockEnd(text, open);
      if (SHOWN_MEDIA.test(head) && depth < MEDIA_DEPTH) {
        readRules(text.slice(open + 1, end), rules, depth + 1);
      }
      from = end + 1;
      continue;
    }
    const found = text.indexOf("}", open);
    const close = found < 0 ? text.length : found;
    const declarations = parseDeclarations(text.slice(open + 1, close));
    if (declarations.length > 0 && head.length < 4_000) {
      for (const written of head.split(",")) {
        const selector = parseSelector(written.trim());
        if (selector !== undefined && rules.length < RULES) {
          rules.push({ selector, declarations, order: rules.length });
        }
      }
    }
    from = close + 1;
  }
}

function blockEnd(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at += 1) {
    const character = text[at];
    if (character === "{") depth += 1;
    if (character === "}" && --depth === 0) return at;
  }
  return text.length;
}

function parseSelector(text: string): Selector | undefined {
  const words = text.replace(/\s+/g, " ").replace(/ ?> ?/g, " > ").split(" ");
  if (text === "" || words.length > 16) return undefined;
  const parts: { compound: Compound; child: boolean }[] = [];
  let weight = 0;
  let child = false;
  for (const word of words) {
    if (word === ">") {
      if (parts.length === 0) return undefined;
      child = true;
      continue;
    }
    const compound = parseCompound(word);
    if (compound === undefined) return undefined;
    parts.unshift({ compound, child });
    child = false;
    weight += (compound.id === undefined ? 0 : 10_000) +
      (compound.classes.length + compound.attributes.length) * 100 +
      (compound.name === undefined ? 0 : 1);
  }
  return parts.length === 0 || child ? undefined : { parts, weight };
}

function parseCompound(text: string): Compound | undefined {
  const name = /^(?:\*|[a-zA-Z][a-zA-Z0-9-]*)/.exec(text)?.[0];
  let id: string | undefined;
  const classes: string[] = [];
  const attributes: (readonly [string, string | undefined])[] = [];
  for (let rest = text.slice(name?.length ?? 0); rest !== "";) {
    const found = /^(?:#([\w-]+)|\.([\w-]+)|\[([\w-]+)(?:=["']?([^"'\]]*)["']?)?\])/.exec(rest);
    if (found === null) return undefined;
    const [all, hash, dot, attribute, value] = found;
    if (hash !== undefined) id = hash;
    if (dot !== undefined) classes.push(dot);
    if (attribute !== undefined) attributes.push([attribute.toLowerCase(), value]);
    rest = rest.slice(all.length);
  }
  return {
    ...(name === undefined || name === "*" ? {} : { name: name.toLowerCase() }),
    ...(id === undefined ? {} : { id }),
    classes,
    attributes,
  };
}

function keyOf(compound: Compound | undefined): string {
  if (compound?.id !== undefined) return `#${compound.id}`;
  if (compound?.classes[0] !== undefined) return `.${compound.classes[0]}`;
  return compound?.name ?? "*";
}

function keysOf(element: Element): ReadonlySet<string> {
  const id = element.attributes.get("id");
  return new Set([
    element.name,
    "*",
    ...(id === undefined ? [] : [`#${id}`]),
    ...classesOf(element).map((name) => `.${name}`),
  ]);
}

function classesOf(element: Element): readonly string[] {
  const known = CLASSES.get(element);
  if (known !== undefined) return known;
  const found =
    element.attributes.get("class")?.slice(0, 2_000).split(/\s+/).filter((name) => name !== "") ??
      [];
  CLASSES.set(element, found);
  return found;
}

const CLASSES = new WeakMap<Element, readonly string[]>();

/** Matches greedily from the inside out without backtracking: exact for the selectors in use. */
function fits({ parts }: Selector, element: Element): boolean {
  let at: Element | undefined = element;
  for (const [index, { compound }] of parts.entries()) {
    // The part nearer to the element says whether this part must match the parent itself.
    const parentOnly = index === 0 || parts[index - 1]?.child === true;
    if (!parentOnly) { while (at !== undefined && !isA(compound, at)) at = at.parent; }
    if (at === undefined || !isA(compound, at)) return false;
    at = at.parent;
  }
  return true;
}

function isA({ name, id, classes, attributes }: Compound, element: Element): boolean {
  if (name !== undefined && element.name !== name) return false;
  if (id !== undefined && element.attributes.get("id") !== id) return false;
  for (const [attribute, value] of attributes) {
    const held = element.attributes.get(attribute);
    if (held === undefined || (value !== undefined && held !== value)) return false;
  }
  if (classes.length === 0) return true;
  const held = classesOf(element);
  return classes.every((each) => held.includes(each));
}
