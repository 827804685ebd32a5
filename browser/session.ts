/** A session: one page, and the actions on its newest snapshot. Used by main.ts and service.ts. @module */
import { Fault } from "../contracts/base/fault.ts";
import { isObject, type Json, type JsonObject } from "../contracts/base/json.ts";
import { webOrigin, withoutFragment } from "./address.ts";
import type { Target } from "./canvas.ts";
import { type Cdp, type Events, type Happened, makeEvents } from "./events.ts";
import { fillFields } from "./fill.ts";
import type { Granted } from "./judge.ts";
import { CLICK, SUBMIT } from "./page_functions.ts";
import { makeRequests, type Requests, type Tally } from "./requests.ts";
import { makeSettling, type Settling, type Timers } from "./settle.ts";
import { takeView, type View } from "./view.ts";
import type { WebAnswer } from "./web_answer.ts";
import { openWorld } from "./world.ts";
import { checkBack, differs, download, newestPage, shownPage } from "../text/page_outline.ts";

/** A tool call, and its access to the kernel. */
export interface Call {
  readonly tool: string;
  readonly args: JsonObject;
  fetch(args: JsonObject): Promise<WebAnswer>;
  write(path: string, text: string): Promise<Json>;
}

export interface SessionParts {
  readonly cdp: Cdp;
  readonly timers: Timers;
  /** Prefix of every snapshot id: random, so that an id of a lost session never fits again. */
  readonly key: string;
}

/** The page of one process. */
export interface Session {
  /** Runs one tool, one at a time. @throws Fault as the tools do */
  run(call: Call): Promise<Json>;
  popup(url: string): void;
}

interface Parts {
  readonly cdp: Cdp;
  readonly key: string;
  readonly requests: Requests;
  readonly events: Events;
  readonly settling: Settling;
}

/** Takes over the page. */
export async function makeSession({ cdp, timers, key }: SessionParts): Promise<Session> {
  const { frameTree } = await cdp.send("Page.getFrameTree");
  const events = await makeEvents(cdp);
  const requests = await makeRequests(cdp, { mainFrame: frameTree.frame.id, pause: timers.pause });
  const settling = await makeSettling(cdp, { pending: requests.pending, timers });
  await cdp.send("DOM.enable");
  const run = runner({ cdp, key, requests, events, settling });
  let last: Promise<unknown> = Promise.resolve();
  return Object.freeze({
    run(call: Call): Promise<Json> {
      const next = last.then(() => run(call));
      last = next.catch(() => undefined);
      return next;
    },
    popup: events.popup,
  });
}

