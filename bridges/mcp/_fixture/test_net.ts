/** The kernel's access to a URL, simulated by a test: real fetches, read piece by piece. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import type { McpHttp, McpHttpAnswer } from "../../../contracts/wire/wire_mcp.ts";

/** See {@link makeTestNet}. */
export interface TestNet {
  start(request: McpHttp): Promise<McpHttpAnswer>;
  read(id: string): Promise<{ readonly bytes: string }>;
  cancel(id: string): void;
  close(): void;
}

/** Makes the net of one bridge; `added` replaces the headers that the kernel keeps secret. */
export function makeTestNet(added: Readonly<Record<string, string>>): TestNet {
  const underway = new Map<string, AbortController>();
  const bodies = new Map<string, ReadableStreamDefaultReader<Uint8Array>>();
  const cancel = (id: string): void => {
    underway.get(id)?.abort();
    underway.delete(id);
    bodies.get(id)?.cancel().catch(() => undefined);
    bodies.delete(id);
  };
  return {
    async start({ id, method, url, headers, body }) {
      const abort = new AbortController();
      underway.set(id, abort);
      try {
        const response = await fetch(url, {
          ...{ method, headers: { ...headers, ...added }, redirect: "manual" },
          ...(body === undefined ? {} : { body }),
          signal: abort.signal,
        });
        if (response.body !== null) bodies.set(id, response.body.getReader());
        return { status: response.status, headers: Object.fromEntries(response.headers) };
      } catch (cause) {
        throw new Fault("upstream", "Cannot reach the server: it does not answer", { cause });
      }
    },
    async read(id) {
      try {
        const piece = await bodies.get(id)?.read();
        if (piece?.value !== undefined) {
          return {
            bytes: btoa(Array.from(piece.value, (unit) => String.fromCharCode(unit)).join("")),
          };
        }
      } catch (cause) {
        throw new Fault("upstream", "Cannot read the answer: it broke off", { cause });
      }
      bodies.delete(id);
      underway.delete(id);
      return { bytes: "" };
    },
    cancel,
    close() {
      for (const id of [...underway.keys()]) cancel(id);
    },
  };
}
