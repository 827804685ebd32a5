/** `http.fetch`: a request to the one origin of a plugin's call, with no more than was judged. @module */
import {
  cleared,
  type Colour,
  colourSuffices,
  Fault,
  type Json,
  type JsonObject,
  type Label,
  type NetAnswer,
  type NetRequest,
  REQUIRED_COLOUR,
  type Source,
} from "../../contracts/mod.ts";
import type { Fetching } from "../net/fetching.ts";
import { badArgument, headersIn, textIn, textOf } from "./host_arguments.ts";
import { type HasRead, NOTHING_NEW, type Under } from "./host_under.ts";

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
    checkSent(under, origin, clearanceOf(origin));
    const { body, bytes } = args;
    const answer = await fetching.fetch({
      ...{ task: process.task, pid: process.pid, callId, origin, method, url },
      headers: headersIn(args),
      ...(typeof body === "string" ? { body } : {}),
      ...(typeof bytes === "number" ? { bytes } : {}),
    }, signal);
    const read = { colour: "RED", label: labelOf(answer) } as const;
    const sources = [{ source: answer.url.slice(0, 512), ...read }];
    // What an origin said tells it nothing.
    hasRead(under, { ...read, sources }, NOTHING_NEW);
    return fetched(answer);
  };
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
