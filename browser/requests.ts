/**
 * Handles every request of the page: judges it, asks the kernel, or refuses and counts it. Used by
 * session.ts and view.ts.
 * @module
 */
import type { Protocol } from "puppeteer-core";
import { Fault } from "../contracts/base/fault.ts";
import type { JsonObject } from "../contracts/base/json.ts";
import { webOrigin, withoutFragment } from "./address.ts";
import type { Cdp } from "./events.ts";
import type { Timers } from "./settle.ts";
import { type Granted, judgeRequest, type PageRequest, type Refused } from "./judge.ts";
import { noPage, shownHeaders, type WebAnswer } from "./web_answer.ts";
import { joinBytes } from "../port/join_bytes.ts";

/** The current call, and its access to the web through the kernel. */
interface Asking extends Granted {
  /** The origin of the open page; undefined for a page of none. */
  readonly from: string | undefined;
  fetch(args: JsonObject): Promise<WebAnswer>;
}

/** Results of requests since the last report. */
export interface Tally {
  /** Refused requests, by origin. */
  readonly refused: ReadonlyMap<string, number>;
  /** Pages that were not opened, each shown with a ref. */
  readonly stopped: readonly Stopped[];
  /** Requests that would have sent something. */
  readonly unsent: readonly {
    readonly method: string;
    readonly url: string;
    readonly body: string;
  }[];
  /** The result of the last page request. */
  readonly page?: Opened;
  readonly notes: readonly string[];
}

/** A page that was not opened. */
interface Stopped {
  readonly url: string;
  readonly by: "server" | "script" | "window";
  /** The reason; may be empty. */
  readonly why: string;
}

/** A page's answer, or why there is none. */
type Opened =
  | { readonly kind: "came"; readonly status: number; readonly url: string }
  | { readonly kind: "failed"; readonly fault: Fault }
  | { readonly kind: "differs"; readonly request: PageRequest };

/** The page's access to the web. */
export interface Requests {
  /** Applies a call's permissions to all later requests; undefined permits none. */
  grant(asking: Asking | undefined): void;
  /** Returns the results since the last call. */
  take(): Tally;
  /** Number of requests that wait for an answer. */
  pending(): number;
}

/** Maximum bytes of a page, and of any other resource. */
const PAGE_BYTES = 3_000_000;
const PART_BYTES = 5_000_000;
/** Maximum requests of one call, and concurrent ones: the kernel serves eight of a task. */
const REQUESTS = 200;
const AT_ONCE = 6;
const STOPPED = 10;
/** Maximum requests whose document is remembered; more are of a page that floods. */
const DOCUMENTS = 2_000;
/** Milliseconds in which Chromium tells of the document of a paused request. */
const DOCUMENT_MS = 1_000;
/** Headers of the page's own that are sent. */
const SENT = /^(accept|content-type|x-requested-with|x-(csrf|xsrf)-?token)$/;
const MAIN = "Document";

