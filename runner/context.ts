/**
 * Keeps a conversation inside the context window. Oldest tool results give way first, then oldest
 * exchanges; the system message, the last user message and the newest exchange stay.
 * @module
 */
import type { ChatMessage } from "../contracts/chat.ts";
import type { ToolDescriptor } from "../contracts/tool.ts";

const CHARS_A_TOKEN = 4;
/** Role, separators and ids of a message, in characters. */
const MESSAGE_OVERHEAD = 16;
/** Trim when a request would fill more than this share of the window (SIGCTXPRESSURE). */
const NEAR = 0.8;
/** Trim down to this share, so that it does not happen at every inference. */
const TARGET = 0.6;
/** Trim down to this share when the kernel or the model said that it is too much. */
const SQUEEZED = 0.4;

/** Estimates the tokens of messages: 4 characters a token. */
export function estimateTokens(messages: readonly ChatMessage[]): number {
  let chars = 0;
  for (const message of messages) chars += charsOf(message);
  return Math.ceil(chars / CHARS_A_TOKEN);
}

/** Estimates the tokens of a tool table. */
export function estimateToolTokens(tools: readonly ToolDescriptor[]): number {
  let chars = 0;
  for (const tool of tools) {
    chars += tool.name.length + tool.description.length + tool.paramSchema.length +
      MESSAGE_OVERHEAD;
  }
  return Math.ceil(chars / CHARS_A_TOKEN);
}

/** How much room there is. */
export interface ContextRoom {
  /** The whole window, tokens. */
  readonly window: number;
  /** Tokens taken by tools and kept for the answer. */
  readonly reserved: number;
  /** Make more room than usual. */
  readonly squeeze: boolean;
}

/**
 * Gives the messages to send: the same array when nothing has to give way, undefined when even the
 * least does not fit. Messages that stay are the same objects.
 */
export function fitContext(
  messages: readonly ChatMessage[],
  { window, reserved, squeeze }: ContextRoom,
): readonly ChatMessage[] | undefined {
  const used = (list: readonly ChatMessage[]): number => estimateTokens(list) + reserved;
  if (!squeeze && used(messages) <= window * NEAR) return messages;
  const target = window * (squeeze ? SQUEEZED : TARGET);
  const newest = lastIndexOf(messages, "assistant");
  let kept = shortenResults(messages, (index) => index < newest, (list) => used(list) <= target);
  if (used(kept) > target) kept = dropExchanges(kept, (list) => used(list) <= target);
  if (used(kept) > window) {
    kept = shortenResults(kept, () => true, (list) => used(list) <= window);
  }
  return used(kept) <= window ? kept : undefined;
}

function charsOf(message: ChatMessage): number {
  let chars = message.content.length + MESSAGE_OVERHEAD;
  for (const call of message.toolCalls ?? []) {
    chars += call.id.length + call.name.length + call.arguments.length;
  }
  return chars;
}

function shortenResults(
  messages: readonly ChatMessage[],
  may: (index: number) => boolean,
  enough: (messages: readonly ChatMessage[]) => boolean,
): readonly ChatMessage[] {
  const kept = [...messages];
  for (const [index, message] of messages.entries()) {
    if (message.role !== "tool" || !may(index)) continue;
    const marker = `[left out by the runner: a result of ${message.content.length} characters]`;
    if (message.content.length <= marker.length) continue;
    kept[index] = { ...message, content: marker };
    if (enough(kept)) break;
  }
  return kept;
}

function dropExchanges(
  messages: readonly ChatMessage[],
  enough: (messages: readonly ChatMessage[]) => boolean,
): readonly ChatMessage[] {
  const head = messages.findIndex((message) => message.role !== "system");
  const user = lastIndexOf(messages, "user");
  const newest = lastIndexOf(messages, "assistant");
  if (head < 0) return messages;
  const dropped = new Set<number>();
  let kept = messages;
  for (const group of exchangesOf(messages, head)) {
    if (group.includes(user) || group.includes(newest)) continue;
    for (const index of group) dropped.add(index);
    const rest = messages.filter((_, index) => index >= head && !dropped.has(index));
    kept = [...messages.slice(0, head), leftOut(messages, dropped), ...rest];
    if (enough(kept)) break;
  }
  return kept;
}

/** Indices that go together: a call without its answer, or the reverse, is refused by providers. */
function exchangesOf(
  messages: readonly ChatMessage[],
  from: number,
): readonly (readonly number[])[] {
  const groups: number[][] = [];
  for (let index = from; index < messages.length; index++) {
    const last = groups.at(-1);
    if (messages[index]?.role === "tool" && last !== undefined) last.push(index);
    else groups.push([index]);
  }
  return groups;
}

function leftOut(messages: readonly ChatMessage[], dropped: ReadonlySet<number>): ChatMessage {
  let colour: ChatMessage["provenance"]["colour"] = "BLUE";
  let label: ChatMessage["provenance"]["label"] = "public";
  for (const index of dropped) {
    const from = messages[index]?.provenance;
    if (from === undefined) continue;
    if (from.colour === "RED" || colour === "BLUE") colour = from.colour;
    if (from.label === "secret" || label === "public") label = from.label;
  }
  return {
    role: "user",
    content: `[left out by the runner: ${dropped.size} earlier messages]`,
    provenance: { origin: "agent", colour, label },
  };
}

function lastIndexOf(messages: readonly ChatMessage[], role: ChatMessage["role"]): number {
  return messages.findLastIndex((message) => message.role === role);
}
