/**
 * The only network access of a remote model service: requests to the origin of its configuration, with the
 * credential, which is set nowhere else; or a recording played in their place.
 * @module
 */
import type { RemoteConfig } from "../../contracts/model/model_config.ts";
import type { Asked } from "./provider_fault.ts";
import type { StreamText } from "./redact/scrub.ts";
import type { Timer } from "../timer_powers.ts";

/** A request to the provider. */
export interface WireRequest {
  readonly method: "GET" | "POST";
  /** Relative to the base URL, as `/chat/completions`; or an absolute URL of the same origin. */
  readonly path: string;
  /** Names in lower case. Headers that could carry a credential are dropped. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A provider's answer with a status of 200 to 299; every other status is a fault. */
export interface WireResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /** Read once, or cancelled by leaving the loop. Rejects with a fault. */
  readonly body: AsyncIterable<Uint8Array<ArrayBuffer>>;
}

/** Options of one request. */
export interface SendOptions {
  readonly signal: AbortSignal;
  /** Receives the finished exchange as a line of a recording. */
  readonly onWire?: ((exchange: string) => void) | undefined;
  /** Maximum length of a line of the answer in bytes; absent: only the whole answer is limited. */
  readonly lineBytes?: number;
}

/** A provider at one origin. */
export interface Endpoint {
  /** The base URL without a trailing slash. */
  readonly base: string;
  /** Host and port, for display. */
  readonly host: string;
  /** The provider as named in faults. */
  readonly asked: Asked;
  /** Whether the host is another machine. */
  readonly remote: boolean;
  /**
   * Sends once. Rejects with a fault; with detail `again` the request may be repeated. See {@link Endpoint.retrying}.
   */
  send(request: WireRequest, options: SendOptions): Promise<WireResponse>;
  /** Tries `attempt` at most 3 times while its fault allows it. `signal` ends the wait. */
  retrying<T>(attempt: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Makes a filter that joins pieces of text and masks the credential with stars. */
  streamText(): StreamText;
}

/** Configuration of an endpoint. */
export interface EndpointConfig extends Pick<RemoteConfig, "model" | "url" | "secret" | "replay"> {
  /** Path to add to a base URL without one, as `/v1`; absent: none. */
  readonly base?: string;
  /** Header for the key; absent: `authorization`. */
  readonly keyHeader?: string;
}

/** Powers of a remote model service. `--allow-net` of the process restricts `fetch` to one origin. */
export interface RemotePowers {
  readonly timer: Timer;
  /** Monotonic milliseconds, for the offsets of a recording. */
  now(): number;
  /** Milliseconds since 1970 by the local clock. */
  date(): number;
  /** From 0 inclusive to 1 exclusive. */
  random(): number;
  readonly fetch: typeof fetch;
}
