/**
 * What the AI SDK would send: its knowledge of providers and models makes the request. Sending it and
 * reading the answer are ours (docs/decision/0012): its readers hang when a stream breaks before its
 * first event, fail on events that are newer than they are, and pass over pieces they cannot place.
 * @module
 */
import type { OpenAICompatibleProvider } from "@ai-sdk/openai-compatible";
import type { WireRequest } from "./endpoint.ts";

/** A language model of the AI SDK, of whichever provider. */
export type SdkModel = Pick<ReturnType<OpenAICompatibleProvider["chatModel"]>, "doStream">;
/** What such a model is asked with. */
export type SdkOptions = Parameters<SdkModel["doStream"]>[0];

/**
 * The request that the model which `make` gives would send for `options`. Nothing is sent. Rejects with
 * the SDK's own error where it takes the options for wrong.
 */
export async function sdkRequest(
  make: (fetcher: typeof fetch) => SdkModel,
  options: SdkOptions,
): Promise<WireRequest & { readonly body: string }> {
  let request: (WireRequest & { readonly body: string }) | undefined;
  const model = make((url, init) => {
    request = {
      method: "POST",
      path: String(url),
      headers: init?.headers as Readonly<Record<string, string>>,
      body: String(init?.body),
    };
    return Promise.reject(new TypeError("nothing is sent"));
  });
  try {
    await model.doStream(options);
  } catch (error) {
    if (request === undefined) throw error;
  }
  if (request === undefined) throw new TypeError("Cannot make a request: the SDK made none");
  return request;
}
