/** Takes a snapshot of the open page: its tree, its forms, its lines. Used by fill.ts and session.ts. @module */
import type { Protocol } from "puppeteer-core";
import { readPlace, withoutFragment } from "./address.ts";
import { type Canvas, makeCanvas, type Target } from "./canvas.ts";
import type { Cdp, Happened } from "./events.ts";
import { leftOut, partsOf, TOO_LONG } from "../text/page_outline.ts";
import { cleanText, quoted } from "../text/page_text.ts";
import { descendants, type Element } from "./dom.ts";
import { isControl, kindOf } from "./fields.ts";
import { drawOutline } from "./outline.ts";
import { SENDING } from "./page_functions.ts";
import { accessibleOf, readDom } from "./read_dom.ts";
import type { Tally } from "./requests.ts";
import { STYLES } from "./boxes.ts";
import type { Sending } from "./sending.ts";
import { openWorld, type World } from "./world.ts";
import { seenText } from "./seen_text.ts";

/** A snapshot. */
export interface View {
  readonly url: string;
  /** As shown; empty where the address ends with it. */
  readonly title: string;
  readonly notes: readonly string[];
  /** The outline in parts that are shown one at a time; at least one. */
  readonly parts: readonly string[];
  readonly targets: ReadonlyMap<string, Target>;
  readonly root: Element;
  /** The previous page, the target of going back. */
  readonly before: string | undefined;
}

/** Maximum nodes of a page whose accessibility tree is requested. */
const MAX_ACCESSIBLE_NODES = 5_000;
/** Forms of a page, and buttons of a form, whose requests are prepared. */
const FORMS = 20, BUTTONS = 20;

/** Takes a snapshot. The events of `tally` and `happened` are shown above the page. */
export async function takeView(cdp: Cdp, tally: Tally, happened: Happened): Promise<View> {
  const [frames, snapshot, history] = await Promise.all([
    cdp.send("Page.getFrameTree"),
    cdp.send("DOMSnapshot.captureSnapshot", {
      computedStyles: [...STYLES],
      includeDOMRects: false,
    }),
    cdp.send("Page.getNavigationHistory"),
  ]);
  const accessible = await accessibilityTree(cdp, snapshot);
  const url = withoutFragment(frames.frameTree.frame.url);
  const read = readDom(snapshot, accessibleOf(accessible));
  const base = snapshot.strings[snapshot.documents[0]?.baseURL ?? -1] ?? url;
  const owners = ownersOf(read.root);
  const sendings = await sendingsOf(await openWorld(cdp), read.root, owners);
  const canvas = makeCanvas();
  const windows = happened.windows.map((each) => ({ url: each, by: "window" as const, why: "" }));
  stoppedLines(canvas, [...tally.stopped, ...windows]);
  const labels = labelsOf(canvas, read.root);
  drawOutline(canvas, read.root, { url, base, owners, sendings, labels });
  const { entries, currentIndex } = history;
  const earlier = entries[currentIndex - 1]?.url ?? "";
  const title = cleanText(entries[currentIndex]?.title ?? "", canvas.unseen).trim();
  return {
    url,
    title: title === "" || url.endsWith(title) ? "" : quoted(title, 300),
    notes: [
      ...happened.notes,
      ...notesOf(tally),
      ...(read.whole ? [] : ["the page is too large; a part of it was left out"]),
      ...leftOut([
        [canvas.hidden(), "hidden pieces that people would not see"],
        [canvas.unseen.characters, "characters that cannot be seen"],
      ]),
      ...(canvas.isFull() ? [TOO_LONG] : []),
    ],
    parts: partsOf(canvas.lines),
    targets: canvas.targets,
    root: read.root,
    before: /^https?:/.test(earlier) ? withoutFragment(earlier) : undefined,
  };
}

/** The accessibility tree; none for a large page, because Chromium would take seconds. */
async function accessibilityTree(
  cdp: Cdp,
  { documents }: Protocol.DOMSnapshot.CaptureSnapshotResponse,
): Promise<readonly Protocol.Accessibility.AXNode[]> {
  const nodes = documents[0]?.nodes.nodeType?.length ?? 0;
  if (nodes > MAX_ACCESSIBLE_NODES) return [];
  return (await cdp.send("Accessibility.getFullAXTree")).nodes;
}

