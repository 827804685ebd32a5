/** Converts a peer's message to a request to the starter. A2A 1.0, section 3.1.1. Used by handler.ts. @module */
import type { Message, SendMessageRequest, TaskPushNotificationConfig } from "@a2a-js/sdk";
import {
  ExchangeId,
  PEER_MESSAGE_BYTES,
  type PeerPart,
  PushConfig,
} from "../../../contracts/exchange/exchange.ts";
import { PeerSay } from "../../../contracts/wire/wire_a2a.ts";
import { mediaTypeOf, metadataText, peerPartOf } from "./part.ts";
import { malformed, notTaken, taskNotFound } from "./refusal.ts";

/** The media types of a card. */
export interface Modes {
  /** Accepted media types; `text/*` and `*\/*` are wildcards. */
  readonly input: readonly string[];
  readonly output: readonly string[];
}

/** Media types of an agent that declares none. */
export const MODES: Modes = Object.freeze({
  input: Object.freeze([
    "text/plain",
    "text/markdown",
    "text/csv",
    "text/html",
    "application/json",
    "application/pdf",
    "image/png",
    "image/jpeg",
    "application/octet-stream",
  ]),
  output: Object.freeze(["text/plain", "text/markdown", "application/json"]),
});

/**
 * Whether media types accept `type`. `application/octet-stream` accepts every application type as
 * bytes, `text/plain` every text (RFC 2046, sections 4.1.4 and 4.5.3).
 */
export function takes(modes: readonly string[], type: string): boolean {
  const [family] = type.split("/");
  if (family === "application" && modes.includes("application/octet-stream")) return true;
  if (family === "text" && modes.includes("text/plain")) return true;
  return modes.some((mode) => {
    const [kind, sub] = mode.trim().toLowerCase().split(";", 1).join("").split("/");
    return kind === "*" || (kind === family && (sub === "*" || sub === type.split("/")[1]));
  });
}

/** How to answer a message. */
interface SendHow {
  readonly historyLength: number | undefined;
  readonly returnImmediately: boolean;
}

/**
 * Builds the request to the starter.
 * @throws A2A's refusals: an unknown media type, too large, an impossible task id.
 */
export function sayOf(
  request: SendMessageRequest,
  known: { readonly token: string; readonly modes: Modes; newId(): string },
): { readonly say: PeerSay; readonly how: SendHow } {
  const { message, configuration } = request;
  if (message === undefined) throw malformed("message: required");
  const parts = message.parts.map(peerPartOf);
  checkModes(parts, configuration?.acceptedOutputModes ?? [], known.modes);
  const push = configuration?.taskPushNotificationConfig;
  const say = PeerSay.safeParse({
    token: known.token,
    message: { ...plain(message), parts },
    ...message.taskId === "" ? {} : { exchange: exchangeOf(message.taskId) },
    ...message.contextId === "" ? {} : { context: message.contextId },
    ...text("metadata", metadataText(request.metadata)),
    ...push === undefined ? {} : { push: pushOf(push, known.newId) },
  });
  if (!say.success) throw malformed("message: it does not fit");
  const bytes = new TextEncoder().encode(JSON.stringify(say.data.message)).length;
  if (bytes > PEER_MESSAGE_BYTES) {
    throw malformed(`message: longer than ${PEER_MESSAGE_BYTES} bytes`);
  }
  return {
    say: say.data,
    how: {
      historyLength: configuration?.historyLength,
      returnImmediately: configuration?.returnImmediately ?? false,
    },
  };
}

function plain(message: Message): Readonly<Record<string, unknown>> {
  return {
    id: message.messageId,
    extensions: message.extensions,
    references: message.referenceTaskIds,
    ...text("metadata", metadataText(message.metadata)),
  };
}

function text(name: string, value: string | undefined): Readonly<Record<string, string>> {
  return value === undefined ? {} : { [name]: value };
}

function checkModes(parts: readonly PeerPart[], accepted: readonly string[], modes: Modes): void {
  for (const part of parts) {
    const type = mediaTypeOf(part);
    // A link is never followed: its target may be anything.
    if (part.kind !== "link" && !takes(modes.input, type)) {
      throw notTaken(`the media type ${JSON.stringify(type)}`);
    }
  }
  if (accepted.length === 0) return;
  if (!modes.output.some((type) => takes(accepted, type))) {
    throw notTaken("none of the accepted output modes is one of this agent's");
  }
}

/** The exchange of a task id. An id that we never gave is as unknown as another peer's. */
export function exchangeOf(taskId: string): ExchangeId {
  const read = ExchangeId.safeParse(taskId);
  if (!read.success) throw taskNotFound();
  return read.data;
}

/** Parses the settings of push notifications. */
export function pushOf(config: TaskPushNotificationConfig, newId: () => string): PushConfig {
  const { authentication } = config;
  const read = PushConfig.safeParse({
    id: config.id === "" ? newId() : config.id,
    url: config.url,
    ...text("token", config.token === "" ? undefined : config.token),
    ...authentication === undefined ? {} : {
      authentication: {
        scheme: authentication.scheme,
        ...text("credentials", authentication.credentials || undefined),
      },
    },
  });
  if (!read.success) throw malformed("taskPushNotificationConfig: it does not fit");
  return read.data;
}
