/** A session: one page, what may be done with its newest snapshot, and how. @module */
import { Fault } from "../contracts/fault.ts";
import { isObject, type Json, type JsonObject } from "../contracts/json.ts";
import { withoutFragment } from "./address.ts";
import { mustHaveCome, originOf, texts } from "./arguments.ts";
import type { Target } from "./canvas.ts";
import type { Cdp } from "./cdp.ts";
import { download } from "./download.ts";
import { type Events, type Happened, makeEvents } from "./events.ts";
import { fillFields } from "./fill.ts";
import type { Granted } from "./judge.ts";
import { differs } from "./mismatch.ts";
import { CLICK, SUBMIT } from "./page_functions.ts";
import { makeRequests, type Requests, type Tally } from "./requests.ts";
import { takeScreenshot } from "./screenshot.ts";
import { makeSettling, type Settling, type Timers } from "./settle.ts";
import { shownView } from "./shown_view.ts";
import { takeView, type View } from "./view.ts";
import type { WebAnswer } from "./web_answer.ts";
import { openWorld } from "./world.ts";

/** A call of a tool, and what it may ask of the kernel. */
export interface Call {
  readonly tool: string;
  readonly args: JsonObject;
  fetch(args: JsonObject): Promise<WebAnswer>;
  write(path: string, text: string): Promise<Json>;
}

/** What {@link makeSession} is handed. */
export interface SessionParts {
  readonly cdp: Cdp;
  readonly timers: Timers;
  /** Begins every id of a snapshot: random, so that one of a lost session never fits a later one. */
  readonly key: string;
}

/** The page of one process. */
export interface Session {
  /** Runs one tool. One at a time. @throws Fault as the tools do */
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
  const requests = await makeRequests(cdp, frameTree.frame.id);
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

  const newest = (): View => {
    if (view !== undefined) return view;
    throw new Fault(
      "notFound",
      "Cannot do this: no page is open (none was opened yet, or the session was lost with its " +
        "process); open the page again with browser_open",
    );
  };
  const current = (snapshot: string): View => {
    const open = newest();
    if (snapshot === `${key}-${snapshots}`) return open;
    throw new Fault(
      "conflict",
      `Cannot use snapshot ${JSON.stringify(snapshot.slice(0, 40))}: it is not the newest one of ` +
        "this session; use the newest snapshot's id and refs, or open the page again with browser_open",
    );
  };
  const target = (
    { snapshot, ref }: { readonly snapshot: string; readonly ref: string },
  ): Target => {
    const found = current(snapshot).targets.get(ref);
    if (found !== undefined) return found;
    throw new Fault(
      "invalidArguments",
      `Cannot use ref ${JSON.stringify(ref.slice(0, 32))}: the newest snapshot has no such ref; ` +
        "it lists them after link, button and field names, as in `link e3`",
    );
  };
  const pageAt = (url: string): View => {
    const open = newest();
    if (open.url === withoutFragment(url)) return open;
    throw new Fault(
      "invalidArguments",
      `Cannot do this at ${JSON.stringify(url.slice(0, 300))}: another page is open; name the ` +
        "address of the newest snapshot",
    );
  };

  /** Does something to the page, lets it come to rest, and shows it. */
  const during = async (
    call: Call,
    granted: Granted,
    act: () => Promise<void>,
  ): Promise<string> => {
    requests.grant({ ...granted, fetch: call.fetch });
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
      // Between calls nobody looks: its timers stand still.
      await cdp.send("Page.setWebLifecycleState", { state: "frozen" });
    }
    snapshots += 1;
    return show(1);
  };
  const show = (part: number): string =>
    shownView(newest(), { part, snapshot: `${key}-${snapshots}`, status });

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
      // What leads on from a place that is no element of the page.
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
    const { before } = current(snapshot);
    if (before === undefined) {
      throw new Fault("notFound", "Cannot go back: there is no page before this one");
    }
    if (before !== url) {
      throw new Fault(
        "invalidArguments",
        `Cannot go back to ${
          JSON.stringify(url.slice(0, 300))
        }: name the address after "back:" in the newest snapshot`,
      );
    }
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
    return download({ url, path }, call);
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
