/**
 * `http.fetch`: a request to the origin of a plugin's call, with only text that the gate judged.
 * Used by host_functions.ts and plugin_tools.ts.
 * @module
 */
import { Fault } from "../../../contracts/base/fault.ts";
import {
  cleared,
  type Colour,
  colourSuffices,
  type EffectClass,
  type Label,
  mixColour,
  mixLabel,
  REQUIRED_COLOUR,
} from "../../../contracts/authority/colour.ts";
import { isObject, type Json, type JsonObject } from "../../../contracts/base/json.ts";
import type { Scope } from "../../../contracts/authority/lease.ts";
import type { HostFunction } from "../../../contracts/tool/plugin.ts";
import type { ProcessKeeper, ProcessRow, Taint } from "../../../contracts/task/process.ts";
import type { Source } from "../../../contracts/authority/question.ts";
import type { NetAnswer, NetRequest } from "../../../contracts/wire/wire_net.ts";
import type { Fetching } from "../net/fetching.ts";
import type { ProfileUse } from "../net/profiles.ts";

/** The parts of {@link makeHostFetch}: web requests, labels and clearances of origins. */
export interface HostFetchParts {
  readonly fetching: Pick<Fetching, "fetch">;
  originOf(url: string): string;
  /** The label of an answer of the web. */
  labelOf(answer: NetAnswer): Label;
  /** The highest label that may be sent to an origin without a person. */
  clearanceOf(origin: string): Label;
  readonly hasRead: HasRead;
}

const METHODS: readonly NetRequest["method"][] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/**
 * Makes `http.fetch`. Rejects like {@link Fetching.fetch}, and `refused` for another origin, for a
 * method that sends, and after the call has read text that the gate did not judge.
 */
export function makeHostFetch(
  { fetching, originOf, labelOf, clearanceOf, hasRead }: HostFetchParts,
): (under: Under, args: JsonObject) => Promise<Json> {
  return async (under, args) => {
    const { process, grants, callId, signal } = under;
    const url = textIn(args, "url");
    const method = METHODS.find((each) => each === (args["method"] ?? "GET"));
    if (method === undefined) throw badArgument("method", "it is not known");
    if (under.effect !== "outboundWrite" && method !== "GET" && method !== "HEAD") {
      throw new Fault(
        "refused",
        `Cannot ${method}: this plugin's tool only reads; one that sends says ` +
          "`effect: outboundWrite` in its tool.yaml",
      );
    }
    const { origin } = grants;
    if (origin === undefined || originOf(url) !== origin) {
      throw new Fault(
        "refused",
        `Cannot fetch ${JSON.stringify(url.slice(0, 200))}: this call was made for ` +
          `${origin ?? "no address"}; name the address in its arguments`,
      );
    }
    const { profile } = under;
    checkSent(under, origin, clearanceWith(clearanceOf(origin), profile));
    const { body, bytes } = args;
    const answer = await fetching.fetch({
      ...{ task: process.task, pid: process.pid, callId, origin, method, url },
      headers: headersIn(args),
      ...(typeof body === "string" ? { body } : {}),
      ...{ ...(typeof bytes === "number" ? { bytes } : {}), profile },
    }, signal);
    // Pages seen when signed in are private to the person.
    const label = profile === undefined ? labelOf(answer) : mixLabel(labelOf(answer), "internal");
    const taint = { colour: "RED", label } as const;
    const sources = [{ source: answer.url.slice(0, 512), ...taint }];
    // The origin knows its own answer already, so later requests do not count the answer as sent.
    hasRead(under, { ...taint, sources }, NOTHING_NEW);
    return answerJson(answer);
  };
}

/**
 * The clearance of an origin with a profile. The profile's pages are `internal`, so with a lower one
 * the second request is refused. The person approved this clearance with the profile.
 */
export function clearanceWith(clearance: Label, profile: object | undefined): Label {
  return profile === undefined ? clearance : mixLabel(clearance, "internal");
}

/** Refuses a request that would carry text read since the gate's judgement. */
function checkSent(under: Under, origin: string, clearance: Label): void {
  const { judged, sent, effect } = under;
  const from = (is: (source: Source) => boolean): string => {
    const found = under.sources.findLast((each) => is(each) && !each.source.startsWith(origin));
    return found === undefined ? "" : ` (${found.source})`;
  };
  const why = sent.label !== judged.label && !cleared(sent.label, clearance)
    ? `${sent.label} text${
      from(({ label }) => label === sent.label)
    }, and ${origin} is cleared for ${clearance}`
    : fellBelow(judged.colour, sent.colour, REQUIRED_COLOUR[effect])
    ? `${sent.colour} text${from(({ colour }) => colour === sent.colour)}, and ${effect} needs ${
      REQUIRED_COLOUR[effect]
    }`
    : undefined;
  if (why === undefined) return;
  // That text has tainted the process, so the gate judges the next call with the taint.
  throw new Fault(
    "refused",
    `Cannot fetch from ${origin}: since this call was let through it has read ${why}; ` +
      "make the same call again, it is decided with that",
  );
}

