/** Where Ollama is looked for: its own variable says so, as for its own commands. @module */
import { isLoopback } from "../../contracts/mod.ts";
import { DEFAULT_URL } from "./name.ts";

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
