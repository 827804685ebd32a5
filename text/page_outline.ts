/**
 * How both browser engines present a page to a model: lines within bounds, refs that name elements, one part at a time,
 * and refusals that say which call to make instead.
 * @module
 */
import { Fault } from "../contracts/base/fault.ts";
import { cleanText, type Unseen } from "./page_text.ts";

/** Collects the lines and refs of one page. */
export interface PageCanvas<Target> {
  /** Adds one line. */
  readonly line: (depth: number, text: string) => void;
  /** Puts `mark` before the next line: the bullet of a list item. */
  readonly mark: (mark: string) => void;
  /** A new ref for `target`; undefined past 3,000 refs, or when the canvas is full. */
  readonly ref: (target: Target) => string | undefined;
  readonly targets: ReadonlyMap<string, Target>;
  readonly lines: readonly string[];
  readonly unseen: Unseen;
  /** Whether the lines have reached 400,000 characters together. */
  readonly isFull: () => boolean;
}

/** Characters of all lines of a page together. */
const MAX_CHARACTERS = 400_000;
const MAX_REFS = 3_000;
const MAX_INDENTS = 10;
/** Characters of one part of a page. */
const PART_CHARACTERS = 18_000;

/** An empty canvas; a line longer than `maxLine` characters is cut. */
export function makePageCanvas<Target>(maxLine: number): PageCanvas<Target> {
  const lines: string[] = [];
  const targets = new Map<string, Target>();
  let left = MAX_CHARACTERS;
  let pendingMark = "";
  return Object.freeze({
    lines,
    targets,
    unseen: { characters: 0 },
    line(depth: number, text: string): void {
      if (left <= 0) return;
      const whole = text.length > maxLine ? `${text.slice(0, maxLine).toWellFormed()}…` : text;
      const line = "  ".repeat(Math.min(depth, MAX_INDENTS)) + pendingMark + whole;
      pendingMark = "";
      left -= line.length + 1;
      lines.push(line);
    },
    mark(mark: string): void {
      pendingMark = mark;
    },
    ref(target: Target): string | undefined {
      if (targets.size >= MAX_REFS || left <= 0) return undefined;
      const ref = `e${targets.size + 1}`;
      targets.set(ref, target);
      return ref;
    },
    isFull: () => left <= 0,
  });
}

/** Splits lines into the parts that are shown one at a time; at least one part. */
export function partsOf(lines: readonly string[]): readonly string[] {
  const parts: string[] = [];
  let part: string[] = [];
  let length = 0;
  for (const line of lines) {
    if (length > 0 && length + line.length > PART_CHARACTERS) {
      parts.push(part.join("\n"));
      [part, length] = [[], 0];
    }
    part.push(line);
    length += line.length + 1;
  }
  return [...parts, part.join("\n")];
}

/** A page ready to be shown. */
export interface ShownPage {
  readonly url: string;
  readonly status: number;
  /** Printed after `title`; empty for a page without one. */
  readonly title: string;
  readonly notes: readonly string[];
  readonly parts: readonly string[];
  /** Address of the page before this one, for going back. */
  readonly before: string | undefined;
}

/**
 * The head, then the lines of one part. INVARIANT: every line that the page supplied begins with a role that Remit wrote.
 *
 * @throws {Fault} `invalidArguments` for a part that does not exist
 */
export function shownPage(
  { url, status, title, notes, parts, before }: ShownPage,
  { part, snapshot }: { readonly part: number; readonly snapshot: string },
): string {
  const lines = parts[part - 1];
  if (lines === undefined) {
    throw new Fault("invalidArguments", `Cannot show part ${part}: the page has ${parts.length}`);
  }
  const next = part < parts.length
    ? `; more: browser_snapshot ${JSON.stringify({ url, part: part + 1 })}`
    : "";
  const head = [
    `page ${url} (status ${status})`,
    `snapshot ${snapshot}`,
    ...(title === "" ? [] : [`title ${title}`]),
    ...(parts.length === 1 ? [] : [`part ${part} of ${parts.length}${next}`]),
    ...(before === undefined ? [] : [`back: ${before}`]),
    ...notes.map((note) => `note: ${note}`),
  ];
  return `${head.join("\n")}\n\n${lines === "" ? "(nothing)" : lines}`;
}

