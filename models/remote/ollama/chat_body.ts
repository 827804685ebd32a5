/** A request as /api/chat takes it. @module */
import type { Json, JsonObject } from "../../../contracts/json.ts";
import { type CallDialect, callText, resultText, toolsPrompt } from "../dialect/mod.ts";
import type { Prepared } from "../remote_model.ts";

/** What is the same for every request. */
export interface ChatFixed {
  readonly model: string;
  readonly contextTokens: number;
  /** Tools are told in words and calls read from text; absent: by the API. */
  readonly inWords?: CallDialect | undefined;
}

/** The body as JSON text; the same request gives the same bytes. */
export function chatBody(
  request: Prepared,
  { model, contextTokens, inWords }: ChatFixed,
): string {
  const { tools, temperature, seed, stopSequences, responseSchema } = request;
  const free = tools.length === 0;
  const system = [
    request.system ?? "",
    inWords === undefined ? "" : toolsPrompt(tools, inWords),
    // A format binds every token, so that a model could make no call: with tools it is asked for in words.
    responseSchema === undefined || free
      ? ""
      : `Give your final answer as JSON of this schema: ${JSON.stringify(responseSchema)}`,
  ].filter((text) => text !== "").join("\n\n");
  const messages = request.turns.flatMap((turn) =>
    inWords === undefined ? messagesOf(turn) : textsOf(turn, inWords)
  );
  return JSON.stringify({
    model,
    messages: [...(system === "" ? [] : [{ role: "system", content: system }]), ...messages],
    stream: true,
    // Otherwise the beginning of a conversation that is too long is left out in silence.
    truncate: false,
    shift: false,
    ...(free || inWords !== undefined ? {} : {
      tools: tools.map(({ name, description, schema }) => ({
        type: "function",
        function: { name, description, parameters: schema },
      })),
    }),
    ...(responseSchema === undefined || !free ? {} : { format: responseSchema }),
    options: {
      num_ctx: contextTokens,
      num_predict: request.maxTokens,
      ...(temperature === undefined ? {} : { temperature }),
      ...(seed === undefined ? {} : { seed }),
      ...(stopSequences === undefined ? {} : { stop: stopSequences }),
    },
  });
}

type Turn = Prepared["turns"][number];

function messagesOf(turn: Turn): readonly JsonObject[] {
  if (turn.role === "user") return [{ role: "user", content: turn.text }];
  const { text, calls } = turn;
  if (calls.length === 0) return [{ role: "assistant", content: text }];
  return [
    {
      role: "assistant",
      content: text,
      tool_calls: calls.map(({ name, arguments: args }) => ({
        // They are the text of an object: whoever prepared the request saw to that.
        function: { name, arguments: JSON.parse(args) as Json },
      })),
    },
    ...calls.map(({ name, result }) => ({ role: "tool", tool_name: name, content: result })),
  ];
}

function textsOf(turn: Turn, dialect: CallDialect): readonly JsonObject[] {
  if (turn.role === "user" || turn.calls.length === 0) return messagesOf(turn);
  const { text, calls } = turn;
  const said = [text, ...calls.map((call) => callText(call, dialect))];
  return [
    { role: "assistant", content: said.filter((part) => part !== "").join("\n") },
    { role: "user", content: calls.map((call) => resultText(call, dialect)).join("\n") },
  ];
}