/** Takes over all requests of the page. */
export async function makeRequests(
  cdp: Cdp,
  { mainFrame, pause }: { readonly mainFrame: string; readonly pause: Timers["pause"] },
): Promise<Requests> {
  let asking: Asking | undefined;
  let asked = 0;
  let sent = false;
  let opened = false;
  let abroad = false;
  /** Whether the kernel answered a page request of this call; its page may not have opened. */
  let arrived = false;
  let waiting = 0;
  let tally = emptyTally();
  const room = makeRoom(AT_ONCE);
  /** Answers after followed redirects: Chromium requests their addresses next. */
  const followed = new Map<string, WebAnswer>();
  /** The address of the document that made each request, in a call that began abroad. */
  const documents = new Map<string, string>();
  /** Requests that were paused before Chromium told of their document. */
  const unknown = new Map<string, (documentURL: string) => void>();

  const paused = async (event: Protocol.Fetch.RequestPausedEvent): Promise<void> => {
    const { requestId } = event;
    const request = requestOf(event, mainFrame);
    // Nobody sees the icon.
    if (isIcon(event)) return await refuse(requestId, request);
    const left = abroad && arrived && !request.opens && await comesFromThere(event.networkId);
    const verdict = judgeRequest(request, asking, { sent, opened, abroad: abroad && !left });
    if (verdict.kind === "local") return await cdp.send("Fetch.continueRequest", { requestId });
    if (verdict.kind === "refuse") {
      count(request, verdict.why);
      return await refuse(requestId, request);
    }
    const call = asking;
    if (call === undefined || ++asked > REQUESTS) {
      tally.notes.add(`the page made more than ${REQUESTS} requests; the rest was not made`);
      return await refuse(requestId, request);
    }
    if (request.method !== "GET" && request.method !== "HEAD") sent = true;
    if (request.opens) opened = true;
    waiting += 1;
    try {
      const leave = await room.enter();
      try {
        await answer(requestId, request, await bring(event, request, call));
      } finally {
        leave();
      }
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      if (request.opens) tally.page = { kind: "failed", fault: error };
      else tally.failed += 1;
      await refuse(requestId, request);
    } finally {
      waiting -= 1;
    }
  };

  /**
   * Whether the open page and the document that made a request are of the granted origin: a page can
   * stop the one that replaces it, and its last requests may be paused after it was replaced.
   */
  const comesFromThere = async (networkId = ""): Promise<boolean> => {
    const call = asking;
    waiting += 1;
    try {
      const document = documents.get(networkId) ?? await documentOf(networkId);
      const { entries, currentIndex } = await cdp.send("Page.getNavigationHistory");
      documents.delete(networkId);
      const from = [entries[currentIndex]?.url ?? "", document];
      return call === asking && from.every((url) => webOrigin(url) === call?.origin);
    } finally {
      waiting -= 1;
    }
  };

  /** Two processes of Chromium tell of one request, in any order. Empty where nobody tells. */
  const documentOf = async (networkId: string): Promise<string> => {
    const { promise, resolve } = Promise.withResolvers<string>();
    unknown.set(networkId, resolve);
    const told = await Promise.race([promise, pause(DOCUMENT_MS).then(() => "")]);
    unknown.delete(networkId);
    return told;
  };

  const bring = async (
    { request: { headers } }: Protocol.Fetch.RequestPausedEvent,
    request: PageRequest,
    call: Asking,
  ): Promise<WebAnswer> => {
    const { method, body, opens } = request;
    const url = withoutFragment(request.url);
    const known = method === "GET" ? followed.get(url) : undefined;
    if (known !== undefined) {
      followed.delete(url);
      return known;
    }
    const own = Object.entries(headers).map(([name, value]) =>
      [name.toLowerCase(), value] as const
    );
    return await call.fetch({
      ...{ url, method, bytes: opens ? PAGE_BYTES : PART_BYTES },
      headers: Object.fromEntries(own.filter(([name]) => SENT.test(name))),
      ...(body === undefined ? {} : { body }),
    });
  };

  const answer = async (id: string, request: PageRequest, came: WebAnswer): Promise<void> => {
    const { opens } = request;
    const url = withoutFragment(request.url);
    const moved = withoutFragment(came.url) !== url && webOrigin(came.url) === webOrigin(url);
    if (moved && came.stopped === undefined) {
      followed.set(withoutFragment(came.url), came);
      return await fulfil(id, 303, [{ name: "location", value: came.url }], "");
    }
    const other = opens ? noPage(came) : undefined;
    if (opens) {
      tally.page = { kind: "came", status: came.status, url: came.url };
      arrived = true;
    }
    if (came.stopped !== undefined) {
      if (!opens) {
        tally.failed += 1;
        return await refuse(id, request);
      }
      const { location, why } = came.stopped;
      tally.stopped.push({ url: absolute(location, came.url), by: "server", why });
      return await fulfil(id, 200, HTML, "");
    }
    if (other !== undefined) {
      tally.notes.add(other);
      return await fulfil(id, 200, HTML, "");
    }
    if (came.cut && opens) {
      tally.notes.add("the page is longer than what was fetched; the rest is missing");
    } else if (came.cut) tally.notes.add("something of the page was too large and was cut");
    await fulfil(id, came.status, shownHeaders(came), came.body);
  };

  const fulfil = (
    requestId: string,
    responseCode: number,
    responseHeaders: Protocol.Fetch.HeaderEntry[],
    body: string,
  ): Promise<void> =>
    cdp.send("Fetch.fulfillRequest", { requestId, responseCode, responseHeaders, body });

  // `Aborted` keeps the current page; other reasons show a page of Chromium's own.
  const refuse = (requestId: string, { opens }: PageRequest): Promise<void> =>
    cdp.send("Fetch.failRequest", {
      requestId,
      errorReason: opens ? "Aborted" : "BlockedByClient",
    });

  const count = (request: PageRequest, why: Refused): void => {
    const { url, method, body = "", opens } = request;
    if (why === "differs" && (opens || method !== "GET")) tally.page = { kind: "differs", request };
    else if (why === "sends" && tally.unsent.length < STOPPED) {
      tally.unsent.push({ method, url, body });
    } else if (opens && tally.stopped.length < STOPPED) {
      tally.stopped.push({ url, by: "script", why: "" });
    } else {
      const to = webOrigin(url) ?? `${url.split(":")[0]?.slice(0, 32) ?? ""}:`;
      tally.refused.set(to, (tally.refused.get(to) ?? 0) + 1);
    }
  };

  // A request that Chromium has given up meanwhile needs no answer.
  cdp.on("Fetch.requestPaused", (event) => void paused(event).catch(() => undefined));
  cdp.on("Network.requestWillBeSent", ({ requestId, documentURL }) => {
    if (!abroad) return;
    const asker = unknown.get(requestId);
    if (asker !== undefined) asker(documentURL);
    else if (documents.size < DOCUMENTS) documents.set(requestId, documentURL);
  });
  cdp.on("Network.webSocketCreated", ({ url }) => {
    tally.refused.set(url.slice(0, 200), (tally.refused.get(url.slice(0, 200)) ?? 0) + 1);
  });
  await cdp.send("Network.enable");
  await cdp.send("Network.setCacheDisabled", { cacheDisabled: true });
  await cdp.send("Network.setBypassServiceWorker", { bypass: true });
  await cdp.send("Fetch.enable", { patterns: [{ urlPattern: "*", requestStage: "Request" }] });

  return Object.freeze({
    grant(next: Asking | undefined): void {
      asking = next;
      asked = 0;
      sent = false;
      opened = false;
      arrived = false;
      abroad = next !== undefined && next.from !== next.origin;
      followed.clear();
      documents.clear();
    },
    take(): Tally {
      const { refused, stopped, unsent, page, failed, notes } = tally;
      tally = emptyTally();
      const lost = failed === 0 ? [] : [`${failed} parts of the page did not come`];
      return {
        ...{ refused, stopped, unsent, notes: [...notes, ...lost] },
        ...(page === undefined ? {} : { page }),
      };
    },
    pending: () => waiting,
  });
}

