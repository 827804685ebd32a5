/** Lines for what leads to another page. @module */
import { readPlace } from "./address.ts";
import type { Canvas } from "./canvas.ts";
import { cleanText, quoted } from "../../text/page_text.ts";
import type { Element } from "./tree.ts";

/** Where an element leads, if it leads anywhere. */
export function leadsTo(element: Element): string | undefined {
  const { name, attributes } = element;
  if (name === "a" || name === "area") return attributes.get("href");
  return name === "iframe" || name === "frame" ? attributes.get("src") ?? "about:blank" : undefined;
}

/** `link e3 "Docs" → https://example.org/docs`; without a ref where it is not followed. */
export function linkLine(canvas: Canvas, element: Element, name: string): string | undefined {
  const written = leadsTo(element);
  if (written === undefined) return undefined;
  const frame = element.name === "iframe" || element.name === "frame";
  const role = frame ? "frame" : "link";
  const place = readPlace(written, canvas.bases.links);
  const shown = quoted(name, 300);
  if (place.kind === "other") {
    const what = cleanText(place.what);
    return `${role} ${shown} (${what}${what.endsWith(":") ? "" : ":"} not followed)`;
  }
  if (place.fragment !== "" && place.url === urlOf(canvas)) {
    return `${role} ${shown} (to a place on this page)`;
  }
  const ref = canvas.ref({ kind: "link", url: place.url });
  return ref === undefined
    ? `${role} ${shown} (no ref: too many)`
    : `${role} ${ref} ${shown} → ${place.url}`;
}

function urlOf({ bases: { page } }: Canvas): string {
  return `${page.scheme}://${page.host}${page.path}${page.query}`;
}
