/** Asks the gateway of a fleet's kernel: the one file that speaks HTTP for `--fleet`. @module */
import { Fault } from "../../contracts/base/mod.ts";

/** The gateways of fleets. */
export interface Gateways {
  /** Posts a JSON text with a bearer token; gives the status and the text that came. */
  post(
    url: string,
    asked: { readonly token: string; readonly body: string },
  ): Promise<{ readonly status: number; readonly body: string }>;
  /** Waits before the next look. */
  pause(ms: number): Promise<void>;
}

/** Milliseconds for one answer: a whole log may be checked for it. */
const ANSWER_MS = 300_000;
/** Characters of an answer: as much as a page of a log and what stands around it. */
const MOST = 32_000_000;

/** Makes them. */
export function makeGateways(): Gateways {
  return Object.freeze<Gateways>({
    async post(url, { token, body }) {
      try {
        const response = await fetch(url, {
          method: "POST",
          body,
          headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
          // A token goes to the gateway that was named, and to none that it names.
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
    // TIMER: what happens at other kernels gives no event here.
    pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  });
}

async function bounded({ body }: Response): Promise<string> {
  let text = "";
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    if (text.length > MOST) throw new Fault("tooLarge", "Cannot read the gateway's answer");
  }
  return text;
}
