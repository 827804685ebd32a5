/**
 * The one way out of a remote model service: requests to the origin of its configuration, with the
 * credential set here and nowhere else, or a recording that is played in its place.
 * @module
 */
import type { RemoteConfig } from "../../contracts/model/model_config.ts";
import type { Asked } from "./provider_fault.ts";
import type { StreamText } from "./redact/scrub.ts";
import type { Timer } from "../timer_powers.ts";

/** A request to the provider. */
export interface WireRequest {
  readonly method: "GET" | "POST";
  /** Beneath the base URL, as `/chat/completions`; or an absolute URL of the same origin. */
  readonly path: string;
  /** Names in lower case. What could carry a credential is left out. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A provider's answer with a status of 200 to 299; every other one is a fault. */
export interface WireResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /** Read once, or cancelled by leaving the loop. Rejects with a fault. */
  readonly body: AsyncIterable<Uint8Array<ArrayBuffer>>;
}

/** How one request is made. */
export interface SendOptions {
  readonly signal: AbortSignal;
  /** Hears the exchange once it has ended: a line of a recording. */
  readonly onWire?: ((exchange: string) => void) | undefined;
  /** Longest line of the answer in bytes; absent: only the whole is bounded. */
  readonly lineBytes?: number;
}

/** A provider, at one origin. */
export interface Endpoint {
  /** The base URL, without a slash at its end. */
  readonly base: string;
  /** Host and port of the provider, for people. */
  readonly host: string;
  /** What faults say of who was asked. */
  readonly asked: Asked;
  /** True when the host is not this machine. */
  readonly remote: boolean;
  /**
   * One try. Rejects with a fault; one whose detail `again` is true may be tried again.
   * See {@link Endpoint.retrying}.
   */
  send(request: WireRequest, options: SendOptions): Promise<WireResponse>;
  /** At most 3 tries of `attempt`, while what it meets may be tried again. Waiting ends with `signal`. */
  retrying<T>(attempt: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** A join of the pieces of a text, with stars in place of the credential. */
  streamText(): StreamText;
}

/** What an endpoint is made of. */
export interface EndpointConfig extends Pick<RemoteConfig, "model" | "url" | "secret" | "replay"> {
  /** Path that a base URL without one stands for, as `/v1`; absent: none. */
  readonly base?: string;
  /** Header in which the protocol takes a key; absent: `authorization`. */
  readonly keyHeader?: string;
}

/** Powers of a remote model service. The process's `--allow-net` narrows `fetch` to one origin. */
export interface RemotePowers {
  readonly timer: Timer;
  /** Milliseconds that only grow, for the offsets of a recording. */
  now(): number;
  /** Milliseconds since 1970, by this machine's clock. */
  date(): number;
  /** At least 0, less than 1. */
  random(): number;
  readonly fetch: typeof fetch;
}
