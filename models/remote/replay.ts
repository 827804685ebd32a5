/** A recording that is played in the place of a provider: nothing is sent. @module */
import { Fault } from "../../contracts/fault.ts";
import type { WireRequest } from "./endpoint.ts";
import { bytesOf, type Exchange, parseRecording } from "./recording.ts";

/** A played answer. */
export interface Played {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: AsyncIterable<Uint8Array<ArrayBuffer>>;
}

/** Answers requests in their order. */
export interface Replay {
  /** Throws `conflict` where the request differs from the recording, or none is left. */
  answer(request: WireRequest & { readonly url: URL }): Played;
}

/** Makes the replay of `recording` (JSON lines). Throws `invalidInput`. */
export function makeReplay(recording: string): Replay {
  const exchanges = parseRecording(recording);
  let next = 0;
  return Object.freeze<Replay>({
    answer(request) {
      const exchange = exchanges[next];
      const n = ++next;
      if (exchange === undefined) {
        throw conflict(`the recording has ${exchanges.length} requests, this is number ${n}`);
      }
      compare(n, request, exchange);
      const { status, headers, chunks, broken, cut } = exchange.response;
      if (cut === true) throw conflict(`request ${n} was too long to be recorded`);
      if (status === 0) {
        throw new Fault("upstream", "Cannot infer: the recording has no answer here");
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

function compare(
  n: number,
  { method, url, body = "" }: WireRequest & { readonly url: URL },
  { request }: Exchange,
): void {
  const recorded = new URL(request.url);
  if (method !== request.method || url.pathname !== recorded.pathname) {
    throw conflict(
      `request ${n} is ${method} ${url.pathname}, the recording has ${request.method} ${recorded.pathname}`,
    );
  }
  if (body === request.body) return;
  const [here, there] = [body, request.body].map((text) => new TextEncoder().encode(text));
  let at = 0;
  while (here?.[at] !== undefined && here[at] === there?.[at]) at++;
  throw conflict(`request ${n} differs from the recording at byte ${at} of its body`);
}

function conflict(why: string): Fault {
  return new Fault("conflict", `Cannot replay: ${why}`);
}
