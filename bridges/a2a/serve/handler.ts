/**
 * The protocol's operations for one caller, as the SDK's transport handlers want them: each is one request to the starter.
 * No store, no executor, no event bus: the kernel's exchange is the one truth. A2A 1.0, section 3.1.
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
import type { Desk, KnownCaller, Watch } from "./starter.ts";
import { exchangeOf, MODES, type Modes, pushOf, sayOf } from "./incoming_message.ts";
import { directOf, exchangeState, isFinal, isSettled, pushConfigOf, taskOf } from "./task.ts";
import { firstOf, makeTeller } from "./stream_events.ts";
import { malformed } from "./refusal.ts";

interface HandlerParts {
  readonly desk: Desk;
  readonly caller: KnownCaller;
  newId(): string;
  readonly after: (ms: number, then: () => void) => () => void;
  /** Longest that a blocking request waits, milliseconds. */
  readonly blockMs: number;
  /** Nobody waits for the answer any more: what is watched for it is let go. */
  readonly signal: AbortSignal;
  /** The request's `traceparent`. */
  readonly trace?: string | undefined;
}

/** Makes it. */
export function makeHandler(parts: HandlerParts): A2ARequestHandler {
  const { desk, caller, newId, signal } = parts;

  /** A watch that also ends when nobody waits any more: an operation that waits for events cannot be ended otherwise. */
  const watched = async (begun: Promise<Watch>): Promise<Watch> => {
    const watch = await begun;
    if (signal.aborted) watch.stop();
    else signal.addEventListener("abort", watch.stop, { once: true });
    return watch;
  };

  const card = async (): Promise<AgentCard> =>
    AgentCard.fromJSON(parseJson((await desk.card()).card));

  /** Every card takes and gives plain text: only what is more is looked up. */
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
    const said = sayOf(request, { token: caller.token, modes: await modes(request), newId });
    const { trace } = parts;
    return trace === undefined ? said : { ...said, say: { ...said.say, trace } };
  };

  /** Refused where the peer may have no deliveries: the same for every task, so nothing is told of any. */
  const needPush = (): void => {
    if (!caller.holder.push) throw new PushNotificationNotSupportedError();
  };

  /** The exchange when it is the peer's turn or over, or as it is after the longest wait. */
  const settled = async (watch: Watch): Promise<Exchange> => {
    const giveUp = parts.after(parts.blockMs, watch.stop);
    let latest = watch.first;
    try {
      while (!isSettled(latest.state)) {
        const event = await watch.next();
        if (event === undefined) return await desk.get(latest.id);
        if (event.kind === "state") latest = event.exchange;
      }
      return latest;
    } finally {
      giveUp();
      watch.stop();
    }
  };

  /** What happens to an exchange, after `from`. */
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
      const told = returnImmediately
        ? await desk.send(say)
        : await settled(await watched(desk.sendWatched(say, false)));
      return directOf(told) ?? taskOf(told, { historyLength });
    },
    async *sendMessageStream(request) {
      const { say } = await asked(request);
      const watch = await watched(desk.sendWatched(say, caller.holder.progress));
      yield firstOf(watch.first);
      yield* follow(watch.first, watch, isSettled);
    },
    getTask: async ({ id, historyLength }) =>
      taskOf(await desk.get(exchangeOf(id)), { historyLength }),
    async listTasks(request) {
      const query = queryOf(request);
      const { exchanges, total, next } = await desk.list(query);
      const view = {
        historyLength: request.historyLength,
        artifacts: request.includeArtifacts ?? false,
      };
      return {
        tasks: exchanges.map((exchange) => taskOf(exchange, view)),
        ...{ nextPageToken: next, pageSize: query.size, totalSize: total },
      };
    },
    cancelTask: async ({ id }) => taskOf(await desk.cancel(exchangeOf(id))),
    async *resubscribe({ id }) {
      const exchange = await desk.get(exchangeOf(id));
      if (isFinal(exchange.state)) {
        throw new UnsupportedOperationError("The task is over: there is nothing to subscribe to");
      }
      yield firstOf(exchange);
      const watch = await watched(desk.watch(exchange.id, caller.holder.progress));
      yield* follow(exchange, watch, isFinal);
    },
    async createTaskPushNotificationConfig(config) {
      needPush();
      const exchange = exchangeOf(config.taskId);
      const wanted = pushOf(config, newId);
      const [kept] = await desk.push(exchange, { kind: "set", config: wanted });
      return pushConfigOf(exchange, kept ?? wanted);
    },
    async getTaskPushNotificationConfig({ taskId, id }) {
      needPush();
      const exchange = exchangeOf(taskId);
      const [found] = await desk.push(exchange, { kind: "get", id });
      if (found === undefined) throw new TaskNotFoundError("There is no such configuration");
      return pushConfigOf(exchange, found);
    },
    async listTaskPushNotificationConfigs({ taskId }) {
      needPush();
      const exchange = exchangeOf(taskId);
      const configs = await desk.push(exchange, { kind: "list" });
      return { configs: configs.map((each) => pushConfigOf(exchange, each)), nextPageToken: "" };
    },
    async deleteTaskPushNotificationConfig({ taskId, id }) {
      needPush();
      await desk.push(exchangeOf(taskId), { kind: "delete", id });
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

// ListTasks: A2A 1.0, section 3.1.4.

/** Tasks of a page where nobody says how many. */
const SIZE = 50;
const Asked = Query.omit({ peer: true }).strict();

/** The query. A page token is our own and opaque: the starter says whether it is one. */
function queryOf(request: ListTasksRequest): Omit<PeerQuery, "peer"> {
  const state = exchangeState(request.status);
  const since = request.statusTimestampAfter;
  const read = Asked.safeParse({
    ...request.contextId === "" ? {} : { context: request.contextId },
    ...state === undefined ? {} : { state },
    ...since === undefined ? {} : { since: Date.parse(since) },
    size: request.pageSize ?? SIZE,
    ...request.pageToken === "" ? {} : { page: request.pageToken },
  });
  if (!read.success) throw malformed("the query does not fit");
  return read.data;
}
