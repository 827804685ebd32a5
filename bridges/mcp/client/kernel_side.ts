/** A bridge's requests to the kernel: the operations of contracts/wire/wire_mcp.ts, typed. @module */
import type { Port } from "../../../contracts/base/port.ts";
import type {
  McpElicit,
  McpElicited,
  McpHttp,
  McpHttpAnswer,
  McpSample,
  McpSampled,
} from "../../../contracts/wire/wire_mcp.ts";
import { asJson } from "../../../port/as_json.ts";
import type { Progress } from "./guard.ts";
import { Fault } from "../../../contracts/base/fault.ts";

/** Characters sent between two acknowledged messages: each acknowledgement costs a round trip. */
const MAX_UNACKNOWLEDGED = 4_096;

/** The kernel's operations for a bridge; contracts/wire/wire_mcp.ts describes them. */
export interface KernelSide {
  /** Resolves when the server has taken the text; short texts are not waited for. */
  send(text: string): Promise<unknown>;
  http(request: McpHttp): Promise<McpHttpAnswer>;
  httpRead(id: string): Promise<{ readonly bytes: string }>;
  httpCancel(id: string): void;
  elicit(asked: McpElicit): Promise<McpElicited>;
  sample(asked: McpSample): Promise<McpSampled>;
  progress(id: string, progress: Progress): void;
  log(level: string, text: string): void;
  changed(what: "tools" | "resources" | "prompts"): void;
  updated(uri: string): void;
  report(what: string): void;
}

/** Makes the typed operations over a port. */
export function makeKernelSide(port: Pick<Port, "ask" | "tell">): KernelSide {
  // TRUST: answers are the kernel's own.
  const ask = async <T>(op: string, body: object): Promise<T> =>
    await port.ask(op, asJson(body)) as unknown as T;
  let told = 0, waiting = 0;
  const send: KernelSide["send"] = async (text) => {
    told += text.length;
    if (waiting === 0 && told <= MAX_UNACKNOWLEDGED) return port.tell("send", asJson({ text }));
    told = 0;
    waiting += 1;
    try {
      return await ask("send", { text });
    } finally {
      waiting -= 1;
    }
  };
  return Object.freeze<KernelSide>({
    send,
    http: (request) => ask("http", request),
    httpRead: (id) => ask("httpRead", { id }),
    httpCancel: (id) => port.tell("httpCancel", { id }),
    elicit: (asked) => ask("elicit", asked),
    sample: (asked) => ask("sample", asked),
    progress: (id, progress) => port.tell("progress", { id, ...progress }),
    log: (level, text) => port.tell("log", { level, text }),
    changed: (what) => port.tell("changed", { what }),
    updated: (uri) => port.tell("updated", { uri }),
    report: (what) => port.tell("odd", { what }),
  });
}

interface KernelAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** The media type in lower case, without parameters; empty when there is none. */
  readonly type: string;
  /** The whole response, where its status allows no body. */
  readonly bodiless: Response | undefined;
  /** The next bytes; empty at the end. Rejects `cancelled` after {@link KernelAnswer.stop}. */
  pieces(): Promise<Uint8Array>;
  /** Cancels the request, unless its answer was read to the end. */
  stop(): void;
}

/** A request, as `fetch` takes it. */
type KernelRequest = Pick<RequestInit, "method" | "headers" | "body" | "signal">;

/** Statuses without a body. */
const EMPTY: ReadonlySet<number> = new Set([101, 204, 205, 304]);

/**
 * Makes a sender of HTTP requests to one `origin`. Rejects `refused` for another origin, and with
 * the signal's reason where the signal has aborted already.
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

/** The method of a request: anything but `POST` and `DELETE` counts as `GET`. */
export function methodOf({ method }: Pick<KernelRequest, "method">): "GET" | "POST" | "DELETE" {
  return method === "POST" || method === "DELETE" ? method : "GET";
}
