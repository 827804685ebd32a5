/** A task whose conversation begins with a copy of another's. @module */
import { ChatMessage } from "../../contracts/chat.ts";
import { Colour, Label, mixColour, mixLabel } from "../../contracts/colour.ts";
import { Fault } from "../../contracts/fault.ts";
import { TaskId } from "../../contracts/ids.ts";
import { isObject, toJson } from "../../contracts/json.ts";
import { Source } from "../../contracts/question.ts";
import type { JsonObject, NewEvent } from "../../contracts/mod.ts";
import { mixedOf } from "../context/summary.ts";
import type { Replay } from "./replay.ts";
import { COLOUR_OR_RED, LABEL_OR_SECRET } from "./read_events.ts";

/** Where a conversation comes from. */
export interface ForkOrigin {
  readonly task: TaskId;
  /** The last turn that was copied. */
  readonly turn: number;
  /** Nothing was asked yet: it waits for its next message. */
  readonly idle: boolean;
  readonly history: readonly ChatMessage[];
  readonly colour: Colour;
  readonly label: Label;
  readonly sources: readonly Source[];
}

/** Reads the origin in a `taskCreated` event; undefined when there is none. */
export function forkIn(body: JsonObject, secret: JsonObject | undefined): ForkOrigin | undefined {
  const fork = body["fork"];
  if (!isObject(fork)) return undefined;
  const { task, turn, idle } = fork;
  const from = TaskId.safeParse(task);
  const history = ChatMessage.array().safeParse(secret?.["history"]);
  const sources = Source.array().safeParse(secret?.["sources"] ?? []);
  if (!from.success || !history.success || !sources.success) {
    throw new Fault("storeCorrupt", "Cannot read a forked conversation: its start does not parse");
  }
  return {
    task: from.data,
    turn: Number(turn),
    idle: idle === true,
    history: history.data,
    colour: COLOUR_OR_RED.parse(body["colour"]),
    label: LABEL_OR_SECRET.parse(body["label"]),
    sources: sources.data,
  };
}

/** What a fork's `taskCreated` event holds beside the request. */
export function forkOf(
  replay: Pick<Replay, "conversation" | "colour" | "label" | "sources">,
  from: { readonly task: TaskId; readonly turn: number; readonly idle: boolean },
): Required<Pick<NewEvent, "body" | "private">> {
  // The system message is made anew, of the fork's own mounts and agent.
  const history = replay.conversation.slice(1);
  const mixed = mixedOf(history);
  return {
    body: {
      fork: { ...from },
      colour: mixColour(replay.colour, mixed.colour),
      label: mixLabel(replay.label, mixed.label),
    },
    private: { history: toJson(history), sources: toJson(replay.sources) },
  };
}
