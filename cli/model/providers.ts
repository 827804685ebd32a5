/** Known providers: host, key variable, key header. @module */
import type { ProviderKind } from "./name.ts";

/** A provider known by its host. */
export interface KnownProvider {
  /** Its name; its lent key is called `env-NAME`. */
  readonly name: string;
  readonly title: string;
  readonly host: string;
  readonly kind: ProviderKind;
  /** The base URL that references take. */
  readonly url: string;
  /** Variables for its key; the first that is set counts. */
  readonly variables: readonly string[];
}

const known = (
  name: string,
  title: string,
  url: string,
  variables: readonly string[],
  kind: ProviderKind = "openai",
): KnownProvider => ({ name, title, host: new URL(url).host, kind, url, variables });

/** All known providers. A key goes to its own provider's host alone. */
export const KNOWN_PROVIDERS: readonly KnownProvider[] = Object.freeze([
  known(
    "anthropic",
    "Anthropic",
    "https://api.anthropic.com/v1",
    ["ANTHROPIC_API_KEY"],
    "anthropic",
  ),
  known("openai", "OpenAI", "https://api.openai.com/v1", ["OPENAI_API_KEY"]),
  known("openrouter", "OpenRouter", "https://openrouter.ai/api/v1", ["OPENROUTER_API_KEY"]),
  known("mistral", "Mistral", "https://api.mistral.ai/v1", ["MISTRAL_API_KEY"]),
  known("groq", "Groq", "https://api.groq.com/openai/v1", ["GROQ_API_KEY"]),
  known("together", "Together", "https://api.together.xyz/v1", ["TOGETHER_API_KEY"]),
  known("deepseek", "DeepSeek", "https://api.deepseek.com/v1", ["DEEPSEEK_API_KEY"]),
  known("xai", "xAI", "https://api.x.ai/v1", ["XAI_API_KEY"]),
  known("gemini", "Gemini", "https://generativelanguage.googleapis.com/v1beta/openai", [
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
  ]),
  known("ollama", "Ollama's cloud", "https://ollama.com", ["OLLAMA_API_KEY"], "ollama"),
]);

/** The provider of an https URL; undefined for an unknown host. */
export function knownProvider(url: string): KnownProvider | undefined {
  const { host, protocol } = new URL(url);
  return protocol === "https:" ? knownHost(host) : undefined;
}

/** The provider at a host, with any scheme; undefined for an unknown host. */
export function knownHost(host: string): KnownProvider | undefined {
  return KNOWN_PROVIDERS.find((each) => each.host === host);
}

/** The header in which a kind of provider takes its key. */
export function keyHeader(
  kind: ProviderKind,
): { readonly header: string; readonly prefix: string } {
  return kind === "anthropic"
    ? { header: "x-api-key", prefix: "" }
    : { header: "authorization", prefix: "Bearer " };
}