/** The newest page by the names that calls use; each {@link Fault} says what to call instead. */
export interface NewestPage<Target, Page extends Snapshot<Target>> {
  /** @throws {Fault} `notFound` where no page is open */
  newest(): Page;
  /** The newest page. @throws {Fault} `conflict` where `snapshot` is not its id */
  current(snapshot: string): Page;
  /** @throws {Fault} `invalidArguments` for a ref that the snapshot does not list */
  target(at: { readonly snapshot: string; readonly ref: string }): Target;
  /** The newest page, if it is at `url`; messages show `written`. @throws {Fault} `invalidArguments` */
  at(url: string, written?: string): Page;
}

/** The part of a page that {@link NewestPage} needs. */
interface Snapshot<Target> {
  readonly url: string;
  readonly targets: ReadonlyMap<string, Target>;
}

/** Looks up pages by `page`, the open page, and `id`, the id of its snapshot. */
export function newestPage<Target, Page extends Snapshot<Target>>(
  page: () => Page | undefined,
  id: () => string,
): NewestPage<Target, Page> {
  const newest = (): Page => {
    const open = page();
    if (open !== undefined) return open;
    throw new Fault(
      "notFound",
      "Cannot do this: no page is open (none was opened yet, or the session was lost with its " +
        "process); open the page again with browser_open",
    );
  };
  const current = (snapshot: string): Page => {
    const open = newest();
    if (snapshot === id()) return open;
    throw new Fault(
      "conflict",
      `Cannot use snapshot ${JSON.stringify(snapshot.slice(0, 40))}: it is not the newest one of ` +
        "this session; use the newest snapshot's id and refs, or open the page again with browser_open",
    );
  };
  return Object.freeze({
    newest,
    current,
    target({ snapshot, ref }: { readonly snapshot: string; readonly ref: string }): Target {
      const found = current(snapshot).targets.get(ref);
      if (found !== undefined) return found;
      throw new Fault(
        "invalidArguments",
        `Cannot use ref ${
          JSON.stringify(ref.slice(0, 32))
        }: the newest snapshot has no such ref; ` +
          "it lists them after link, button and field names, as in `link e3`",
      );
    },
    at(url: string, written = url): Page {
      const open = newest();
      if (open.url === url) return open;
      throw new Fault(
        "invalidArguments",
        `Cannot do this at ${JSON.stringify(written.slice(0, 300))}: another page is open; name ` +
          "the address of the newest snapshot",
      );
    },
  });
}

/** A note that counts the elements left out, by kind; no note where all counts are 0. */
export function leftOut(counts: readonly (readonly [number, string])[]): readonly string[] {
  const kinds = counts.filter(([number]) => number > 0).map(([number, kind]) =>
    `${number} ${kind}`
  );
  return kinds.length === 0 ? [] : [`left out: ${kinds.join(", ")}`];
}

/** The note on a page that is longer than its canvas. */
export const TOO_LONG = "the page is too long; its end is left out";

/** An element's name: its visible text, else the first of its `aria-label`, `title` and `alt`. */
export function nameOf(text: string, attributes: ReadonlyMap<string, string>): string {
  if (text !== "") return text;
  for (const attribute of ["aria-label", "title", "alt"]) {
    const label = cleanText(attributes.get(attribute) ?? "").trim();
    if (label !== "") return label;
  }
  return "";
}

/** The part of an element that both engines' trees share. */
interface TreeElement<E> {
  readonly kind: "element";
  readonly name: string;
  readonly children: readonly (E | { readonly kind: "text" })[];
}

const MAX_ROWS = 5_000;

/**
 * The rows of a table of data; undefined for a table that only lays the page out: it holds forms or tables, or has a
 * single column. `header`: every cell of the row is a heading.
 */
export function dataRows<E extends TreeElement<E>>(
  beneath: Iterable<E>,
  isControl: (element: E) => boolean,
): readonly { readonly cells: readonly E[]; readonly header: boolean }[] | undefined {
  const rows: { cells: readonly E[]; header: boolean }[] = [];
  let widest = 0;
  for (const element of beneath) {
    if (element.name === "table" || element.name === "form" || isControl(element)) return undefined;
    if (element.name !== "tr" || rows.length >= MAX_ROWS) continue;
    const cells = element.children.flatMap((node) =>
      node.kind === "element" && (node.name === "td" || node.name === "th") ? [node] : []
    );
    if (cells.length === 0) continue;
    widest = Math.max(widest, cells.length);
    rows.push({ cells, header: cells.every(({ name }) => name === "th") });
  }
  return widest > 1 ? rows : undefined;
}

