/**
 * The client of the Agent Client Protocol, version 1: one session, one prompt, neither files nor
 * terminals. It runs within the agent's walls, so its messages and answers carry no authority. Used
 * by client_powers.ts.
 * @module
 */
import { isList, type Json, type JsonObject } from "../../../contracts/base/json.ts";

/** The streams to the agent. */
export interface Wire {
  /** The agent's messages; ends with its output. */
  readonly lines: AsyncIterable<string>;
  send(line: string): Promise<void>;
}

/** Shows the agent's work. */
export interface Shown {
  /** A piece of its answer. */
  text(piece: string): void;
  /** A step of its work, a line. */
  step(line: string): void;
}

/** The agent's name for the server of its task's tools. */
const TOOLS = "remit";
/** Characters of a step that are shown, at most. */
const MAX_STEP = 300;

/** The protocol's error code for a missing login. */
const LOGIN = -32_000;
const NO_LOGIN =
  "it wants a login of its own. A login by subscription does not work within its walls: it needs a " +
  "browser, and hosts beside its provider's. A key of an API does: the relay puts it in, and the agent needs none " +
  '("remit agent show NAME" names the secret)';

type Pending = (message: JsonObject) => void;

/** A failure of the agent, in its own words. */
export class AgentFailure extends Error {
  override readonly name = "AgentFailure";
}

const objectIn = (value: Json | undefined): JsonObject =>
  value === undefined || value === null || typeof value !== "object" || isList(value) ? {} : value;
const textIn = (value: Json | undefined): string => typeof value === "string" ? value : "";

/** Sends a request in a new session; resolves with the stop reason. @throws AgentFailure */
export async function handOver(
  wire: Wire,
  { cwd, request, tools, ready }: {
    readonly cwd: string;
    readonly request: string;
    /** URL of the task's tools, and the program that relays messages for an agent without HTTP. */
    readonly tools?: { readonly url: string; readonly words: readonly string[] } | undefined;
    /** Resolves when the agent's folder is prepared; the session starts then. */
    readonly ready: Promise<unknown>;
  },
  shown: Shown,
): Promise<string> {
  const pending = new Map<number, Pending>();
  let last = 0;
  const send = (message: JsonObject): Promise<void> =>
    wire.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  const ask = async (method: string, params: JsonObject): Promise<JsonObject> => {
    const id = ++last;
    const { promise, resolve } = Promise.withResolvers<JsonObject>();
    pending.set(id, resolve);
    await send({ id, method, params });
    const answer = await promise;
    if (answer["error"] === undefined) return objectIn(answer["result"]);
    const { code, message, data } = objectIn(answer["error"]);
    const more = data === undefined ? "" : ` (${JSON.stringify(data).slice(0, MAX_STEP)})`;
    const why = code === LOGIN || /log ?in|logged in|authenticat/i.test(textIn(message))
      ? `\n${NO_LOGIN}`
      : "";
    throw new AgentFailure(
      `${method}: ${textIn(message)} [${JSON.stringify(code ?? null)}]${more}${why}`,
    );
  };
  const reading = (async (): Promise<never> => {
    for await (const line of wire.lines) {
      const message = parsed(line);
      // Some agents write logs to standard output.
      if (message === undefined) continue;
      if (typeof message["method"] === "string") await hear(message, { send, shown });
      else {
        const id = message["id"];
        const waiting = typeof id === "number" ? pending.get(id) : undefined;
        if (waiting === undefined) continue;
        pending.delete(Number(id));
        waiting(message);
      }
    }
    throw new AgentFailure("it ended before it answered");
  })();
  const turn = async (): Promise<string> => {
    const { agentCapabilities } = await ask("initialize", {
      protocolVersion: 1,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
      clientInfo: { name: "remit", version: "1" },
    });
    await ready;
    const mcpServers = tools === undefined ? [] : [toolServer(tools, objectIn(agentCapabilities))];
    const { sessionId } = await ask("session/new", { cwd, mcpServers });
    const { stopReason } = await ask("session/prompt", {
      sessionId: sessionId ?? null,
      prompt: [{ type: "text", text: request }],
    });
    return textIn(stopReason);
  };
  return await Promise.race([turn(), reading]);
}

/** Every agent accepts a program; one that accepts a URL needs no further process. */
function toolServer(
  { url, words: [command = "", ...args] }: {
    readonly url: string;
    readonly words: readonly string[];
  },
  capabilities: JsonObject,
): JsonObject {
  return objectIn(capabilities["mcpCapabilities"])["http"] === true
    ? { type: "http", name: TOOLS, url, headers: [] }
    : { name: TOOLS, command, args, env: [] };
}

async function hear(
  { id, method, params }: JsonObject,
  { send, shown }: { send(message: JsonObject): Promise<void>; readonly shown: Shown },
): Promise<void> {
  const body = objectIn(params);
  if (method === "session/update") {
    const update = objectIn(body["update"]);
    if (update["sessionUpdate"] === "agent_message_chunk") {
      shown.text(textIn(objectIn(update["content"])["text"]));
    } else if (update["sessionUpdate"] === "tool_call") {
      shown.step(`tool: ${textIn(update["title"])}`.slice(0, MAX_STEP));
    }
    return;
  }
  if (id === undefined) return;
  if (method === "session/request_permission") {
    const options = isList(body["options"] ?? null) ? body["options"] as readonly Json[] : [];
    const once = options.map(objectIn).find(({ kind }) => kind === "allow_once") ??
      options.map(objectIn).find(({ kind }) => kind === "allow_always");
    const title = textIn(objectIn(body["toolCall"])["title"]);
    shown.step(
      `asked: ${title}: ${once === undefined ? "no option allows it" : "allowed within its walls"}`
        .slice(0, MAX_STEP),
    );
    const outcome = once === undefined
      ? { outcome: "cancelled" }
      : { outcome: "selected", optionId: once["optionId"] ?? null };
    await send({ id, result: { outcome } });
    return;
  }
  await send({ id, error: { code: -32601, message: `${textIn(method)} is not offered` } });
}

function parsed(line: string): JsonObject | undefined {
  try {
    const value = JSON.parse(line) as Json;
    return value !== null && typeof value === "object" && !isList(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
