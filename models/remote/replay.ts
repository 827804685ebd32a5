/** A recording that is played in the place of a provider: nothing is sent. @module */
import { Fault } from "../../contracts/fault.ts";
import type { WireRequest } from "./endpoint.ts";
import { bytesOf, type Exchange, parseRecording } from "./recording.ts";
import { again } from "./retry.ts";

/** A played answer. */
export interface Played {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: AsyncIterable<Uint8Array<ArrayBuffer>>;
}

/** Answers requests in their order. */
export interface Replay {
  /** Throws `conflict` where the request differs from the recording, or none is left. */
  answer(request: Asked): Played;
}

/**
 * Makes the replay of `recording` (JSON lines). Requests that were under way together are on record in
 * the order in which they ended, and are answered in whichever they come. Throws `invalidInput`.
 */
export function makeReplay(recording: string): Replay {
  const exchanges = parseRecording(recording);
  const left = [...exchanges];
  let n = 0;
  return Object.freeze<Replay>({
    answer(request) {
      n += 1;
      const [next] = left;
      if (next === undefined) {
        throw conflict(`the recording has ${exchanges.length} requests, this is number ${n}`);
      }
      const at = left.findIndex((each) =>
        (each === next || wasBeside(each, next)) && isSame(request, each)
      );
      if (at < 0) throw differing(n, request, next);
      const [{ response: { status, headers, chunks, broken } } = next] = left.splice(at, 1);
      if (status === 0) {
        const tried = left.some((each) => isSame(request, each));
        throw new Fault("upstream", "Cannot infer: the recording has no answer here", {
          ...(tried ? { detail: again() } : {}),
        });
      }
      return {
        status,
        headers: new Map(Object.entries(headers)),
        body: play(chunks, broken === true),
      };
    },
  });
}

async function* play(
  chunks: Exchange["response"]["chunks"],
  broken: boolean,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  for (const chunk of chunks) {
    yield bytesOf(chunk);
    // Each piece is a piece of its own, as it was on the wire.
    await undefined;
  }
  if (broken) throw new Fault("upstream", "Cannot infer: the recorded answer breaks off here");
}

/** Tells whether a later exchange had begun before `next` ended. */
function wasBeside(later: Exchange, next: Exchange): boolean {
  return later.span !== undefined && next.span !== undefined && later.span[0] < next.span[1];
}

type Asked = WireRequest & { readonly url: URL };

function isSame({ method, url, body = "" }: Asked, { request, response }: Exchange): boolean {
  return response.cut !== true && body === request.body && method === request.method &&
    url.pathname === new URL(request.url).pathname;
}

/** What a request has otherwise than the exchange that is next. */
function differing(n: number, { method, url, body = "" }: Asked, next: Exchange): Fault {
  const { request } = next;
  if (next.response.cut === true) {
    return conflict(
      `request ${n} was not recorded: it was too long, or its answer held the key in pieces`,
    );
  }
  const recorded = new URL(request.url);
  if (method !== request.method || url.pathname !== recorded.pathname) {
    return conflict(
      `request ${n} is ${method} ${url.pathname}, the recording has ${request.method} ${recorded.pathname}`,
    );
  }
  const [here, there] = [body, request.body].map((text) => new TextEncoder().encode(text));
  let at = 0;
  while (here?.[at] !== undefined && here[at] === there?.[at]) at++;
  return conflict(`request ${n} differs from the recording at byte ${at} of its body`);
}

function conflict(why: string): Fault {
  return new Fault("conflict", `Cannot replay: ${why}`);
}