const HTML = [{ name: "content-type", value: "text/html; charset=utf-8" }];

function emptyTally() {
  return {
    refused: new Map<string, number>(),
    stopped: new Array<Stopped>(),
    unsent: new Array<{ method: string; url: string; body: string }>(),
    page: undefined as Opened | undefined,
    failed: 0,
    notes: new Set<string>(),
  };
}

function isIcon({ request: { url }, resourceType }: Protocol.Fetch.RequestPausedEvent): boolean {
  return resourceType === "Other" && url.endsWith("/favicon.ico");
}

function requestOf(
  { request, resourceType, frameId }: Protocol.Fetch.RequestPausedEvent,
  mainFrame: string,
): PageRequest {
  const { url, method, postData, postDataEntries, urlFragment } = request;
  const whole = postDataEntries?.every(({ bytes }) => bytes !== undefined)
    ? new TextDecoder().decode(
      joinBytes(postDataEntries.map(({ bytes = "" }) => Uint8Array.fromBase64(bytes))),
    )
    : postData;
  return {
    ...{ url: url + (urlFragment ?? ""), method, body: whole },
    opens: resourceType === MAIN && frameId === mainFrame,
  };
}

function absolute(location: string, base: string): string {
  try {
    return new URL(location, base).href;
  } catch {
    return location;
  }
}

// Limits concurrency; further entrants wait in order.

/** A limited number of places. */
interface Room {
  /** Resolves with a function that leaves, once there is a place. */
  enter(): Promise<() => void>;
}

/** Makes a room with `places`. */
function makeRoom(places: number): Room {
  let free = places;
  const door: (() => void)[] = [];
  const leave = (): void => {
    const next = door.shift();
    if (next === undefined) free += 1;
    else next();
  };
  return Object.freeze({
    async enter(): Promise<() => void> {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => door.push(resolve));
      return leave;
    },
  });
}
