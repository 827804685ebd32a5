/** Models available without configuration: keys in the environment, a running Ollama. @module */
import { displayText } from "../../text/mod.ts";
import type { Command } from "../command.ts";
import { DEFAULT_URL } from "./name.ts";
import { ollamaPlace, runningOllama } from "./server.ts";
import { KNOWN_PROVIDERS, type KnownProvider } from "./providers.ts";
import type { Basic } from "../powers.ts";

/** The form of a reference to a provider's model. */
function referenceOf({ kind, name, url }: KnownProvider): string {
  return name === kind ? `${kind}:NAME` : `${kind}:NAME@${url}`;
}

/** Providers with a key in the environment, and its variable. Values are not read. */
export function keysInEnvironment(
  env: (name: string) => string | undefined,
): readonly { readonly provider: KnownProvider; readonly variable: string }[] {
  return KNOWN_PROVIDERS.flatMap((provider) => {
    const variable = provider.variables.find((name) => (env(name) ?? "").trim() !== "");
    return variable === undefined ? [] : [{ provider, variable }];
  });
}

/**
 * Lines about available models, each with the exact command; empty without any. Waits at most 150 ms for
 * an Ollama that does not answer.
 */
export async function foundLines(command: Command<Basic | "models">): Promise<readonly string[]> {
  const { environment, models } = command.powers;
  const lines: string[] = [];
  const add = (what: string, ref: string): void => {
    lines.push(
      `  ${what}; to use it:`,
      `    ${environment.command} run -p "…" --mount notes=DIR --model ${ref}`,
    );
  };
  for (const { provider, variable } of keysInEnvironment(environment.env)) {
    add(`a key for ${provider.title} is in the environment (${variable})`, referenceOf(provider));
  }
  const place = ollamaPlace(environment.env);
  const ollama = await runningOllama(models.http, place);
  if (ollama !== undefined) {
    const [first] = ollama;
    add(
      first === undefined
        ? 'Ollama runs on this machine and has no model yet ("ollama pull NAME" gets one)'
        : `Ollama runs on this machine with ${ollama.length} model${
          ollama.length === 1 ? "" : "s"
        }`,
      `ollama:${first === undefined ? "NAME" : displayText(first, { max: 120 })}${
        place === DEFAULT_URL.ollama ? "" : `@${place}`
      }`,
    );
  }
  return lines;
}
