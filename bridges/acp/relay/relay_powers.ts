/** Relays an agent's requests from a unix socket to one provider's origin, with the provider's key. @module */
import type { Json } from "../../../contracts/base/json.ts";
import type {
  RelayAnswer,
  RelaySaid,
  RelaySetup,
  RelayUsage,
} from "../../../contracts/tool/foreign_agent.ts";
import { judge } from "./rules.ts";
import { serveTools, type ToolDesk } from "./tool_server.ts";
import { bounded, inferenceIn, makeUsageReader, type UsageReader } from "./usage.ts";

/** Bytes of a request, at most, pictures included. */
const MAX_BODY = 32 * 1024 * 1024;
/** Bytes of a message to the tool server, at most. */
const MAX_MESSAGE = 1024 * 1024;
/** Characters of a tool's name, and of a call's arguments, that the kernel accepts. */
const MAX_NAME = 128, MAX_ARGS = 1_000_000;
/** Requests of one run, at most. */
const MAX_REQUESTS = 2_000;
/** Characters of a failure that are passed on. */
const MAX_FAILURE = 65_536;
/** The agent's headers that pass; none can be a credential. */
const PASSED = ["content-type", "accept", "anthropic-version", "openai-beta"];
/** The runtime's message when no connection was made. */
const NOT_REACHED = /client error \(Connect\)/;
/** Beta features that let a provider act by itself. */
const ACTING = /mcp|file|code-execution|web|skill|container|search/;

function say(line: RelaySaid): void {
  const bytes = new TextEncoder().encode(`${JSON.stringify(line)}\n`);
  for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
}

function refusal(status: number, why: string): Response {
  say({ refused: why.slice(0, 300) });
  const message = `Remit refused this request: ${why}`;
  return Response.json({ type: "error", error: { type: "permission_error", message } }, { status });
}

type Provider = NonNullable<RelaySetup["provider"]>;
/** A request to the kernel. */
type Question = Extract<RelaySaid, { id: number }> extends infer Said
  ? Said extends { ended: true } ? never : Omit<Said, "id">
  : never;

/** The kernel, over this process's standard streams. */
interface Kernel {
  readonly setup: RelaySetup;
  /** Resolves with the kernel's answer. Rejects with the reason of a refusal. */
  ask(question: Question): Promise<RelayAnswer>;
}

/** Reads the setup and then answers from standard input; its end ends this process. */
async function openKernel(): Promise<Kernel> {
  const waiting = new Map<number, PromiseWithResolvers<RelayAnswer>>();
  const setup = Promise.withResolvers<RelaySetup>();
  let last = 0, hasSetup = false;
  const hear = (line: string): void => {
    if (!hasSetup) {
      hasSetup = true;
      setup.resolve(JSON.parse(line) as RelaySetup);
      return;
    }
    const answer = JSON.parse(line) as RelayAnswer;
    const asked = waiting.get(answer.id);
    waiting.delete(answer.id);
    if ("refused" in answer) asked?.reject(new Error(answer.refused));
    else asked?.resolve(answer);
  };
  void (async () => {
    let rest = "";
    for await (const piece of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + piece).split("\n");
      rest = lines.pop() ?? "";
      lines.forEach(hear);
    }
    // Without the kernel nobody decides about requests.
    Deno.exit(0);
  })();
  return {
    setup: await setup.promise,
    async ask(question): Promise<RelayAnswer> {
      const id = ++last;
      const answered = Promise.withResolvers<RelayAnswer>();
      waiting.set(id, answered);
      say({ ...question, id });
      return await answered.promise;
    },
  };
}

