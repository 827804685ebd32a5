/** A picture of pages and sources: who links to whom, who cites what. Drawn at export, so it needs no script. @module */
import type { Colour } from "../../contracts/mod.ts";
import { paintOfAll } from "./catalogue.ts";
import { chips, documentHtml } from "./document_html.ts";
import { layOut, type Place } from "./graph_layout.ts";
import { escapeHtml, hrefTo } from "./html.ts";
import type { SiteMap } from "./site_map.ts";

/** More nodes than this are a cloud, not a picture: the best linked are drawn. */
const MOST_NODES = 150;
const WIDTH = 1_200;
const HEIGHT = 800;
const MARGIN = 60;
const LETTERS = 26;
/** Of a label: about as wide as its letters in the style's 12 px. */
const LETTER_WIDTH = 6.6;
const LETTER_HEIGHT = 14;

interface Node {
  readonly id: string;
  readonly kind: "page" | "source";
  readonly title: string;
  readonly path: string;
  readonly colour: Colour;
  degree: number;
}

interface Edge {
  readonly from: string;
  readonly to: string;
  readonly kind: "links" | "cites";
}

/** The graph's page. */
export function graphHtml(site: SiteMap): string {
  const paint = paintOfAll([
    ...[...site.pages.values()].map(({ page }) => page),
    ...site.sources.values(),
  ]);
  const { nodes, edges, left } = chosen(site);
  const main = [
    "<h1>Graph</h1>",
    `<p class="meta">${
      chips(paint.colour, paint.label)
    }${nodes.length} nodes, ${edges.length} edges${
      left === 0 ? "" : `; ${left} nodes with fewer edges are not drawn`
    }</p>`,
    '<p class="meta legend"><span>● page</span><span>■ source</span><span>— links</span><span>┄ cites</span></p>',
    `<figure>${picture(nodes, edges)}</figure>`,
  ].join("\n");
  return documentHtml({ title: "Graph", kind: "graph", ...paint, depth: 0, main });
}

function chosen(site: SiteMap): { nodes: readonly Node[]; edges: readonly Edge[]; left: number } {
  const nodes = new Map<string, Node>();
  for (const { page, path } of site.pages.values()) {
    const id = `page ${page.name}`;
    nodes.set(id, { id, kind: "page", title: page.title, path, colour: page.colour, degree: 0 });
  }
  const edges = new Map<string, Edge>();
  const join = (from: string, to: string, kind: Edge["kind"]): void => {
    const key = `${from}\n${to}`;
    if (edges.has(key) || edges.has(`${to}\n${from}`)) return;
    edges.set(key, { from, to, kind });
    for (const id of [from, to]) {
      const node = nodes.get(id);
      if (node !== undefined) node.degree += 1;
    }
  };
  for (const [from, to] of site.links) join(`page ${from}`, `page ${to}`, "links");
  for (const { source, path, colour, uses } of site.sources.values()) {
    if (uses.length === 0) continue;
    const id = `source ${source.text}`;
    const title = source.title === "" ? source.text : source.title;
    nodes.set(id, { id, kind: "source", title, path, colour, degree: 0 });
    for (const { page } of uses) join(`page ${page}`, id, "cites");
  }
  const all = [...nodes.values()].sort((a, b) => b.degree - a.degree || (a.id < b.id ? -1 : 1));
  const drawn = all.slice(0, MOST_NODES);
  const ids = new Set(drawn.map(({ id }) => id));
  return {
    nodes: drawn,
    edges: [...edges.values()].filter(({ from, to }) => ids.has(from) && ids.has(to)),
    left: all.length - drawn.length,
  };
}

