/**
 * One life of an imported server in a task: files checked, started behind walls, joined to a
 * bridge, opened. Used by servers.ts and look.ts.
 * @module
 */
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { Fault } from "../../../contracts/base/fault.ts";
import { isPeer, type PeerOpen, PeerWords } from "../../../contracts/exchange/exchange.ts";
import type { Deadlines } from "../../core/process/limits.ts";
import { isObject, type Json, type JsonObject, toJson } from "../../../contracts/base/json.ts";
import { type McpLaunch, ServerListing } from "../../../contracts/exchange/mcp.ts";
import type { Powers } from "../../../contracts/task/process.ts";
import { type McpOpen, McpReady } from "../../../contracts/wire/wire_mcp.ts";
import type { Child } from "../../core/child/child.ts";
import type { FileGrants } from "../../core/start/mcp_binds.ts";
import {
  filesOf,
  makeRefusalBook,
  startBehindWalls,
  type StartedServer,
  type StartParts,
  ungrantedIn,
} from "./start.ts";
import {
  makeMcpCalls,
  type McpCalls,
  type McpPlace,
  type McpServe,
  type McpUnder,
} from "./calls.ts";
import type { McpChildren } from "../../core/child/mcp_children.ts";
import type { LeasedGrant } from "./mcp_judge.ts";
import { aloneMcp, joinMcp, makeErrorTail, type McpProcess } from "./process.ts";
import type { McpTrees } from "./tree.ts";

/** Milliseconds for the handshake. */
const OPEN_MS = 60_000;
/** Milliseconds for a server's listing. */
const LISTING_MS = 60_000;

/** The starters, the check of trees, and the clock. */
export interface McpRunParts extends StartParts {
  readonly children: Pick<McpChildren, "mcp" | "mcpServer">;
  readonly trees: McpTrees;
  readonly powers: Pick<Powers, "now" | "after">;
  readonly deadlines: Deadlines;
}

/** An open server. */
export interface McpRun {
  readonly grants: readonly LeasedGrant[];
  readonly osPids: readonly number[];
  /** Milliseconds from the start to the end of the handshake. */
  readonly readyMs: number;
  /** Rejects with the bridge's fault, `timedOut`, `cancelled`, `gone` after the server's end. */
  ask(asked: { readonly op: string; readonly body: JsonObject }, under: McpUnder): Promise<Json>;
  /** The server's listing: fetched once, and again after the server reports a change. */
  words(under: McpUnder): Promise<ServerListing>;
  end(why: string): Promise<void>;
  /** Resolves with the reason once both processes are reaped. Text after a colon is untrusted. */
  readonly ended: Promise<string>;
}

/**
 * Starts a server. `began` gets the processes as soon as they exist, so that the caller can end
 * them.
 *
 * Rejects with `refused` (its files changed, or an impossible grant), `unavailable`, `upstream` (it
 * ended, or does not speak the protocol), `timedOut`.
 */
export async function startMcpRun(
  parts: McpRunParts,
  began: (process: Pick<McpProcess, "osPids" | "end" | "ended">) => void,
): Promise<McpRun> {
  const { launch, revision } = parts.at.server;
  const known = launch.kind === "http" || revision === undefined
    ? undefined
    : revision < NEWEST
    ? "old"
    : "newest";
  try {
    return await start(parts, began, known);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "upstream") throw error;
    // Some servers end or stay silent when asked for an unknown revision. They are asked for the older ones by a fresh
    // process. A server that was reviewed with an old revision may be a newer one by now.
    if (known !== "old" && !probed(error.cause)) throw error;
    return await start(parts, began, known === "old" ? undefined : "old");
  }
}

/** Adds to a failed call's answer, and to the log, what the walls refused its server during the call. */
async function tellingRefusals(
  answer: Promise<Json>,
  { at, serve, asked, since }: {
    readonly at: McpPlace;
    readonly serve: McpServe;
    readonly asked: { readonly op: string; readonly body: JsonObject };
    since(): readonly string[];
  },
): Promise<Json> {
  const { launch, grants } = at.server;
  const told = (): readonly string[] => {
    const seen = since();
    if (seen.length > 0 || launch.kind !== "program") return seen;
    return ungrantedIn(asked.body["args"], grants);
  };
  const noted = (refused: readonly string[]): void => {
    if (refused.length === 0) return;
    const tool = typeof asked.body["tool"] === "string" ? asked.body["tool"] : asked.op;
    serve.log(at, "call", { failed: "refused" }, `${tool}: ${refused.join(", ")}`);
  };
  let value: Json;
  try {
    value = await answer;
  } catch (error) {
    const refused = told();
    if (!(error instanceof Fault) || error.code !== "upstream" || refused.length === 0) throw error;
    noted(refused);
    throw new Fault(
      error.code,
      `${error.message}; meanwhile it was refused: ${refused.join(", ")}`,
      {
        cause: error,
        ...(error.detail === undefined ? {} : { detail: error.detail }),
      },
    );
  }
  const refused = told();
  if (!isObject(value)) return value;
  // TRUST: a bridge's own list of refusals is dropped.
  const { refused: _claimed, ...rest } = value;
  if (rest["isError"] !== true || refused.length === 0) return rest;
  noted(refused);
  return { ...rest, refused: [...refused] };
}

/** The first revision without a separate handshake. */
const NEWEST = "2026-07-28";
type Known = "old" | "newest" | undefined;

function probed(cause: unknown): boolean {
  if (!(cause instanceof Fault) || typeof cause.detail !== "object" || cause.detail === null) {
    return false;
  }
  return "probed" in cause.detail && cause.detail["probed"] === true;
}

