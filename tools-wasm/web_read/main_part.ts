/** Finds the main content of a page. @module */
import type { PageElement } from "./page_tree.ts";

/** The content, and element names to leave out when the page does not mark its content. */
export interface MainPart {
  readonly root: PageElement;
  readonly without: ReadonlySet<string>;
}

/** Minimum text of a marked part, where the page has much more. */
const LITTLE = 200;

/** `<main>`, or the only long `<article>`; else everything but navigation, asides and footers. */
export function mainPart(root: PageElement): MainPart {
  const marked = find(
    root,
    (node) => node.name === "main" || node.attributes.get("role") === "main",
  );
  const articles = find(root, ({ name }) => name === "article");
  const candidates = marked.length > 0 ? marked : articles.length === 1 ? articles : [];
  const [best] = [...candidates].sort((one, other) => other.size - one.size);
  if (best !== undefined && (best.size >= LITTLE || best.size * 5 >= root.size)) {
    return { root: best, without: new Set(["nav"]) };
  }
  return { root, without: new Set(["nav", "aside", "footer"]) };
}

function find(root: PageElement, wanted: (node: PageElement) => boolean): readonly PageElement[] {
  const found: PageElement[] = [];
  const open: PageElement[] = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (wanted(node)) found.push(node);
    else for (const child of node.children) if (typeof child !== "string") open.push(child);
  }
  return found;
}
