/** What a bridge asks of its kernel: the one place where the port's operations are written. contracts/wire_mcp.ts. @module */
import type { Port } from "../../../contracts/port.ts";
import type {
  McpElicit,
  McpElicited,
  McpHttp,
  McpHttpAnswer,
  McpSample,
  McpSampled,
} from "../../../contracts/wire_mcp.ts";
import { asJson } from "../../../port/as_json.ts";
import type { Progress } from "./guard.ts";

/** Characters to a server between two that are waited for: an answer to each costs a hop of every call. */
const TOLD = 4_096;

/** See the table of contracts/wire_mcp.ts. */
export interface KernelSide {
  /** Resolves when the server has taken it; a little at a time is not waited for. */
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
  odd(what: string): void;
}

/** Makes the operations of a port. */
export function makeKernelSide(port: Pick<Port, "ask" | "tell">): KernelSide {
  // TRUST: answers are the kernel's own.
  const ask = async <T>(op: string, body: object): Promise<T> =>
    await port.ask(op, asJson(body)) as unknown as T;
  let told = 0, waiting = 0;
  const send: KernelSide["send"] = async (text) => {
    told += text.length;
    if (waiting === 0 && told <= TOLD) return port.tell("send", asJson({ text }));
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
    odd: (what) => port.tell("odd", { what }),
  });
}
