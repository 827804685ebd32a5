/** Asks a model server on this machine for its models, quickly or not at all. @module */
import { Fault, isLoopback } from "../../contracts/base/mod.ts";
import type { ModelHttp } from "../../models/weights/mod.ts";
import { DEFAULT_URL, type ProviderKind } from "./name.ts";
import { joinBytes } from "../../port/join_bytes.ts";
import * as z from "zod";

const MAX_BYTES = 1_000_000;
/** Milliseconds for a local server to begin its answer. */
const LOCAL_MS = 500;
/** Maximum milliseconds for a connection to a port. */
export const MAX_CONNECT_MS = 150;

const OllamaTags = z.object({
  models: z.array(z.object({ name: z.string().max(256) })).max(10_000),
});
const OpenAiModels = z.object({ data: z.array(z.object({ id: z.string().max(256) })).max(10_000) });

async function readJson(http: ModelHttp, url: string, within: number): Promise<unknown> {
  const answer = await http.get(url, { headers: { accept: "application/json" }, within });
  if (answer.status !== 200) {
    await answer.cancel();
    return undefined;
  }
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of answer.body) {
    bytes += piece.length;
    if (bytes > MAX_BYTES) return undefined;
    pieces.push(piece);
  }
  return JSON.parse(new TextDecoder().decode(joinBytes(pieces)));
}

/** Names of a server's models; undefined without an answer in time. */
export async function serverModels(
  http: ModelHttp,
  { kind, url }: { readonly kind: ProviderKind; readonly url: string },
  within = LOCAL_MS,
): Promise<readonly string[] | undefined> {
  try {
    if (kind === "ollama") {
      const parsed = OllamaTags.safeParse(await readJson(http, `${url}/api/tags`, within));
      return parsed.success ? parsed.data.models.map(({ name }) => name) : undefined;
    }
    const parsed = OpenAiModels.safeParse(await readJson(http, `${url}/models`, within));
    return parsed.success ? parsed.data.data.map(({ id }) => id) : undefined;
  } catch (error) {
    // An unreachable server gives no answer.
    if (error instanceof Fault || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Whether something listens at a URL's host and port. */
export async function listens(http: ModelHttp, url: string, ms = MAX_CONNECT_MS): Promise<boolean> {
  const { hostname, port, protocol } = new URL(url);
  return await http.canConnect({
    host: hostname.replace(/^\[|\]$/g, ""),
    port: Number(port) || (protocol === "https:" ? 443 : 80),
  }, ms);
}

/** Models of the Ollama at this origin; undefined when none runs there. */
export async function runningOllama(
  http: ModelHttp,
  url: string,
): Promise<readonly string[] | undefined> {
  if (!await listens(http, url)) return undefined;
  return await serverModels(http, { kind: "ollama", url });
}

/** Addresses that a server listens on and no client can connect to. */
const ANY_ADDRESS = /^(?:0\.0\.0\.0|\[::\])$/;

/**
 * The origin in OLLAMA_HOST (`HOST`, `HOST:PORT`, `:PORT` or a URL) if it is on this machine, else the
 * default: nobody asked to contact another machine.
 */
export function ollamaPlace(env: (name: string) => string | undefined): string {
  const given = (env("OLLAMA_HOST") ?? "").trim().replace(/^["']|["']$/g, "");
  if (given === "") return DEFAULT_URL.ollama;
  const usual = new URL(DEFAULT_URL.ollama);
  const bare = given.startsWith(":") ? `${usual.hostname}${given}` : given;
  const url = URL.parse(/^https?:\/\//.test(bare) ? bare : `http://${bare}`);
  if (url === null) return DEFAULT_URL.ollama;
  if (ANY_ADDRESS.test(url.hostname)) url.hostname = usual.hostname;
  if (!isLoopback(url.hostname)) return DEFAULT_URL.ollama;
  // A URL without a port means its scheme's; a bare host means Ollama's.
  if (url.port === "" && !/^https?:\/\//.test(bare)) url.port = usual.port;
  return url.origin;
}