/** Lines for pages that were not opened. */
function stoppedLines(canvas: Canvas, stopped: Tally["stopped"]): void {
  for (const { url, by, why } of stopped) {
    const place = readPlace(url, url);
    const text = {
      server: "The server sends the browser on to another place. It was not followed",
      script: "The page wanted to go on to another place. It was not followed",
      window: "The page opened a window, which was closed",
    }[by];
    canvas.line(0, `text: ${text}${why === "" ? "" : `: ${cleanText(why).slice(0, 300)}`}.`);
    if (place.kind === "other") {
      canvas.line(0, `text: It leads to ${cleanText(place.what)}, which is never followed.`);
    } else {
      const ref = canvas.ref({ kind: "link", id: 0, url: place.url }) ?? "";
      canvas.line(0, `link ${ref} "the place it leads to" → ${place.url}`);
    }
  }
}

function notesOf({ refused, unsent, notes }: Tally): readonly string[] {
  const origins = [...refused];
  const made = origins.reduce((sum, [, count]) => sum + count, 0);
  const listed = origins.slice(0, 10).map(([origin, count]) =>
    `${cleanText(origin)}${count > 1 ? ` (${count})` : ""}`
  ).join(", ");
  const more = origins.length > 10 ? ", …" : "";
  const requests = made === 1 ? "1 request" : `${made} requests`;
  const places = origins.length === 1 ? "1 place" : `${origins.length} places`;
  return [
    ...(made === 0
      ? []
      : [`${requests} to ${places} ${made === 1 ? "was" : "were"} not made: ${listed}${more}`]),
    ...unsent.map(({ method, url, body }) =>
      `the page wanted to send something, which was not sent: ${method} ${
        cleanText(url).slice(0, 500)
      }` +
      (body === "" ? "" : `, body ${quoted(body, 2_000)}`)
    ),
    ...notes,
  ];
}

/** The form that owns each control. */
function ownersOf(root: Element): ReadonlyMap<Element, Element> {
  const byId = new Map<string, Element>();
  for (const each of descendants(root)) {
    const id = each.name === "form" ? each.attributes.get("id") : undefined;
    if (id !== undefined && !byId.has(id)) byId.set(id, each);
  }
  const owners = new Map<Element, Element>();
  const look = (of: Element, form: Element | undefined): void => {
    for (const node of of.children) {
      if (node.kind === "text") continue;
      if (isControl(node)) {
        const named = node.attributes.get("form");
        const owner = named === undefined ? form : byId.get(named);
        if (owner !== undefined) owners.set(node, owner);
      }
      look(node, node.name === "form" ? node : form);
    }
  };
  look(root, undefined);
  return owners;
}

/** What each form would send, by the id of the form or of the button that sends it. */
async function sendingsOf(
  world: World,
  root: Element,
  owners: ReadonlyMap<Element, Element>,
): Promise<ReadonlyMap<number, Sending>> {
  const sendings = new Map<number, Sending>();
  const forms = [...descendants(root)].filter(({ name }) => name === "form").slice(0, FORMS);
  for (const form of forms) {
    const buttons = [...owners].flatMap(([control, owner]) =>
      owner === form && kindOf(control) === "submit" ? [control.id] : []
    ).slice(0, BUTTONS);
    const reports = await world.call(SENDING, form.id, buttons.map((id) => ({ id })))
      .catch(() => undefined);
    if (!Array.isArray(reports)) continue;
    for (const [at, each] of reports.entries()) {
      const sending = sendingIn(each);
      // The first report is the form's own.
      if (sending !== undefined) sendings.set(at === 0 ? form.id : buttons[at - 1] ?? 0, sending);
    }
  }
  return sendings;
}

function sendingIn(value: unknown): Sending | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { method, encoding, action, url, body } = value as Record<string, unknown>;
  if (method !== "GET" && method !== "POST" && method !== "DIALOG") return undefined;
  return {
    ...{ method, encoding: String(encoding), action: String(action) },
    ...{ url: String(url), body: String(body) },
  };
}

// Which text labels which control.

/** The visible text of labels, by control. */
function labelsOf(canvas: Canvas, root: Element): ReadonlyMap<Element, string> {
  const byId = new Map<string, Element>();
  for (const element of descendants(root)) {
    const id = isControl(element) ? element.attributes.get("id") : undefined;
    if (id !== undefined && !byId.has(id)) byId.set(id, element);
  }
  const texts = new Map<Element, string>();
  for (const label of descendants(root)) {
    if (label.name !== "label") continue;
    const id = label.attributes.get("for");
    const control = id === undefined ? [...descendants(label)].find(isControl) : byId.get(id);
    const text = control === undefined ? "" : seenText(canvas, label);
    if (control === undefined || text === "") continue;
    texts.set(control, [texts.get(control), text].filter((each) => each !== undefined).join(" "));
  }
  return texts;
}