async function start(
  parts: McpRunParts,
  began: (process: McpProcess) => void,
  known: Known,
): Promise<McpRun> {
  const { children, powers, at } = parts, { server } = at, { launch } = server;
  const refusals = makeRefusalBook();
  const serve: McpServe = {
    ...parts.serve,
    log(place, what, body = {}, text): void {
      refusals.note(what, body);
      parts.serve.log(place, what, body, text);
    },
  };
  const begun = powers.now();
  const errors = makeErrorTail();
  let words: Promise<ServerListing> | undefined;
  const joint: { pair?: McpProcess } = {};
  const calls: McpCalls = makeMcpCalls({
    ...{ at, serve, powers, deadlines: parts.deadlines },
    send: (text) => joint.pair?.send(text) ?? Promise.reject(notYet()),
    changed: () => words = undefined,
    broken: (why) => void joint.pair?.end(why),
  });
  const checked = parts.trees.check(launch);
  checked.catch(() => undefined);
  const [bridge, started] = await together(
    isPeer(launch) ? children.mcp(calls.handler, "a2a") : children.mcp(calls.handler),
    launch.kind === "http"
      ? Promise.resolve(undefined)
      : startBehindWalls({ ...parts, serve }, launch, { checked, errors, writes: calls.writes }),
  );
  const joined = started === undefined
    ? aloneMcp({ bridge, powers })
    : joinMcp({ bridge, server: started.process, errors, powers, checked });
  joint.pair = joined;
  began(joined);
  void joined.ended.then((why) => {
    started?.close();
    const text = errors.text();
    if (text.trim() !== "") serve.log(at, "errors", { bytes: errors.bytes() }, text);
    serve.log(at, "ended", {}, why);
  });
  try {
    await checked;
  } catch (error) {
    await joined.end("its files are not as they were reviewed");
    throw error;
  }
  const ready = await opened(bridge, joined, parts, known);
  const readyMs = powers.now() - begun;
  serve.log(
    at,
    "started",
    { ms: readyMs },
    `${ready.protocol} ${ready.server.name} ${ready.server.version}`,
  );
  return Object.freeze<McpRun>({
    ...{ grants: parts.grants, osPids: joined.osPids, readyMs, ended: joined.ended },
    end: joined.end,
    ask: (asked, under) =>
      tellingRefusals(calls.ask(bridge.port, asked, under), {
        ...{ at, serve, asked },
        since: refusals.since(),
      }),
    words(under): Promise<ServerListing> {
      const known = words ?? askWords(calls, bridge, { launch, under });
      words = known;
      known.catch(() => words === known && (words = undefined));
      return known;
    },
  });
}

async function askWords(
  calls: McpCalls,
  bridge: Child,
  { launch, under }: { readonly launch: McpLaunch; readonly under: McpUnder },
): Promise<ServerListing> {
  const long = { ...under, deadlineMs: Math.max(under.deadlineMs, LISTING_MS) };
  const raw = await calls.ask(bridge.port, { op: "words", body: {} }, long);
  const answer = (isPeer(launch) ? PeerWords : ServerListing).safeParse(raw);
  if (answer.success) return answer.data;
  throw new Fault(
    "upstream",
    "Cannot read what a server says of itself: its bridge broke the form",
  );
}

async function opened(
  bridge: Child,
  pair: McpProcess,
  { at: { server }, grants, powers }: McpRunParts,
  known: Known,
): Promise<McpReady> {
  const { launch } = server;
  const open: McpOpen | PeerOpen = {
    ...(launch.kind === "http" ? { transport: "http", url: launch.url } : { transport: "stdio" }),
    ...(isPeer(launch) ? { a2a: launch.a2a } : {}),
    roots: rootsOf(filesOf(grants)),
    ...{ name: server.name, elicitation: server.elicitation, sampling: server.samplingTokens > 0 },
    ...{ deadlineMs: OPEN_MS, ...(known === undefined ? {} : { [known]: true }) },
  };
  let late = false;
  const disarm = powers.after(OPEN_MS + 2_000, () => {
    late = true;
    void pair.end("it did not answer");
  });
  try {
    return McpReady.parse(await bridge.port.ask("open", toJson(open)));
  } catch (cause) {
    // The person learns why the handshake failed, not only that it did.
    void pair.end(cause instanceof Fault ? cause.message : "the handshake failed");
    const why = await pair.ended;
    if (late) {
      throw new Fault(
        "timedOut",
        `Cannot start "${server.name}": no answer in ${OPEN_MS / 1_000} s`,
      );
    }
    if (!(cause instanceof Fault)) {
      throw new Fault("upstream", `Cannot start "${server.name}": its bridge broke the form`, {
        cause,
      });
    }
    if (cause.code !== "gone") throw cause;
    throw new Fault("upstream", `Cannot start "${server.name}": ${why}`, { cause });
  } finally {
    disarm();
  }
}

/** Waits for both; if one fails, the other is killed. */
async function together(
  bridge: Promise<Child>,
  server: Promise<StartedServer | undefined>,
): Promise<[Child, StartedServer | undefined]> {
  const [child, started] = await Promise.allSettled([bridge, server]);
  if (child.status === "fulfilled" && started.status === "fulfilled") {
    return [child.value, started.value];
  }
  if (child.status === "fulfilled") await child.value.kill();
  if (started.status === "rejected") throw started.reason;
  started.value?.process.kill();
  started.value?.close();
  throw child.status === "rejected" ? child.reason : new TypeError("Cannot fail: both succeeded");
}

function rootsOf({ read, write }: FileGrants): McpOpen["roots"] {
  return [...new Set([...read, ...write])].map((path) => ({
    uri: pathToFileURL(path).href,
    name: basename(path),
  }));
}

function notYet(): Fault {
  return new Fault("gone", "Cannot send to a server: it was not started yet");
}