/** Longest expected argument that a refusal repeats whole, characters. */
const MAX_REPEATED = 2_500;
/** Characters shown on both sides of the first difference in a longer one. */
const AROUND = 60;

/** The refusal of an argument that differs from what the page requires: names the difference, so that the next call succeeds. */
export function differs(
  name: "url" | "body",
  { given, exact }: { readonly given: string; readonly exact: string },
): Fault {
  const reason = name === "url" ? "it leads elsewhere" : "the form sends something else";
  if (exact.length <= MAX_REPEATED) {
    return new Fault(
      "invalidArguments",
      `Cannot do this: ${reason}; call again with ${name} ${JSON.stringify(exact)}`,
    );
  }
  let at = 0;
  while (at < exact.length && exact[at] === given[at]) at += 1;
  const part = (text: string): string =>
    JSON.stringify(text.slice(Math.max(0, at - AROUND), at + AROUND));
  return new Fault(
    "invalidArguments",
    `Cannot do this: ${reason}; ${name} has ${exact.length} characters and differs from character ` +
      `${at} on: it is ${part(exact)} there, and not ${part(given)}`,
  );
}

/** The part of an HTTP answer that a download needs. */
interface Downloaded {
  readonly status: number;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly cut: boolean;
  readonly stopped?: { readonly location: string; readonly why: string };
}

/** An engine's functions for a download. */
export interface DownloadParts<Answer extends Downloaded> {
  fetch(
    args: {
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly bytes: number;
    },
  ): Promise<Answer>;
  /** The answer as text; undefined where its type or its bytes are not text. */
  textOf(answer: Answer, type: string): string | undefined;
  write(file: { readonly path: string; readonly text: string }): Promise<unknown>;
}

/** Limit of a download in bytes: what one write to the scratch takes. */
const DOWNLOAD_BYTES = 1_000_000;

/** The media type of an answer in lower case, without parameters; empty when none is named. */
export function mediaType({ headers }: Pick<Downloaded, "headers">): string {
  return (headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

/**
 * Downloads a text file into the task's scratch; a failed download saves nothing.
 *
 * @throws {Fault} `tooLarge` past 1,000,000 bytes; `refused` for content that is not text, for a redirect and for a status
 * other than 2xx
 */
export async function download<Answer extends Downloaded>(
  { url, path }: { readonly url: string; readonly path: string },
  parts: DownloadParts<Answer>,
): Promise<string> {
  if (!path.startsWith("scratch/")) {
    throw new Fault(
      "invalidArguments",
      "Cannot save a download: its path has to begin with scratch/",
    );
  }
  const answer = await parts.fetch({ url, headers: { accept: "*/*" }, bytes: DOWNLOAD_BYTES });
  const type = cleanText(mediaType(answer)).slice(0, 80);
  const { stopped, status } = answer;
  if (stopped !== undefined) {
    const to = JSON.stringify(cleanText(stopped.location).slice(0, 500));
    throw new Fault(
      "refused",
      `Cannot download ${url}: it leads to ${to}, which was not followed ` +
        `(${cleanText(stopped.why).slice(0, 200)}); download from there with a call of its own`,
    );
  }
  if (status < 200 || status > 299) {
    throw new Fault("refused", `Cannot download ${url}: the server says ${status}`);
  }
  if (answer.cut) {
    throw new Fault(
      "tooLarge",
      `Cannot download ${url}: it has more than ${DOWNLOAD_BYTES} bytes; the rest was not read and nothing was saved`,
    );
  }
  const text = parts.textOf(answer, type);
  if (text === undefined || text.includes("\0")) {
    const kind = type === "" ? "of no named type" : type;
    throw new Fault(
      "refused",
      `Cannot download ${url}: it is not UTF-8 text (${kind}), and this version saves only text; ` +
        "ask the person to fetch it",
    );
  }
  await parts.write({ path, text });
  const kind = type === "" ? "no type" : type;
  return `saved ${path}: ${text.length} characters (${kind}) from ${answer.url}; untrusted, like everything from the web`;
}
