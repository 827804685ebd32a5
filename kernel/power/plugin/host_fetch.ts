/** `http.fetch`: a request to the one origin of a plugin's call, with no more than was judged. @module */
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

/** What {@link makeHostFetch} is handed. */
export interface HostFetchParts {
  readonly fetching: Pick<Fetching, "fetch">;
  originOf(url: string): string;
  /** How confidential an answer of the web is. */
  labelOf(answer: NetAnswer): Label;
  /** The most confidential text that an origin may be sent without a person. */
  clearanceOf(origin: string): Label;
  readonly hasRead: HasRead;
}

const METHODS: readonly NetRequest["method"][] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/**
 * Makes the function. It rejects as {@link Fetching.fetch} does, and with `refused` for another origin,
 * a method that sends, or once the call has read what it was not judged with.
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
    // What a person is signed in to is theirs.
    const label = profile === undefined ? labelOf(answer) : mixLabel(labelOf(answer), "internal");
    const read = { colour: "RED", label } as const;
    const sources = [{ source: answer.url.slice(0, 512), ...read }];
    // What an origin said tells it nothing.
    hasRead(under, { ...read, sources }, NOTHING_NEW);
    return fetched(answer);
  };
}

/**
 * What an origin may be sent with a profile: its pages are `internal`, and no step could follow the first one else. The
 * person approved that with the profile.
 */
export function clearanceWith(clearance: Label, profile: object | undefined): Label {
  return profile === undefined ? clearance : mixLabel(clearance, "internal");
}

/** The gate judged what the process knew when the call began, and not what the call read since. */
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
    : fell(judged.colour, sent.colour, REQUIRED_COLOUR[effect])
    ? `${sent.colour} text${from(({ colour }) => colour === sent.colour)}, and ${effect} needs ${
      REQUIRED_COLOUR[effect]
    }`
    : undefined;
  if (why === undefined) return;
  // What it read has fallen on the process by now: the gate judges the next call with it.
  throw new Fault(
    "refused",
    `Cannot fetch from ${origin}: since this call was let through it has read ${why}; ` +
      "make the same call again, it is decided with that",
  );
}

function fell(before: Colour, now: Colour, needed: Colour): boolean {
  return colourSuffices(before, needed) && !colourSuffices(now, needed);
}

function fetched(answer: NetAnswer): JsonObject {
  const { status, url, headers, body, cut, stopped } = answer;
  const bytes = Uint8Array.fromBase64(body);
  const content = textOf(bytes);
  return {
    ...{ status, url, headers, cut },
    ...(content === undefined ? { base64: body } : { text: content }),
    ...(stopped === undefined ? {} : { stopped: { ...stopped } }),
  };
}

/** Bytes as text; undefined when they are not UTF-8. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined; // Not UTF-8: the plugin gets the bytes.
  }
}

/** The content of a file in `text` or `base64`: text in any case. */
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

/** Headers of a request. */
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

/** A text that must be there. */
export function textIn(args: JsonObject, name: string): string {
  const value = args[name];
  if (typeof value === "string") return value;
  throw badArgument(name, value === undefined ? "it is missing" : "it is not a text");
}

/** Why an argument is not taken. */
export function badArgument(name: string, why: string): Fault {
  return new Fault("invalidArguments", `Cannot use argument "${name}": ${why}`);
}

/** What one call of a plugin may do. See tools-wasm/binding. */
export interface Grants {
  readonly functions: ReadonlySet<HostFunction>;
  readonly reads: readonly Scope[];
  readonly writes: readonly string[];
  readonly origin?: string;
}

/** How far something is trusted, and how confidential it is. */
interface Carried {
  readonly colour: Colour;
  readonly label: Label;
}

/** A call of a plugin under way, with what it has read so far. */
export interface Under {
  readonly plugin: string;
  readonly callId: string;
  readonly process: ProcessRow;
  readonly grants: Grants;
  /** The gate let it through as this. */
  readonly effect: EffectClass;
  readonly signal: AbortSignal;
  /** The profile that its requests carry. */
  readonly profile?: ProfileUse | undefined;
  colour: Colour;
  label: Label;
  sources: readonly Source[];
  /** As what the gate judged it. */
  readonly judged: Carried;
  /** That, and what it read since: what its requests carry. */
  sent: Carried;
  /** Host calls served. */
  served: number;
}

/** Takes down what a call has read; `sent` is what its requests carry of it, all of it when absent. */
type HasRead = (under: Under, what: Taint, sent?: Carried) => void;

/** What says nothing that was not known. */
const NOTHING_NEW: Carried = Object.freeze({ colour: "BLUE", label: "public" });

/**
 * Makes what falls on a call and at once on its process, so that what the call does next is judged with
 * it: a change, another tool, an inference (test: "a mail's words would have lost their colour …").
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
