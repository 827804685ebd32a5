/** Shared by the tests of Ollama: a clock turned by hand, and an open model at a server. */
import { Fault } from "../../../../contracts/base/fault.ts";
import type { LanguageModel, TextEmbedder } from "../../../../contracts/model/model.ts";
import type { RemoteConfig } from "../../../../contracts/model/model_config.ts";
import type { OpenBody } from "../../../../contracts/wire/wire_model.ts";
import type { RemotePowers } from "../../endpoint.ts";
import { openOllamaEmbed } from "../embed.ts";
import { openOllama } from "../open.ts";

/** Waits of at most this many milliseconds end at once: those before a retry. */
const SHORT = 5_000;

/** Powers whose long waits end when the test says so. */
export interface BenchPowers extends RemotePowers {
  /** From now on each long wait, running or later, ends at once and moves the clock. */
  readonly ring: () => void;
  /** Milliseconds of the short waits so far. */
  readonly waited: readonly number[];
}

/** Makes the powers. The clock stands at 0 ms, `fetch` is the real one. */
export function benchPowers(): BenchPowers {
  const rung = Promise.withResolvers<void>();
  const waited: number[] = [];
  let clock = 0;
  return {
    timer: {
      async wait(ms, signal) {
        if (ms <= SHORT) {
          waited.push(ms);
          return;
        }
        const cancelled = Promise.withResolvers<never>();
        const cancel = (): void =>
          cancelled.reject(new Fault("cancelled", "Cannot wait: cancelled"));
        if (signal.aborted) cancel();
        else signal.addEventListener("abort", cancel, { once: true });
        await Promise.race([rung.promise, cancelled.promise]);
        clock += ms + 1;
      },
    },
    now: () => clock,
    date: () => 0,
    random: () => 0,
    fetch: (input, init) => fetch(input, init),
    waited,
    ring: rung.resolve,
  };
}

/** The configuration of the model `tiny` of the server at `url`. */
export function openBodyOf(url: string, config: Partial<RemoteConfig> = {}): OpenBody {
  return {
    kind: "ollama",
    ref: `ollama:tiny@${url}`,
    config: JSON.stringify({ model: "tiny", url, ...config }),
  };
}

/** Opens a language model. */
export function openAt(
  url: string,
  config: Partial<RemoteConfig> = {},
  powers: RemotePowers = benchPowers(),
): Promise<LanguageModel> {
  return openOllama(openBodyOf(url, config), powers);
}

/** Opens an embedder. */
export function openEmbedAt(
  url: string,
  config: Partial<RemoteConfig> = {},
): Promise<TextEmbedder> {
  return openOllamaEmbed(openBodyOf(url, config), benchPowers());
}
