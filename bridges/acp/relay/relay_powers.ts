/** Requests from one unix socket to one origin, with a key put in. @module */
import type { Json } from "../../../contracts/base/json.ts";
import type { RelaySetup } from "../../../contracts/tool/foreign_agent.ts";
import { judge, type Tokens, tokensIn } from "./rules.ts";

/** Most bytes of one request: pictures are in it. */
const MAX_BODY = 32 * 1024 * 1024;
/** Most requests of one run. */
const MAX_REQUESTS = 2_000;
/** Most characters of one line of an answer that are read for its tokens. */
const MAX_LINE = 4 * 1024 * 1024;
/** Most characters of a failure that are passed on. */
const MAX_FAILURE = 65_536;
/** Headers of the agent that are passed on; all that could be a credential is not among them. */
const PASSED = ["content-type", "accept", "anthropic-version", "openai-beta"];
/** Features of a provider by which it acts by itself. */
const ACTING = /mcp|file|code-execution|web|skill|container|search/;

function say(line: Readonly<Record<string, Json>>): void {
  const bytes = new TextEncoder().encode(`${JSON.stringify(line)}\n`);
  for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
}

function refusal(status: number, why: string): Response {
  say({ refused: why.slice(0, 300) });
  const message = `Remit refused this request: ${why}`;
  return Response.json({ type: "error", error: { type: "permission_error", message } }, { status });
}

async function readSetup(): Promise<RelaySetup> {
  const text = await new Response(Deno.stdin.readable).text();
  return JSON.parse(text) as RelaySetup;
}

async function bodyOf(request: Request): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of request.body ?? []) {
    size += piece.length;
    if (size > MAX_BODY) return undefined;
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

function headersOf(request: Request, { header, value }: RelaySetup): Headers {
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

/** Reads tokens in what passes: lines of a stream, or one document. */
function counting(told: (tokens: Tokens) => void): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  let line = "", skipping = false;
  let most: Tokens = { input: 0, output: 0 };
  const look = (text: string): void => {
    const found = parsed(new TextEncoder().encode(text.replace(/^data:\s*/, "")));
    const tokens = found === undefined ? undefined : tokensIn(found);
    if (tokens === undefined) return;
    most = {
      input: Math.max(most.input, tokens.input),
      output: Math.max(most.output, tokens.output),
    };
  };
  let document = "";
  return new TransformStream({
    transform(chunk, to): void {
      to.enqueue(chunk);
      const text = decoder.decode(chunk, { stream: true });
      if (document.length < MAX_LINE) document += text;
      for (const piece of text.split(/(?<=\n)/)) {
        if (line.length + piece.length > MAX_LINE) skipping = true;
        line = skipping ? "" : line + piece;
        if (!piece.endsWith("\n")) continue;
        if (!skipping && line.startsWith("data:")) look(line);
        line = "";
        skipping = false;
      }
    },
    flush(): void {
      look(line);
      look(document);
      told(most);
    },
  });
}

/** What a provider says of a failure may quote the key. */
async function failing(
  response: Response,
  { value }: RelaySetup,
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

/** Serves until the process is ended. */
export async function serveRelay(socket: string): Promise<void> {
  const setup = await readSetup();
  let requests = 0, used = 0;
  const answer = async (request: Request): Promise<Response> => {
    // What is judged is what is asked: the parsed path, in which no dots are left.
    const { pathname, search } = new URL(request.url);
    const bytes = await bodyOf(request);
    if (bytes === undefined) return refusal(413, "its body is too large");
    const judged = judge(setup.wire, {
      ...{ method: request.method, target: `${pathname}${search}` },
      body: bytes.length === 0 ? undefined : parsed(bytes),
    });
    if (judged.kind === "refused") return refusal(403, judged.why);
    if (used >= setup.tokens) return refusal(402, `its ${setup.tokens} tokens are used up`);
    if (requests >= MAX_REQUESTS) return refusal(402, `it made ${MAX_REQUESTS} requests`);
    requests += 1;
    let response: Response;
    try {
      response = await fetch(`${setup.origin}${judged.path}`, {
        ...{ method: request.method, headers: headersOf(request, setup), redirect: "manual" },
        ...(request.method === "POST" ? { body: bytes } : {}),
        signal: request.signal,
      });
    } catch (error) {
      if (request.signal.aborted) return new Response(null, { status: 499 });
      say({ failed: error instanceof Error ? error.message.slice(0, 300) : "unknown" });
      return Response.json({ error: { message: "the provider did not answer" } }, { status: 502 });
    }
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      return refusal(502, "the provider led elsewhere");
    }
    const kind = response.headers.get("content-type") ?? "application/json";
    if (response.status >= 400) return await failing(response, setup, kind);
    return new Response(
      response.body?.pipeThrough(counting((tokens) => {
        used += tokens.input + tokens.output;
        say({ tokens: { ...tokens } });
      })) ?? null,
      {
        status: response.status,
        headers: { "content-type": kind },
      },
    );
  };
  const server = Deno.serve({
    path: socket,
    onListen() {
      // Within its walls the agent is nobody; the folder of the socket is entered by nobody else.
      Deno.chmodSync(socket, 0o666);
      say({ ready: true });
    },
    onError(error) {
      say({ failed: error instanceof Error ? error.message.slice(0, 300) : "unknown" });
      return new Response(null, { status: 500 });
    },
  }, answer);
  await server.finished;
}
