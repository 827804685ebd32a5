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

/** A request as text, ready to be sent. */
export type SdkRequest = WireRequest & { readonly body: string };

/** Makes the request of given options. Rejects with the SDK's own error where it takes them for wrong. */
export type MakeRequest = (options: SdkOptions) => Promise<SdkRequest>;

/** One for all: an error that is made takes as long as the request. */
const NOTHING_SENT = new TypeError("nothing is sent");

/**
 * Makes what the model that `make` gives would send. Nothing is sent. The model is made once: that
 * takes as long as a request.
 */
export function sdkRequests(
  make: (fetcher: typeof fetch) => SdkModel,
): MakeRequest {
  const caught: { request?: SdkRequest } = {};
  const model = make((url, init) => {
    caught.request = {
      method: "POST",
      path: String(url),
      headers: init?.headers as Readonly<Record<string, string>>,
      body: String(init?.body),
    };
    return Promise.reject(NOTHING_SENT);
  });
  const next = async (options: SdkOptions): Promise<SdkRequest> => {
    delete caught.request;
    try {
      await model.doStream(options);
    } catch (error) {
      if (caught.request === undefined) throw error;
    }
    if (caught.request === undefined) {
      throw new TypeError("Cannot make a request: the SDK made none");
    }
    return caught.request;
  };
  // One after the other: the first is under way while the others are made, and none is another's.
  let last: Promise<unknown> = Promise.resolve();
  return (options) => {
    const made = last.then(() => next(options));
    last = made.catch(() => undefined);
    return made;
  };
}
