/** The engine under plain Extism, with a host of the test's own. @module */
// Before Extism, as in the plugin host: tests of both share a process.
import "../../host/instance.ts";
import { createPlugin } from "@extism/extism";
import { copies } from "./copies.ts";
import { buildEngine } from "../build.ts";

const module = buildEngine().then((bytes) => new WebAssembly.Module(bytes.slice().buffer));

/** The answer of the engine. */
export interface Envelope {
  readonly ok: boolean;
  readonly value?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
  readonly discard?: boolean;
}

/** An instance of the engine, with its requests. */
export interface Instance {
  readonly call: (op: string, args: unknown) => Promise<Envelope>;
  readonly asked: { readonly fn: string; readonly args: Record<string, unknown> }[];
  /** Texts of `log`. */
  readonly logs: () => readonly string[];
  /** The present size of its memory, bytes. */
  readonly bytes: () => number;
  readonly close: () => Promise<void>;
}

/** A fresh instance. `answer` gives the value of a host call, or throws an error with a code. */
export async function makeInstance(
  answer: (fn: string, args: Record<string, unknown>) => unknown = () => null,
): Promise<Instance> {
  const asked: { fn: string; args: Record<string, unknown> }[] = [];
  let input = "";
  const plugin = await createPlugin({ wasm: [{ module: await module }] }, {
    functions: {
      "extism:host/user": {
        ...copies(() => input, () => memory),
        // Really asynchronous: JSPI suspends the module meanwhile.
        host_call: async (
          context: { read(at: bigint): { text(): string } | null; store(text: string): bigint },
          at: bigint,
        ) => {
          const request = JSON.parse(context.read(at)?.text() ?? "");
          asked.push(request);
          await Promise.resolve();
          try {
            const value = await answer(request.fn, request.args);
            return context.store(JSON.stringify({ ok: true, value: value ?? null }));
          } catch (error) {
            const { code, message } = error as { code?: string; message: string };
            return context.store(
              JSON.stringify({ ok: false, error: { code: code ?? "upstream", message } }),
            );
          }
        },
      },
    },
  });
  const { memory } = (await plugin.getInstance()).exports as { memory: WebAssembly.Memory };
  return {
    asked,
    call: async (op, args) => {
      input = JSON.stringify({ v: 1, op, args });
      const out = await plugin.call("run", input);
      return JSON.parse(out?.text() ?? "");
    },
    logs: () => asked.filter(({ fn }) => fn === "log").map(({ args }) => String(args["text"])),
    bytes: () => memory.buffer.byteLength,
    close: () => plugin.close(),
  };
}

/** Runs a program in a fresh instance. */
export async function exec(
  code: string,
  more: { readonly language?: string; readonly input?: unknown } = {},
  answer?: (fn: string, args: Record<string, unknown>) => unknown,
): Promise<Envelope & { readonly logs: readonly string[]; readonly asked: Instance["asked"] }> {
  const instance = await makeInstance(answer);
  try {
    const envelope = await instance.call("exec", { code, ...more });
    return { ...envelope, logs: instance.logs(), asked: instance.asked };
  } finally {
    await instance.close();
  }
}