async function bodyOf(
  request: Request,
  max: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of request.body ?? []) {
    size += piece.length;
    if (size > max) return undefined;
    pieces.push(piece);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function parsed(bytes: Uint8Array): Json | undefined {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as Json;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

function headersOf(request: Request, { header, value }: Provider): Headers {
  const headers = new Headers({ "accept-encoding": "identity" });
  for (const name of PASSED) {
    const given = request.headers.get(name);
    if (given !== null) headers.set(name, given);
  }
  const betas = (request.headers.get("anthropic-beta") ?? "").split(",").map((each) => each.trim())
    .filter((each) => each !== "" && !ACTING.test(each));
  if (betas.length > 0) headers.set("anthropic-beta", betas.join(","));
  headers.set(header, value);
  return headers;
}

/** Passes a provider's failure on, without the key that its text may quote. */
async function failing(
  response: Response,
  { value }: Provider,
  kind: string,
): Promise<Response> {
  const text = (await response.text()).slice(0, MAX_FAILURE);
  const key = value.slice(value.lastIndexOf(" ") + 1);
  const shown = key === "" ? text : text.replaceAll(key, "[key]");
  say({ failed: `the provider answered ${response.status}` });
  const { status } = response;
  const retry = response.headers.get("retry-after");
  const headers = { "content-type": kind, ...(retry === null ? {} : { "retry-after": retry }) };
  return new Response(shown, { status, headers });
}

/** Reads a body while it passes; `done` is called at its end, with `cut` when it ended early. */
function reading(
  body: ReadableStream<Uint8Array> | null,
  reader: UsageReader,
  done: (cut: boolean) => void,
): ReadableStream<Uint8Array> | null {
  if (body === null) {
    done(false);
    return null;
  }
  const source = body.getReader();
  const decoder = new TextDecoder();
  return new ReadableStream({
    async pull(to): Promise<void> {
      try {
        const { done: ended, value } = await source.read();
        if (!ended) {
          reader.take(decoder.decode(value, { stream: true }));
          to.enqueue(value);
          return;
        }
        to.close();
        done(false);
      } catch (error) {
        to.error(error);
        done(true);
      }
    },
    async cancel(why): Promise<void> {
      // INVARIANT: closing early is charged for what was computed (test: "an answer that is not
      // heard to its end …").
      done(true);
      await source.cancel(why).catch(() => undefined);
    },
  });
}

/** Why a request failed; the runtime has the reason in `cause`. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const { cause, message } = error;
  return (cause instanceof Error ? cause.message : message).slice(0, 300);
}

/** Makes the handler that passes inference on with the kernel's consent. */
function makePassing(
  { setup, ask }: Kernel,
  provider: Provider,
): (request: Request) => Promise<Response> {
  let requests = 0, used = 0;
  return async (request) => {
    // Judge exactly what is sent: the parsed path, without dot segments.
    const { pathname, search } = new URL(request.url);
    const bytes = await bodyOf(request, MAX_BODY);
    if (bytes === undefined) return refusal(413, "its body is too large");
    const body = bytes.length === 0 ? undefined : parsed(bytes);
    const target = `${pathname}${search}`;
    const judged = judge(provider.wire, { method: request.method, target, body });
    if (judged.kind === "refused") return refusal(403, judged.why);
    if (used >= setup.tokens) return refusal(402, `its ${setup.tokens} tokens are used up`);
    if (requests >= MAX_REQUESTS) return refusal(402, `it made ${MAX_REQUESTS} requests`);
    requests += 1;
    const inference = inferenceIn(provider.wire, pathname, body);
    let sent = body, id: number | undefined, most = 0;
    if (inference !== undefined) {
      try {
        const answer = await ask({ infer: { ...inference, bytes: bytes.length } });
        id = answer.id;
        const maxTokens = "maxTokens" in answer ? answer.maxTokens : inference.maxTokens;
        sent = bounded(provider.wire, pathname, { body, maxTokens }) ?? body;
        if (inference.whole === true) most = Math.min(maxTokens, inference.maxTokens);
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        return refusal(402, error.message);
      }
    }
    const input = inference?.input ?? 0;
    const end = (usage?: RelayUsage): void => {
      if (id === undefined) return;
      used += usage === undefined ? 0 : usage.input + usage.output;
      say({ id, ended: true, ...(usage === undefined ? {} : { used: usage }) });
      id = undefined;
    };
    // INVARIANT: hanging up before the answer is charged: the provider has read the request and
    // computes an answer that is not streamed to its end (test: "an agent that hangs up before …").
    const unheard = (): void => end({ input, output: most, cacheRead: 0, cacheWrite: 0 });
    if (request.signal.aborted) {
      end();
      return new Response(null, { status: 499 });
    }
    let response: Response;
    try {
      response = await fetch(`${provider.origin}${judged.path}`, {
        ...{ method: request.method, headers: headersOf(request, provider), redirect: "manual" },
        // Send the parsed body: with a repeated member a provider might heed another one than was
        // judged.
        ...(request.method === "POST" ? { body: JSON.stringify(sent) } : {}),
        signal: request.signal,
      });
    } catch (error) {
      const why = reasonOf(error);
      // Without a connection nothing was sent.
      if (NOT_REACHED.test(why)) end();
      else unheard();
      if (request.signal.aborted) return new Response(null, { status: 499 });
      say({ failed: why });
      return Response.json({ error: { message: "the provider did not answer" } }, { status: 502 });
    }
    if (response.status >= 300 && response.status < 400) {
      unheard();
      await response.body?.cancel();
      return refusal(502, "the provider led elsewhere");
    }
    const kind = response.headers.get("content-type") ?? "application/json";
    if (response.status >= 400) {
      end();
      return await failing(response, provider, kind);
    }
    const reader = makeUsageReader({ input });
    const passed = reading(response.body, reader, (cut) => end(reader.used(cut ? most : 0)));
    return new Response(passed, { status: response.status, headers: { "content-type": kind } });
  };
}

/** Answers a message to the tool server. */
async function passTool(request: Request, desk: ToolDesk): Promise<Response> {
  if (request.method !== "POST") return new Response(null, { status: 405 });
  const bytes = await bodyOf(request, MAX_MESSAGE);
  if (bytes === undefined) return refusal(413, "its body is too large");
  const answer = await serveTools(parsed(bytes) ?? null, desk);
  return answer === undefined ? new Response(null, { status: 202 }) : Response.json(answer);
}

/** Serves requests until the process ends. */
export async function serveRelay(socket: string): Promise<void> {
  const kernel = await openKernel();
  const { provider, tools } = kernel.setup;
  const pass = provider === undefined
    ? () => Promise.resolve(refusal(403, "it asks no provider"))
    : makePassing(kernel, provider);
  const desk: ToolDesk = {
    async list() {
      const answer = await kernel.ask({ list: true });
      return "tools" in answer ? answer.tools : [];
    },
    async call(tool, args) {
      // The kernel would not answer what it does not accept.
      if (tool.length > MAX_NAME) throw new Error("no tool has so long a name");
      if (args.length > MAX_ARGS) {
        throw new Error(`its arguments have more than ${MAX_ARGS} characters`);
      }
      const answer = await kernel.ask({ call: tool, args });
      if ("content" in answer) return answer;
      throw new Error("it has no result");
    },
  };
  const server = Deno.serve(
    {
      path: socket,
      onListen() {
        // In its namespace the agent runs as nobody; the socket's folder admits no other user.
        Deno.chmodSync(socket, 0o666);
        say({ ready: true });
      },
      onError(error) {
        say({ failed: error instanceof Error ? error.message.slice(0, 300) : "unknown" });
        return new Response(null, { status: 500 });
      },
    },
    (request) => new URL(request.url).pathname === tools ? passTool(request, desk) : pass(request),
  );
  await server.finished;
}
