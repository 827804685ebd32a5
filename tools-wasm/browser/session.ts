/** A session: the pages that were visited, and what may be done with the newest. @module */
import { Fault } from "../../contracts/base/fault.ts";
import { type Host, type WebRequest } from "./host.ts";
import type { Page, Target } from "./page.ts";
import { pageOf } from "./visit.ts";

/** What an action names: something of the newest snapshot. */
export interface At {
  readonly snapshot: string;
  readonly ref: string;
}

/** A browser without scripts, cookies and memory of other tasks. */
export interface Session {
  /** Fetches a page and shows it. */
  readonly visit: (request: WebRequest, host: Host) => Promise<string>;
  /** What `ref` names. @throws Fault `notFound`, `conflict`, `invalidArguments` */
  readonly target: (at: At) => Target;
  readonly newest: () => Page;
  /** The newest page, at `url`. @throws Fault as {@link Session.target} does, `invalidArguments` for another address */
  readonly page: (url: string) => Page;
  readonly show: (part: number) => string;
  /** Goes back to the page before, as it was. */
  readonly back: (snapshot: string, url: string) => string;
  readonly close: () => void;
}

/** Pages that are kept to go back to. */
const PAGES = 8;
/** Bytes of a page that are fetched. */
const BYTES = 3_000_000;
const ACCEPT = "text/html,application/xhtml+xml,text/plain;q=0.8,*/*;q=0.5";

export function makeSession(): Session {
  let pages: readonly Page[] = [];
  let key = "";
  let snapshots = 0;

  const newest = (): Page => {
    const page = pages.at(-1);
    if (page !== undefined) return page;
    throw new Fault(
      "notFound",
      "Cannot do this: no page is open (none was opened yet, or the session was lost with its process); " +
        "open the page again with browser_open",
    );
  };

  const current = (snapshot: string): Page => {
    const page = newest();
    if (snapshot === `${key}-${snapshots}`) return page;
    throw new Fault(
      "conflict",
      `Cannot use snapshot ${
        JSON.stringify(snapshot.slice(0, 40))
      }: it is not the newest one of this session; ` +
        "use the newest snapshot's id and refs, or open the page again with browser_open",
    );
  };

  const show = (part: number): string => {
    const page = newest();
    return shownPage(page, { part, snapshot: `${key}-${snapshots}`, before: pages.at(-2)?.url });
  };

  return Object.freeze({
    async visit(request: WebRequest, host: Host): Promise<string> {
      const headers = { accept: ACCEPT, ...request.headers };
      const answer = await host.http.fetch({ bytes: BYTES, ...request, headers });
      const page = pageOf(answer);
      // Random, so that an id of a lost session never fits a later one.
      if (key === "") key = hexOf(await host.random(4));
      snapshots += 1;
      pages = [...pages, page].slice(-PAGES);
      return show(1);
    },
    target({ snapshot, ref }: At): Target {
      const target = current(snapshot).targets.get(ref);
      if (target !== undefined) return target;
      throw new Fault(
        "invalidArguments",
        `Cannot use ref ${
          JSON.stringify(ref.slice(0, 32))
        }: the newest snapshot has no such ref; ` +
          "it lists them after link, button and field names, as in `link e3`",
      );
    },
    page(url: string): Page {
      const page = newest();
      if (page.url === url) return page;
      throw new Fault(
        "invalidArguments",
        `Cannot do this at ${
          JSON.stringify(url.slice(0, 300))
        }: another page is open; name the address of the newest snapshot`,
      );
    },
    newest,
    show,
    back(snapshot: string, url: string): string {
      current(snapshot);
      const before = pages.at(-2);
      if (before === undefined) {
        throw new Fault("notFound", "Cannot go back: there is no page before this one");
      }
      if (before.url !== url) {
        throw new Fault(
          "invalidArguments",
          `Cannot go back to ${
            JSON.stringify(url.slice(0, 300))
          }: name the address after "back:" in the newest snapshot`,
        );
      }
      pages = pages.slice(0, -1);
      snapshots += 1;
      return show(1);
    },
    close(): void {
      pages = [];
    },
  });
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// A part of a page as a model reads it.

/** The head, then the lines of one part. Every line of the page's own begins with a role that Remit wrote. */
function shownPage(
  { url, status, title, notes, parts }: Page,
  { part, snapshot, before }: {
    readonly part: number;
    readonly snapshot: string;
    readonly before: string | undefined;
  },
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
