/** What a model server on this machine has: asked quickly, or not at all. @module */
import { Fault, isLoopback } from "../../contracts/base/mod.ts";
import type { ModelHttp } from "../../models/weights/mod.ts";
import { DEFAULT_URL, type ProviderKind } from "./name.ts";
import { joinBytes } from "../../port/join_bytes.ts";
import * as z from "zod";

const MAX_BYTES = 1_000_000;
/** How long a server on this machine may take to begin its answer, in milliseconds. */
const LOCAL_MS = 500;
/** How long a knock at a door may take, in milliseconds. */
export const KNOCK_MS = 150;

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

/** Names of the models that a server lists; undefined when it does not say in time. */
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
    // A server that cannot be asked is one that says nothing.
    if (error instanceof Fault || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Tells whether something listens where a URL points. */
export async function listens(http: ModelHttp, url: string, ms = KNOCK_MS): Promise<boolean> {
  const { hostname, port, protocol } = new URL(url);
  return await http.knock({
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

/** What a server is told to listen on, and no client can connect to. */
const EVERYWHERE = /^(?:0\.0\.0\.0|\[::\])$/;

/**
 * The origin that OLLAMA_HOST names (`HOST`, `HOST:PORT`, `:PORT` or a URL) where it is on this machine, else the
 * usual one: nobody asked to look at another machine.
 */
export function ollamaPlace(env: (name: string) => string | undefined): string {
  const given = (env("OLLAMA_HOST") ?? "").trim().replace(/^["']|["']$/g, "");
  if (given === "") return DEFAULT_URL.ollama;
  const usual = new URL(DEFAULT_URL.ollama);
  const bare = given.startsWith(":") ? `${usual.hostname}${given}` : given;
  const url = URL.parse(/^https?:\/\//.test(bare) ? bare : `http://${bare}`);
  if (url === null) return DEFAULT_URL.ollama;
  if (EVERYWHERE.test(url.hostname)) url.hostname = usual.hostname;
  if (!isLoopback(url.hostname)) return DEFAULT_URL.ollama;
  // A URL says its scheme's port by saying none; a bare host means Ollama's.
  if (url.port === "" && !/^https?:\/\//.test(bare)) url.port = usual.port;
  return url.origin;
}