function runner({ cdp, key, requests, events, settling }: Parts): (call: Call) => Promise<Json> {
  let view: View | undefined;
  let status = 0;
  let snapshots = 0;

  const { newest, current, target, at } = newestPage<Target, View>(
    () => view,
    () => `${key}-${snapshots}`,
  );
  const pageAt = (url: string): View => at(withoutFragment(url), url);

  /** Acts on the page, waits until it settles, and shows it. */
  const during = async (
    call: Call,
    granted: Granted,
    act: () => Promise<void>,
  ): Promise<string> => {
    const { frameTree } = await cdp.send("Page.getFrameTree");
    requests.grant({ ...granted, from: webOrigin(frameTree.frame.url), fetch: call.fetch });
    await cdp.send("Page.setWebLifecycleState", { state: "active" });
    let tally: Tally;
    let happened: Happened;
    try {
      await act();
      const rested = await settling.settled();
      tally = requests.take();
      happened = events.take();
      const slow = "the page was still busy after 15 seconds and was stopped";
      if (!rested) happened = { ...happened, notes: [...happened.notes, slow] };
      mustHaveCome(tally, granted);
      if (tally.page?.kind === "came") status = tally.page.status;
      view = await takeView(cdp, tally, happened);
    } finally {
      requests.grant(undefined);
      // Nobody looks at the page between calls, so its timers are paused.
      await cdp.send("Page.setWebLifecycleState", { state: "frozen" });
    }
    snapshots += 1;
    return show(1);
  };
  const show = (part: number): string =>
    shownPage({ ...newest(), status }, { part, snapshot: `${key}-${snapshots}` });

  const open = (call: Call, url: string): Promise<string> => {
    const origin = originOf(url);
    return during(call, { origin, leadsTo: withoutFragment(url) }, async () => {
      await cdp.send("Page.navigate", { url });
    });
  };

  const click = (call: Call): Promise<string> => {
    const { ref, snapshot, url } = texts(call.args, "ref", "snapshot", "url");
    const found = target({ ref, snapshot });
    if (found.kind === "link") {
      if (found.url !== url) throw differs("url", { given: url, exact: found.url });
      // An address that stands in a note, not at an element of the page.
      if (found.id === 0) return open(call, url);
    } else if (found.kind === "button") {
      const exact = newest().url;
      if (exact !== url) throw differs("url", { given: url, exact });
    } else {
      throw new Fault(
        "invalidArguments",
        `Cannot click ${ref}: forms are sent with browser_submit or browser_post`,
      );
    }
    return during(call, { origin: originOf(url) }, async () => {
      await (await openWorld(cdp)).call(CLICK, found.id);
    });
  };

  const send = (call: Call, body: string | undefined): Promise<string> => {
    const { ref, snapshot, url } = texts(call.args, "ref", "snapshot", "url");
    const found = target({ ref, snapshot });
    const { fields = {} } = call.args;
    if (found.kind === "link" || found.kind === "field") {
      throw new Fault(
        "invalidArguments",
        `Cannot send ${ref}: name the ref of a form or of a button`,
      );
    }
    const page = newest();
    const granted: Granted = {
      origin: originOf(url),
      ...(body === undefined
        ? found.kind === "button" ? {} : { leadsTo: withoutFragment(url) }
        : { exact: { url: withoutFragment(url), body } }),
    };
    return during(call, granted, async () => {
      const world = await openWorld(cdp);
      await fillFields(world, page, isObject(fields) ? fields : {});
      if (found.kind === "button") return void await world.call(CLICK, found.id);
      const [form, button] = found.kind === "form" ? [found.id] : [found.form, found.id];
      const wrong = await world.call(SUBMIT, form, button === undefined ? [] : [{ id: button }]);
      if (!Array.isArray(wrong) || wrong.length === 0) return;
      throw new Fault(
        "invalidArguments",
        `Cannot send the form: ${wrong.map(String).join("; ").slice(0, 1_000)}`,
      );
    });
  };

  const back = (call: Call): Promise<string> => {
    const { snapshot, url } = texts(call.args, "snapshot", "url");
    checkBack(current(snapshot).before, url);
    return during(call, { origin: originOf(url) }, async () => {
      const { entries, currentIndex } = await cdp.send("Page.getNavigationHistory");
      const entry = entries[currentIndex - 1];
      if (entry !== undefined) await cdp.send("Page.navigateToHistoryEntry", { entryId: entry.id });
    });
  };

  const save = (call: Call): Promise<string> => {
    const { url, path } = texts(call.args, "url", "path");
    const { ref, snapshot } = call.args;
    if (ref !== undefined || snapshot !== undefined) {
      const found = target(texts(call.args, "ref", "snapshot"));
      if (found.kind !== "link") {
        throw new Fault("invalidArguments", `Cannot download ${String(ref)}: it is no link`);
      }
      if (found.url !== url) throw differs("url", { given: url, exact: found.url });
    }
    return download({ url, path }, {
      fetch: (asked) => call.fetch({ ...asked, method: "GET" }),
      textOf: ({ body }, type) => TEXT.test(type) || type === "" ? utf8Of(body) : undefined,
      write: (file) => call.write(file.path, file.text),
    });
  };

  return async (call) => {
    const { tool, args } = call;
    switch (tool) {
      case "browser_open":
        return await open(call, texts(args, "url").url);
      case "browser_snapshot": {
        const { url } = texts(args, "url");
        const page = pageAt(url);
        const { part = 1 } = args;
        if (part !== 1) return show(Number(part));
        return await during(call, { origin: originOf(page.url) }, () => Promise.resolve());
      }
      case "browser_click":
        return await click(call);
      case "browser_submit":
        return await send(call, undefined);
      case "browser_post":
        return await send(call, texts(args, "body").body);
      case "browser_back":
        return await back(call);
      case "browser_download":
        return await save(call);
      case "browser_close":
        pageAt(texts(args, "url").url);
        view = undefined;
        return "closed";
      case "browser_screenshot":
        newest();
        return await takeScreenshot(cdp);
      default:
        throw new Fault("unknownTool", `Cannot run "${tool.slice(0, 64)}": there is no such tool`);
    }
  };
}

// A picture of the visible part of the page.

/** Maximum characters of a picture in base64. */
const CHARACTERS = 1_000_000;
const WIDTH = 1_280;
const HEIGHT = 900;

/** Returns `{png, width, height}`, PNG in base64. @throws Fault `tooLarge` */
async function takeScreenshot(cdp: Cdp): Promise<Json> {
  for (const scale of [1, 0.5, 0.25]) {
    const { data } = await cdp.send("Page.captureScreenshot", {
      format: "png",
      clip: { x: 0, y: 0, width: WIDTH, height: HEIGHT, scale },
    });
    if (data.length <= CHARACTERS) {
      return { png: data, width: WIDTH * scale, height: HEIGHT * scale };
    }
  }
  throw new Fault(
    "tooLarge",
    "Cannot take a picture: it is too large even when it is made smaller",
  );
}

// Arguments of calls, and the check that the requested page came.

/** @throws Fault when the requested page did not come, or another one was requested */
function mustHaveCome({ page }: Tally, { exact, leadsTo }: Granted): void {
  if (page?.kind === "failed") throw page.fault;
  if (page?.kind !== "differs") return;
  const { url, body = "" } = page.request;
  const plain = withoutFragment(url);
  const given = exact?.url ?? leadsTo ?? "";
  if (plain !== given) throw differs("url", { given, exact: plain });
  throw differs("body", { given: exact?.body ?? "", exact: body });
}

/** The origin of an address. @throws Fault `refused` unless it is http or https */
function originOf(url: string): string {
  const origin = webOrigin(url);
  if (origin !== undefined) return origin;
  throw new Fault("refused", "Cannot open this: only http and https addresses are opened");
}

/** Arguments that are texts. @throws Fault `invalidArguments` */
function texts<Name extends string>(
  args: JsonObject,
  ...names: Name[]
): Record<Name, string> {
  return Object.fromEntries(names.map((name) => {
    const value = args[name];
    if (typeof value === "string") return [name, value];
    throw new Fault("invalidArguments", `Cannot use argument "${name}": it is not a text`);
  })) as Record<Name, string>;
}

/** Types that a download saves. */
const TEXT = /^text\/|[/+](json|xml|yaml|toml|javascript|csv)$|json|^application\/xhtml/;

function utf8Of(base64: string): string | undefined {
  try {
    const bytes = Uint8Array.fromBase64(base64);
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes).replace(/^\ufeff/, "");
  } catch {
    return undefined; // Not UTF-8.
  }
}
