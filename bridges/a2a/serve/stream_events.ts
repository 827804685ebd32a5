/**
 * Turns events of an exchange into a stream's events: only the difference to what was sent before,
 * so that a repeated or late event, or a snapshot, repeats and loses nothing. A2A 1.0, section
 * 3.5.2. Used by handler.ts.
 * @module
 */
import { Role, StreamResponse, TaskState } from "@a2a-js/sdk";
import type {
  Exchange,
  ExchangeEvent,
  PeerArtifact,
} from "../../../contracts/exchange/exchange.ts";
import { peerLabelOf } from "../../../contracts/exchange/peer_words.ts";
import { unreachable } from "../../../contracts/base/fault.ts";
import { artifactOf, isSettled, statusOf, taskOf } from "./task.ts";

interface Teller {
  /** The stream events that an exchange's event adds. */
  next(event: ExchangeEvent): readonly StreamResponse[];
  /** Whether the exchange ended, or came to the peer's turn, since the stream began. */
  settled(): boolean;
}

/** Makes the teller of a stream that has sent `first` as a task. */
export function makeTeller(first: Exchange): Teller {
  const { id: taskId, context: contextId } = first;
  let version = first.version;
  let status = statusKey(first);
  let settled = false;
  let progress = 0;
  /** How many parts of each artifact were sent. */
  const sent = new Map(first.artifacts.map(({ id, parts }) => [id, parts.length]));

  const artifact = (
    { id, ...rest }: PeerArtifact,
    append: boolean,
    lastChunk: boolean,
  ): StreamResponse => ({
    payload: {
      $case: "artifactUpdate",
      value: {
        ...{ taskId, contextId, append, lastChunk },
        artifact: artifactOf({ id, ...rest }),
        metadata: undefined,
      },
    },
  });

  const state = (exchange: Exchange): readonly StreamResponse[] => {
    if (exchange.version < version) return [];
    version = exchange.version;
    const out: StreamResponse[] = [];
    for (const each of exchange.artifacts) {
      const before = sent.get(each.id) ?? 0;
      if (each.parts.length <= before) continue;
      out.push(artifact({ ...each, parts: each.parts.slice(before) }, before > 0, true));
      sent.set(each.id, each.parts.length);
    }
    const key = statusKey(exchange);
    if (key === status) return out;
    status = key;
    settled ||= isSettled(exchange.state);
    out.push({
      payload: {
        $case: "statusUpdate",
        value: { taskId, contextId, status: statusOf(exchange), metadata: undefined },
      },
    });
    return out;
  };

  return Object.freeze<Teller>({
    settled: () => settled,
    next(event): readonly StreamResponse[] {
      switch (event.kind) {
        case "state":
          return state(event.exchange);
        case "artifact": {
          // A snapshot of this version, sent before, held the artifact.
          if (event.version <= version) return [];
          version = event.version;
          const before = event.append ? sent.get(event.artifact.id) ?? 0 : 0;
          sent.set(event.artifact.id, before + event.artifact.parts.length);
          return [artifact(event.artifact, event.append, event.last)];
        }
        case "progress":
          progress += 1;
          return [{
            payload: {
              $case: "statusUpdate",
              value: {
                ...{ taskId, contextId, metadata: undefined },
                status: {
                  state: TaskState.TASK_STATE_WORKING,
                  timestamp: undefined,
                  message: {
                    messageId: `progress-${progress}`,
                    ...{ contextId, taskId, role: Role.ROLE_AGENT },
                    metadata: peerLabelOf(event.label),
                    parts: [{
                      content: { $case: "text", value: event.text },
                      ...{ metadata: undefined, filename: "", mediaType: "" },
                    }],
                    ...{ extensions: [], referenceTaskIds: [] },
                  },
                },
              },
            },
          }];
        default:
          return unreachable(event);
      }
    },
  });
}

/** The first event of a stream: the whole task. */
export function firstOf(exchange: Exchange): StreamResponse {
  return { payload: { $case: "task", value: taskOf(exchange) } };
}

function statusKey({ state, status }: Exchange): string {
  return `${state} ${status?.id ?? ""} ${status?.at ?? 0}`;
}

/**
 * The body of a push notification (A2A 1.0, section 4.3.3): what `event` adds to `exchange`, else
 * the exchange without its history, which the receiver may ask for.
 */
export function renderPush(exchange: Exchange, event: ExchangeEvent | null): string {
  const [added] = event === null ? [] : makeTeller(exchange).next(event);
  const whole: StreamResponse = {
    payload: { $case: "task", value: taskOf(exchange, { historyLength: 0 }) },
  };
  return JSON.stringify(StreamResponse.toJSON(added ?? whole));
}