function fellBelow(before: Colour, now: Colour, needed: Colour): boolean {
  return colourSuffices(before, needed) && !colourSuffices(now, needed);
}

function answerJson(answer: NetAnswer): JsonObject {
  const { status, url, headers, body, cut, stopped } = answer;
  const bytes = Uint8Array.fromBase64(body);
  const content = textOf(bytes);
  return {
    ...{ status, url, headers, cut },
    ...(content === undefined ? { base64: body } : { text: content }),
    ...(stopped === undefined ? {} : { stopped: { ...stopped } }),
  };
}

/** Bytes as text; undefined where they are not UTF-8. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined; // Not UTF-8: the plugin gets the bytes.
  }
}

/** The text content of a file, from `text` or `base64`. */
export function contentIn(args: JsonObject): string {
  const { text, base64 } = args;
  if (typeof text === "string") return text;
  if (typeof base64 !== "string") throw badArgument("text", "it is missing");
  let bytes: Uint8Array;
  try {
    bytes = Uint8Array.fromBase64(base64);
  } catch {
    throw badArgument("base64", "it is not base64");
  }
  const content = textOf(bytes);
  if (content === undefined) throw badArgument("base64", "files that are staged hold UTF-8 text");
  return content;
}

/** The headers argument of a request. */
function headersIn(args: JsonObject): Record<string, string> {
  const headers = args["headers"] ?? {};
  if (!isObject(headers)) throw badArgument("headers", "it is not an object");
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      if (typeof value !== "string") throw badArgument("headers", "a value is not a text");
      return [name, value];
    }),
  );
}

/** A required text argument. */
export function textIn(args: JsonObject, name: string): string {
  const value = args[name];
  if (typeof value === "string") return value;
  throw badArgument(name, value === undefined ? "it is missing" : "it is not a text");
}

/** The fault of an invalid argument. */
export function badArgument(name: string, why: string): Fault {
  return new Fault("invalidArguments", `Cannot use argument "${name}": ${why}`);
}

/** The grants of one plugin call. See tools-wasm/binding. */
export interface Grants {
  readonly functions: ReadonlySet<HostFunction>;
  readonly reads: readonly Scope[];
  readonly writes: readonly string[];
  readonly origin?: string;
}

/** The colour and label of text that a request carries. */
interface Carried {
  readonly colour: Colour;
  readonly label: Label;
}

/** A running plugin call, with everything that it has read so far. */
export interface Under {
  readonly plugin: string;
  readonly callId: string;
  readonly process: ProcessRow;
  readonly grants: Grants;
  /** The effect that the gate allowed. */
  readonly effect: EffectClass;
  readonly signal: AbortSignal;
  /** The browser profile of the call's requests. */
  readonly profile?: ProfileUse | undefined;
  colour: Colour;
  label: Label;
  sources: readonly Source[];
  /** Colour and label at the gate's judgement. */
  readonly judged: Carried;
  /** `judged`, mixed with everything read since: carried by the call's requests. */
  sent: Carried;
  /** Number of served host calls. */
  served: number;
}

/** Records text that a call has read; `sent` is the part that requests carry, absent: all. */
type HasRead = (under: Under, what: Taint, sent?: Carried) => void;

/** The taint of an answer for requests to the same origin: none. */
const NOTHING_NEW: Carried = Object.freeze({ colour: "BLUE", label: "public" });

/**
 * Makes the function that taints a call and at once its process, so that the gate judges each
 * later act with the taint: a change, another tool, an inference (test: "a mail's words would have lost their colour …").
 */
export function makeHasRead(processes: Pick<ProcessKeeper, "taint">): HasRead {
  return (under, what, sent = what) => {
    under.colour = mixColour(under.colour, what.colour);
    under.label = mixLabel(under.label, what.label);
    under.sources = [...under.sources, ...what.sources].slice(-100);
    under.sent = {
      colour: mixColour(under.sent.colour, sent.colour),
      label: mixLabel(under.sent.label, sent.label),
    };
    processes.taint(under.process.pid, what);
  };
}
