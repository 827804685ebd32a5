/** A session: the visited pages, and the actions on the newest. @module */
import { checkBack, newestPage, shownPage } from "../../text/page_outline.ts";
import type { Host, WebRequest } from "./host.ts";
import type { Page, Target } from "./page.ts";
import { pageOf } from "./visit.ts";

/** The target of an action, in the newest snapshot. */
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
  /**
   * The newest page, if at `url`. @throws Fault as {@link Session.target}, `invalidArguments`
   * otherwise
   */
  readonly page: (url: string) => Page;
  readonly show: (part: number) => string;
  /** Goes back to the previous page, unchanged. */
  readonly back: (snapshot: string, url: string) => string;
  readonly close: () => void;
}

/** Maximum pages kept for going back. */
const PAGES = 8;
/** Maximum bytes fetched of a page. */
const BYTES = 3_000_000;
const ACCEPT = "text/html,application/xhtml+xml,text/plain;q=0.8,*/*;q=0.5";

export function makeSession(): Session {
  let pages: readonly Page[] = [];
  let key = "";
  let snapshots = 0;

  const { newest, current, target, at } = newestPage<Target, Page>(
    () => pages.at(-1),
    () => `${key}-${snapshots}`,
  );
  const show = (part: number): string =>
    shownPage({ ...newest(), before: pages.at(-2)?.url }, {
      part,
      snapshot: `${key}-${snapshots}`,
    });

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
    target,
    page: (url: string) => at(url),
    newest,
    show,
    back(snapshot: string, url: string): string {
      current(snapshot);
      checkBack(pages.at(-2)?.url, url);
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
