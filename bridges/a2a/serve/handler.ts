/**
 * The protocol's operations for one caller, for the SDK's transport handlers: each is a request to
 * the starter. There is no store, executor or event bus: the kernel holds the exchange. A2A 1.0,
 * section 3.1. Used by server.ts.
 * @module
 */
import {
  AgentCard,
  type ListTasksRequest,
  type SendMessageRequest,
  type StreamResponse,
} from "@a2a-js/sdk";
import type { A2ARequestHandler } from "@a2a-js/sdk/server";
import {
  PushNotificationNotSupportedError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from "@a2a-js/sdk/errors";
import {
  type Exchange,
  type PeerQuery,
  PeerQuery as Query,
} from "../../../contracts/exchange/exchange.ts";
import { parseJson } from "../../../port/parse.ts";
import type { CallerOperations, KnownCaller, Watch } from "./starter.ts";
import { exchangeOf, MODES, type Modes, pushOf, sayOf } from "./incoming_message.ts";
import { directOf, exchangeState, isFinal, isSettled, pushConfigOf, taskOf } from "./task.ts";
import { firstOf, makeTeller } from "./stream_events.ts";
import { malformed } from "./refusal.ts";

interface HandlerParts {
  readonly operations: CallerOperations;
  readonly caller: KnownCaller;
  newId(): string;
  readonly after: (ms: number, then: () => void) => () => void;
  /** Milliseconds that a blocking request waits, at most. */
  readonly blockMs: number;
  /** Aborts when nobody waits for the answer: its watches are ended. */
  readonly signal: AbortSignal;
  /** The request's `traceparent`. */
  readonly trace?: string | undefined;
}

/** Makes the SDK's handler for one caller. */
export function makeHandler(parts: HandlerParts): A2ARequestHandler {
  const { operations, caller, newId, signal } = parts;

  /** Ends a watch with the signal, too: an operation that waits for events cannot be ended otherwise. */
  const watched = async (begun: Promise<Watch>): Promise<Watch> => {
    const watch = await begun;
    if (signal.aborted) watch.stop();
    else signal.addEventListener("abort", watch.stop, { once: true });
    return watch;
  };

  const card = async (): Promise<AgentCard> =>
    AgentCard.fromJSON(parseJson((await operations.card()).card));

  /** The card's media types; plain text, which every card accepts, needs no look-up. */
  const modes = async (request: SendMessageRequest): Promise<Modes> => {
    const { message, configuration } = request;
    const plain = (configuration?.acceptedOutputModes ?? []).length === 0 &&
      (message?.parts ?? []).every(({ content, mediaType }) =>
        content?.$case === "text" && (mediaType === "" || mediaType === "text/plain")
      );
    return plain ? MODES : modesOf(await card());
  };

  const asked = async (request: SendMessageRequest) => {
    if (request.configuration?.taskPushNotificationConfig !== undefined) needPush();
    const read = sayOf(request, { token: caller.token, modes: await modes(request), newId });
    const { trace } = parts;
    return trace === undefined ? read : { ...read, say: { ...read.say, trace } };
  };

  /** Refuses peers without push notifications; the same for every task, so that nothing is revealed. */
  const needPush = (): void => {
    if (!caller.holder.push) throw new PushNotificationNotSupportedError();
  };

  /** The exchange once it is settled, or its state after the longest wait. */
  const settled = async (watch: Watch): Promise<Exchange> => {
    const giveUp = parts.after(parts.blockMs, watch.stop);
    let latest = watch.first;
    try {
      while (!isSettled(latest.state)) {
        const event = await watch.next();
        if (event === undefined) return await operations.get(latest.id);
        if (event.kind === "state") latest = event.exchange;
      }
      return latest;
    } finally {
      giveUp();
      watch.stop();
    }
  };

  /** The stream events of an exchange after `from`. */
  const follow = async function* (
    from: Exchange,
    watch: Watch,
    ends: (state: Exchange["state"]) => boolean,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    try {
      if (ends(from.state)) return;
      const teller = makeTeller(from);
      const { first } = watch;
      yield* teller.next({ kind: "state", version: first.version, exchange: first });
      while (!teller.settled()) {
        const event = await watch.next();
        if (event === undefined) return;
        if (event.kind !== "progress" || caller.holder.progress) yield* teller.next(event);
      }
    } finally {
      watch.stop();
    }
  };

  return Object.freeze<A2ARequestHandler>({
    getAgentCard: card,
    getAuthenticatedExtendedAgentCard: card,
    async sendMessage(request) {
      const { say, how: { historyLength, returnImmediately } } = await asked(request);
      const exchange = returnImmediately
        ? await operations.send(say)
        : await settled(await watched(operations.sendWatched(say, false)));
      return directOf(exchange) ?? taskOf(exchange, { historyLength });
    },
    async *sendMessageStream(request) {
      const { say } = await asked(request);
      const watch = await watched(operations.sendWatched(say, caller.holder.progress));
      yield firstOf(watch.first);
      yield* follow(watch.first, watch, isSettled);
    },
    getTask: async ({ id, historyLength }) =>
      taskOf(await operations.get(exchangeOf(id)), { historyLength }),
    async listTasks(request) {
      const query = queryOf(request);
      const { exchanges, total, next } = await operations.list(query);
      const view = {
        historyLength: request.historyLength,
        artifacts: request.includeArtifacts ?? false,
      };
      return {
        tasks: exchanges.map((exchange) => taskOf(exchange, view)),
        ...{ nextPageToken: next, pageSize: query.size, totalSize: total },
      };
    },
    cancelTask: async ({ id }) => taskOf(await operations.cancel(exchangeOf(id))),
    async *resubscribe({ id }) {
      const exchange = await operations.get(exchangeOf(id));
      if (isFinal(exchange.state)) {
        throw new UnsupportedOperationError("The task is over: there is nothing to subscribe to");
      }
      yield firstOf(exchange);
      const watch = await watched(operations.watch(exchange.id, caller.holder.progress));
      yield* follow(exchange, watch, isFinal);
    },
    async createTaskPushNotificationConfig(config) {
      needPush();
      const exchange = exchangeOf(config.taskId);
      const wanted = pushOf(config, newId);
      const [kept] = await operations.push(exchange, { kind: "set", config: wanted });
      return pushConfigOf(exchange, kept ?? wanted);
    },
    async getTaskPushNotificationConfig({ taskId, id }) {
      needPush();
      const exchange = exchangeOf(taskId);
      const [found] = await operations.push(exchange, { kind: "get", id });
      if (found === undefined) throw new TaskNotFoundError("There is no such configuration");
      return pushConfigOf(exchange, found);
    },
    async listTaskPushNotificationConfigs({ taskId }) {
      needPush();
      const exchange = exchangeOf(taskId);
      const configs = await operations.push(exchange, { kind: "list" });
      return { configs: configs.map((each) => pushConfigOf(exchange, each)), nextPageToken: "" };
    },
    async deleteTaskPushNotificationConfig({ taskId, id }) {
      needPush();
      await operations.push(exchangeOf(taskId), { kind: "delete", id });
    },
  });
}

/** The media types that a card declares. */
function modesOf({ defaultInputModes, defaultOutputModes, skills }: AgentCard): Modes {
  const input = [...defaultInputModes, ...skills.flatMap((skill) => skill.inputModes)];
  const output = [...defaultOutputModes, ...skills.flatMap((skill) => skill.outputModes)];
  return {
    input: input.length === 0 ? MODES.input : input,
    output: output.length === 0 ? MODES.output : output,
  };
}

/** Tasks of a page by default. */
const DEFAULT_PAGE_SIZE = 50;
const Asked = Query.omit({ peer: true }).strict();

/** The query of ListTasks (A2A 1.0, section 3.1.4). The starter checks the page token, which is opaque. */
function queryOf(request: ListTasksRequest): Omit<PeerQuery, "peer"> {
  const state = exchangeState(request.status);
  const since = request.statusTimestampAfter;
  const read = Asked.safeParse({
    ...request.contextId === "" ? {} : { context: request.contextId },
    ...state === undefined ? {} : { state },
    ...since === undefined ? {} : { since: Date.parse(since) },
    size: request.pageSize ?? DEFAULT_PAGE_SIZE,
    ...request.pageToken === "" ? {} : { page: request.pageToken },
  });
  if (!read.success) throw malformed("the query does not fit");
  return read.data;
}
