/** Requests that the kernel makes for the transports of an SDK, with answers that come in pieces. @module */
import { Fault } from "../../../../contracts/fault.ts";
import type { KernelSide } from "../kernel_side.ts";

/** An answer, of which no byte was read yet. */
export interface KernelAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** Of its content, without parameters, in lower case; empty where it says none. */
  readonly type: string;
  /** The whole answer, where it is one without a body. */
  readonly bodiless: Response | undefined;
  /** The next bytes; empty at the end. Rejects `cancelled` once it was given up. */
  pieces(): Promise<Uint8Array>;
  /** Gives it up, unless it was read to its end. */
  stop(): void;
}

/** How a request is made: as `fetch` is asked for it. */
export type KernelRequest = Pick<RequestInit, "method" | "headers" | "body" | "signal">;

/** Answers without a body. */
const EMPTY: ReadonlySet<number> = new Set([101, 204, 205, 304]);

/**
 * Makes what asks. `origin` is the one that is asked, `whose` says of what. Rejects `refused` for another origin, and
 * with the signal's reason where that has come already.
 */
export function makeKernelHttp(
  kernel: Pick<KernelSide, "http" | "httpRead" | "httpCancel">,
  { origin, whose }: { readonly origin: string; readonly whose: "server" | "peer" },
): (url: URL, init: KernelRequest) => Promise<KernelAnswer> {
  let made = 0;
  return async (url, init) => {
    if (url.origin !== origin) {
      throw new Fault("refused", `Cannot ask ${url.origin}: it is not the ${whose}'s origin`);
    }
    const id = `h${++made}`;
    const signal = init.signal ?? undefined;
    if (signal?.aborted === true) throw signal.reason;
    let over = false;
    const stop = (): void => {
      if (!over) kernel.httpCancel(id);
      over = true;
    };
    signal?.addEventListener("abort", stop, { once: true });
    const { status, headers } = await kernel.http({
      ...{ id, method: methodOf(init), url: url.href },
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(typeof init.body === "string" ? { body: init.body } : {}),
    });
    let bodiless: Response | undefined;
    if (status < 200 || EMPTY.has(status)) {
      stop();
      bodiless = new Response(null, { status: status < 200 ? 502 : status, headers });
    }
    return {
      ...{ status, headers, bodiless, stop },
      type: (headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "",
      async pieces(): Promise<Uint8Array> {
        if (over) throw new Fault("cancelled", "Cannot read the answer: it was given up");
        const { bytes } = await kernel.httpRead(id);
        if (bytes === "") over = true;
        return Uint8Array.fromBase64(bytes);
      },
    };
  };
}

/** The method that is asked with: whatever is no `POST` and no `DELETE` is a `GET`. */
export function methodOf({ method }: Pick<KernelRequest, "method">): "GET" | "POST" | "DELETE" {
  return method === "POST" || method === "DELETE" ? method : "GET";
}
