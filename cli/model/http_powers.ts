/** HTTP requests with this process's own network: for weights, and to local model servers. @module */
import { connect } from "node:net";
import { Fault } from "../../contracts/base/mod.ts";
import type { HttpAnswer, ModelHttp } from "../../models/weights/mod.ts";

const IDLE_MS = 60_000;

/** Rejects after `ms` milliseconds without a result; the timer ends with the wait. */
async function within<T>(wait: Promise<T>, ms: number, onLate: () => void): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      onLate();
      reject(new Fault("upstream", `Cannot go on: nothing came for ${ms / 1_000} s`));
    }, ms);
  });
  try {
    return await Promise.race([wait, late]);
  } finally {
    clearTimeout(timer);
  }
}

function broken(url: string, error: unknown, signal: AbortSignal | undefined): Fault {
  if (error instanceof Fault) return error;
  const { host } = new URL(url);
  if (signal?.aborted === true) {
    return new Fault("cancelled", `Cannot go on reading from ${host}: cancelled`);
  }
  const why = error instanceof Error ? error.message.slice(0, 300) : "it failed";
  return new Fault("upstream", `Cannot read from ${host}: ${why}`, { cause: error });
}

async function* bodyOf(
  url: string,
  body: ReadableStream<Uint8Array> | null,
  abort: AbortController,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await within(reader.read(), IDLE_MS, () => abort.abort());
      if (done) return;
      yield value;
    }
  } catch (error) {
    throw broken(url, error, signal);
  } finally {
    // Cancelling a reader that failed rejects.
    await reader.cancel().catch(() => undefined);
  }
}

/** Makes the HTTP client. Redirects are returned, not followed. */
export function makeModelHttp(): ModelHttp {
  return Object.freeze({
    async get(
      url: string,
      options: {
        readonly headers?: Readonly<Record<string, string>>;
        readonly signal?: AbortSignal;
        readonly within?: number;
      },
    ): Promise<HttpAnswer> {
      const { signal } = options;
      const abort = new AbortController();
      const stop = (): void => abort.abort();
      signal?.addEventListener("abort", stop, { once: true });
      if (signal?.aborted === true) stop();
      try {
        const answer = await within(
          fetch(url, {
            headers: { "accept-encoding": "identity", ...options.headers },
            redirect: "manual",
            signal: abort.signal,
          }),
          options.within ?? IDLE_MS,
          stop,
        );
        return Object.freeze({
          status: answer.status,
          header: (name: string) => answer.headers.get(name) ?? undefined,
          body: bodyOf(url, answer.body, abort, signal),
          cancel: async () => {
            abort.abort();
            await answer.body?.cancel().catch(() => undefined);
          },
        });
      } catch (error) {
        throw broken(url, error, signal);
      }
    },
    canConnect({ host, port }: { readonly host: string; readonly port: number }, ms: number) {
      return new Promise<boolean>((resolve) => {
        const socket = connect({ host, port });
        const end = (open: boolean): void => {
          clearTimeout(timer);
          socket.destroy();
          resolve(open);
        };
        const timer = setTimeout(() => end(false), ms);
        socket.once("connect", () => end(true));
        socket.once("error", () => end(false));
      });
    },
  });
}
