/** Reads a model's properties from an Ollama server: /api/show. Used by embed.ts and open.ts. @module */
import { type Fields, fieldsOf, stringOf, tryJson } from "../wire_json.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import type { RemoteConfig } from "../../../contracts/model/model_config.ts";
import type { Endpoint, RemotePowers } from "../endpoint.ts";
import { parseRecording } from "../recording.ts";
import { objectOf, ollamaFault, wholeOf } from "./json.ts";

/** Properties of a model. */
export interface Shown {
  readonly arch: string;
  readonly quantisation: string | undefined;
  /** The maximum context, regardless of memory. */
  readonly maxTokens: number | undefined;
  /** The context set in the model's file (`PARAMETER num_ctx`). */
  readonly setTokens: number | undefined;
  /** Whether the API takes tools. */
  readonly tools: boolean;
  /** Length of its embeddings. */
  readonly vector: number | undefined;
}

const UNKNOWN: Shown = {
  arch: "unknown",
  quantisation: undefined,
  maxTokens: undefined,
  setTokens: undefined,
  tools: true,
  vector: undefined,
};
const TIMEOUT_MS = 30_000;

/** Asks the server. Rejects with `notFound` for an unknown model, and with the faults of an inference. */
export async function showModel(
  { model }: Pick<RemoteConfig, "model">,
  endpoint: Endpoint,
  { timer }: Pick<RemotePowers, "timer">,
): Promise<Shown> {
  const stop = new AbortController();
  const done = new AbortController();
  let late = false;
  timer.wait(TIMEOUT_MS, done.signal).then(() => {
    late = true;
    stop.abort();
  }, () => {});
  try {
    return await endpoint.retrying(async () => {
      const { body } = await endpoint.send({
        method: "POST",
        path: "/api/show",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model }),
      }, { signal: stop.signal });
      return shownOf(await objectOf(body));
    }, stop.signal);
  } catch (error) {
    if (late) {
      const why = `Ollama at ${endpoint.host} said nothing for ${TIMEOUT_MS / 1_000} seconds`;
      throw new Fault("upstream", `Cannot open model ${JSON.stringify(model)}: ${why}`, {
        cause: error,
      });
    }
    throw ollamaFault(error, model);
  } finally {
    done.abort();
  }
}

/**
 * The properties in a recording: the answer of /api/show is not recorded, but the chat request shows what was
 * derived from it.
 */
export function shownInRecording(recording: string): Shown {
  const chat = parseRecording(recording).find(({ request }) => request.url.endsWith("/api/chat"));
  if (chat === undefined) return UNKNOWN;
  const body = fieldsOf(tryJson(chat.request.body));
  return {
    ...UNKNOWN,
    setTokens: wholeOf(fieldsOf(body["options"])["num_ctx"], 1),
    tools: body["tools"] !== undefined,
  };
}

function shownOf(answer: Fields): Shown {
  const details = fieldsOf(answer["details"]);
  const about = fieldsOf(answer["model_info"]);
  const arch = stringOf(about["general.architecture"]) || stringOf(details["family"]) || "unknown";
  const capabilities = answer["capabilities"];
  const set = /^num_ctx\s+(\d{1,9})\s*$/m.exec(stringOf(answer["parameters"]))?.[1];
  return {
    arch: arch.slice(0, 64),
    quantisation: stringOf(details["quantization_level"]).slice(0, 64) || undefined,
    maxTokens: wholeOf(about[`${arch}.context_length`], 1),
    setTokens: set === undefined ? undefined : wholeOf(Number(set), 1),
    // Older servers list no capabilities; the template refers to tools.
    tools: Array.isArray(capabilities)
      ? capabilities.includes("tools")
      : stringOf(answer["template"]).includes(".Tools"),
    vector: wholeOf(about[`${arch}.embedding_length`], 1),
  };
}
