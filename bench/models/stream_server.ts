/**
 * A provider's recorded answer, played at its own pace to whoever asks, in a process of its own: run
 * with `-A` and the number of its deltas. Writes its origin to standard output, and ends with its
 * standard input.
 * @module
 */
import { streamOpenai } from "../../models/_fixture/providers/openai.ts";
import type { Piece } from "../../models/_fixture/providers/script.ts";
import { serveLoopback } from "../../models/_fixture/providers/server.ts";
import { EVERY_MS, FIRST_MS } from "./stream_shape.ts";

const DELTAS = Number(Deno.args[0]);

/** A word with its space: what providers send at a time. */
const WORDS = "the model writes a file and then it reads what stands in that path again "
  .repeat(40).split(/(?<= )/).slice(0, DELTAS);
const RECORDED = [
  ...streamOpenai({ text: WORDS, usage: { input: 900, output: DELTAS } }, {
    fields: { model: "bench", stream_options: { include_usage: true } },
    variant: "openai",
  }),
];

/** Each piece at its time since the request, so that no delay adds up. */
function* paced(): Iterable<Piece> {
  const began = performance.now();
  for (const [at, piece] of RECORDED.entries()) {
    // The first says only who speaks; what follows the last word comes with it.
    const due = FIRST_MS + Math.min(Math.max(at - 1, 0), DELTAS - 1) * EVERY_MS;
    const wait = began + due - performance.now();
    // TIMER: the pace of the recording.
    if (wait > 0) yield new Promise((resolve) => setTimeout(resolve, wait));
    yield piece;
  }
}

await using server = serveLoopback(() => ({
  pieces: paced(),
  headers: { "content-type": "text/event-stream" },
}));
await Deno.stdout.write(new TextEncoder().encode(`${server.origin}\n`));
await Deno.stdin.read(new Uint8Array(1));
