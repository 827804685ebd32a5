/** Asks a fleet's gateway over HTTP, for `--fleet`. @module */
import { Fault } from "../../contracts/base/mod.ts";

/** Access to fleets' gateways. */
export interface Gateways {
  /** Posts a JSON text with a bearer token; returns the response's status and text. */
  post(
    url: string,
    asked: { readonly token: string; readonly body: string },
  ): Promise<{ readonly status: number; readonly body: string }>;
  /** Waits before the next request. */
  pause(ms: number): Promise<void>;
}

/** Milliseconds for one answer, which may verify a whole log. */
const ANSWER_MS = 300_000;
/** Characters of an answer: a page of a log and its frame. */
const MAX_ANSWER = 32_000_000;

/** Makes access over fetch. */
export function makeGateways(): Gateways {
  return Object.freeze<Gateways>({
    async post(url, { token, body }) {
      try {
        const response = await fetch(url, {
          method: "POST",
          body,
          headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
          // The token must not follow a redirect to another server.
          redirect: "error",
          signal: AbortSignal.timeout(ANSWER_MS),
        });
        return { status: response.status, body: await bounded(response) };
      } catch (cause) {
        if (cause instanceof Fault) throw cause;
        const why = cause instanceof Error ? cause.message : String(cause);
        throw new Fault("unavailable", `Cannot reach the gateway at ${url}: ${why}`, { cause });
      }
    },
    // TIMER: other kernels' events do not reach this process.
    pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  });
}

async function bounded({ body }: Response): Promise<string> {
  let text = "";
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    if (text.length > MAX_ANSWER) throw new Fault("tooLarge", "Cannot read the gateway's answer");
  }
  return text;
}