function picture(nodes: readonly Node[], edges: readonly Edge[]): string {
  const at = new Map(nodes.map(({ id }, index) => [id, index]));
  const pairs = edges.map(({ from, to }): [number, number] => [at.get(from) ?? 0, at.get(to) ?? 0]);
  const places = fitted(layOut(nodes.length, pairs));
  const out: string[] = [];
  for (const [index, [a, b]] of pairs.entries()) {
    const [one, other] = [places[a], places[b]];
    if (one === undefined || other === undefined) continue;
    const kind = edges[index]?.kind ?? "links";
    out.push(
      `<line class="${kind}" x1="${one.x}" y1="${one.y}" x2="${other.x}" y2="${other.y}"/>`,
    );
  }
  const labels = placeLabels(nodes, places);
  for (const [index, node] of nodes.entries()) {
    const place = places[index];
    if (place === undefined) continue;
    const size = 5 + Math.min(7, Math.sqrt(node.degree));
    const shape = node.kind === "page"
      ? `<circle class="node ${node.colour}" cx="${place.x}" cy="${place.y}" r="${round(size)}"/>`
      : `<rect class="node ${node.colour}" x="${round(place.x - size)}" y="${
        round(place.y - size)
      }" width="${round(2 * size)}" height="${round(2 * size)}"/>`;
    const label = labels[index];
    const text = label === undefined
      ? ""
      : `<text x="${round(label.x)}" y="${round(label.y)}">${escapeHtml(short(node.title))}</text>`;
    out.push(
      `<a href="${hrefTo(node.path, 0)}"><title>${
        escapeHtml(node.title)
      }</title>${shape}${text}</a>`,
    );
  }
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Pages and sources">${
    out.join("\n")
  }</svg>`;
}

/** Stretches places to the picture, keeping proportions apart for each axis. */
function fitted(places: readonly Place[]): readonly Place[] {
  const range = (values: readonly number[]): readonly [number, number] => {
    const least = values.reduce((a, b) => Math.min(a, b), Infinity);
    const most = values.reduce((a, b) => Math.max(a, b), -Infinity);
    return [least, most > least ? most - least : 0];
  };
  const [left, wide] = range(places.map(({ x }) => x));
  const [top, high] = range(places.map(({ y }) => y));
  // Labels stand to the right of their nodes.
  const room = WIDTH - 2 * MARGIN - LETTERS * LETTER_WIDTH / 2;
  return places.map(({ x, y }) => ({
    x: round(wide === 0 ? WIDTH / 2 : MARGIN + (x - left) / wide * room),
    y: round(high === 0 ? HEIGHT / 2 : MARGIN + (y - top) / high * (HEIGHT - 2 * MARGIN)),
  }));
}

function short(title: string): string {
  const letters = [...title];
  return letters.length > LETTERS ? `${letters.slice(0, LETTERS - 1).join("")}…` : title;
}

/** Beside, above or beneath its node, where no label stands yet and no node is; a label without room is left out. */
function placeLabels(
  nodes: readonly Node[],
  places: readonly Place[],
): readonly (Place | undefined)[] {
  const taken: { x: number; y: number; w: number; h: number }[] = places.map(({ x, y }) => ({
    ...{ x: x - 8, y: y - 8, w: 16, h: 16 },
  }));
  return nodes.map((node, index) => {
    const place = places[index];
    if (place === undefined) return undefined;
    const width = [...short(node.title)].length * LETTER_WIDTH;
    const options: readonly Place[] = [
      { x: place.x + 13, y: place.y + 4 },
      { x: place.x - 13 - width, y: place.y + 4 },
      { x: place.x - width / 2, y: place.y - 14 },
      { x: place.x - width / 2, y: place.y + 24 },
    ];
    for (const { x, y } of options) {
      const box = { x, y: y - LETTER_HEIGHT + 2, w: width, h: LETTER_HEIGHT };
      const inside = box.x > 2 && box.x + box.w < WIDTH - 2 && box.y > 2 &&
        box.y + box.h < HEIGHT - 2;
      const free = taken.every((other) =>
        box.x + box.w < other.x || other.x + other.w < box.x || box.y + box.h < other.y ||
        other.y + other.h < box.y
      );
      if (!inside || !free) continue;
      taken.push(box);
      return { x, y };
    }
    return undefined;
  });
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
