/** A model behind the port of its process, called as kernel/power/model/services.ts does. @module */
import { Fault } from "../../contracts/base/fault.ts";
import {
  InferenceResponse,
  type InferOptions,
  type LanguageModel,
  type ModelInfo,
  type StreamChunk,
} from "../../contracts/model/model.ts";
import type { PortHandler } from "../../contracts/base/port.ts";
import { asJson } from "../../port/as_json.ts";
import type { Port } from "../../port/mod.ts";

/** Receivers of an inference's chunks, by its id. */
export type Chunks = Map<number, (chunk: StreamChunk) => void>;

/** The test's end of the port: passes chunks on, and refuses every request. */
export function hearing(chunks: Chunks): PortHandler {
  return {
    ask: () => {
      throw new Fault("refused", "Cannot serve a model: it may ask for nothing");
    },
    tell: (_op, body) => {
      // TRUST: from the service under test.
      const { id, chunk } = body as unknown as { id: number; chunk: StreamChunk };
      chunks.get(id)?.(chunk);
    },
  };
}

/** The model at the other end of `port`, whose handler is {@link hearing} over the same `chunks`. */
export function servedModel(port: Port, info: ModelInfo, chunks: Chunks): LanguageModel {
  let next = 0;
  return {
    info: () => Promise.resolve(info),
    async infer(request, { onChunk = () => {}, signal }: InferOptions) {
      if (signal.aborted) throw new Fault("cancelled", "Cannot infer: cancelled");
      const id = ++next;
      chunks.set(id, onChunk);
      const cancel = (): void => port.tell("cancel", { id });
      signal.addEventListener("abort", cancel, { once: true });
      try {
        const answer = await port.ask("infer", { id, request: asJson(request) });
        return InferenceResponse.parse(answer);
      } finally {
        signal.removeEventListener("abort", cancel);
        chunks.delete(id);
      }
    },
  };
}
