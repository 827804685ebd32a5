/** Remote models against loopback providers, in the test's own process. @module */
import { Fault } from "../../../contracts/base/fault.ts";
import type { RemoteConfig } from "../../../contracts/model/model_config.ts";
import type { OpenBody } from "../../../contracts/wire/wire_model.ts";
import type { Asked } from "../provider_fault.ts";
import type { RemotePowers } from "../endpoint.ts";

/** The asked model and its endpoint, for tests that read a provider's message without a provider. */
export const ASKED: Asked = {
  model: "tiny",
  host: "host",
  base: "https://host/v1",
  key: "kept",
  setKey: "remit secret set my-key …",
};

/** Powers whose waits take no time; `waits` records their lengths. */
export function quickPowers(): RemotePowers & { readonly waits: number[] } {
  const waits: number[] = [];
  let time = 0;
  return {
    waits,
    timer: {
      wait(ms, signal) {
        // An idle watchdog waits as long as the test runs.
        if (ms >= 60_000) {
          return new Promise((_, reject) => {
            const end = (): void => reject(new Fault("cancelled", "Cannot wait: cancelled"));
            if (signal.aborted) end();
            else signal.addEventListener("abort", end, { once: true });
          });
        }
        waits.push(ms);
        return Promise.resolve();
      },
    },
    now: () => ++time,
    date: () => Date.UTC(2026, 0, 1),
    random: () => 0.5,
    fetch,
  };
}

/** A kernel's configuration for a model at `url`. */
export function openBody(
  kind: string,
  url: string,
  { key, ...config }: Partial<RemoteConfig> & { readonly key?: string } = {},
): OpenBody {
  const header = kind === "anthropic" ? "x-api-key" : "authorization";
  const value = kind === "anthropic" ? key : `Bearer ${key}`;
  return {
    kind,
    ref: `${kind}:tiny@${url}`,
    config: JSON.stringify({ model: "tiny", url, ...config }),
    ...(key === undefined || value === undefined ? {} : { credential: { header, value } }),
  };
}
