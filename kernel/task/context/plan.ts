/**
 * Which messages are removed when the context window is full: the oldest exchanges, each call together with its results.
 * Used by change.ts and summary.ts.
 * @module
 */
import type { ChatMessage } from "../../../contracts/model/mod.ts";
import type { ContextMethod, ContextTag } from "../../../contracts/wire/mod.ts";
import { CHARS_A_TOKEN, estimateTokens } from "../../../contracts/model/tokens.ts";

/** From this share of the window on the process gets SIGCTXPRESSURE. */
export const PRESSED = 0.8;

/** From this share on room is made even where it gains little. */
const FULL = 0.95;
/** The default share of the window after a change. */
export const SHARE = 0.6;

/** A smaller gain than this share of the window is not worth a change that is not urgent. */
const WORTH = 0.1;
/** Tags that are preserved by default. */
export const TAGS: readonly ContextTag[] = ["SYSTEM", "USER_INSTRUCTION", "IMPORTANT"];

/** The window, and the wanted change. */
export interface ContextRoom {
  /** The whole window, tokens. */
  readonly window: number;
  /** Tokens taken by tools and kept for the answer. */
  readonly fixed: number;
  /** Tokens counted by the model for each estimated token. */
  readonly ratio: number;
  readonly method: ContextMethod;
  readonly preserve: readonly ContextTag[];
  /** Indexes of messages that the agent program marked. */
  readonly important: ReadonlySet<number>;
  /** Share of the window to use after the change. */
  readonly share: number;
  /** Tokens that the replacement may take. */
  readonly put: number;
}

/** A range of the conversation to replace. */
export interface ContextPlan {
  readonly from: number;
  /** All messages of the range. */
  readonly replaced: readonly ChatMessage[];
  /** Messages of the range that are removed. */
  readonly evicted: readonly ChatMessage[];
  /** Messages of the range that stay, after the replacement. */
  readonly kept: readonly ChatMessage[];
  /** Tags that preserved some message. */
  readonly preserved: readonly ContextTag[];
}

/** Plans a change; undefined when nothing, or too little, may be removed. */
export function planContext(
  messages: readonly ChatMessage[],
  room: ContextRoom,
): ContextPlan | undefined {
  const { window, fixed, ratio, method, share, put } = room;
  const used = estimateTokens(messages) * ratio + fixed;
  const target = method === "checkpoint" ? 0 : window * share;
  const { groups, newest } = exchangesOf(messages);
  const anchors = anchorsOf(messages);
  const preserved = new Set<ContextTag>();
  if (room.preserve.includes("SYSTEM") && messages[0]?.role === "system") preserved.add("SYSTEM");
  const evicted = new Set<number>();
  let left = used;

  const evict = (keepsTagged: boolean, enough: number): void => {
    for (const group of groups) {
      if (left + put <= enough) return;
      const [first = 0] = group;
      if (evicted.has(first) || first >= newest || group.some((at) => anchors.has(at))) continue;
      const tag = tagOf(group, messages, room);
      if (keepsTagged && tag !== undefined) {
        preserved.add(tag);
        continue;
      }
      for (const at of group) evicted.add(at);
      left -= estimateTokens(group.flatMap((at) => messages[at] ?? [])) * ratio;
    }
  };
  evict(true, target);
  // Tagged messages are removed too before the task cannot continue at all.
  if (left + put > window * PRESSED) evict(false, Math.min(window * PRESSED, used));
  const places = [...evicted].sort((a, b) => a - b);
  const [from] = places;
  const last = places.at(-1);
  if (from === undefined || last === undefined) return undefined;
  const freed = used - left - put;
  const urgent = method === "checkpoint" || share < SHARE || used > window * FULL;
  if (freed <= 0 || (!urgent && freed < window * WORTH)) return undefined;
  const range = messages.slice(from, last + 1);
  const inRange = (stays: boolean): readonly ChatMessage[] =>
    range.filter((_, index) => evicted.has(from + index) !== stays);
  if (anchors.size > 0 && room.preserve.includes("USER_INSTRUCTION")) {
    preserved.add("USER_INSTRUCTION");
  }
  return {
    from,
    replaced: range,
    evicted: inRange(false),
    kept: inRange(true),
    preserved: TAGS.filter((tag) => preserved.has(tag)),
  };
}

/** Cuts results, oldest first, until the conversation fits; undefined when it fits already or cannot. */
export function planShortening(
  messages: readonly ChatMessage[],
  { window, fixed, ratio }: Pick<ContextRoom, "window" | "fixed" | "ratio">,
): { readonly from: number; readonly messages: readonly ChatMessage[] } | undefined {
  let over = Math.ceil((estimateTokens(messages) - (window - fixed) / ratio) * CHARS_A_TOKEN);
  if (over <= 0) return undefined;
  const shortened = [...messages];
  let from: number | undefined;
  for (const [index, message] of messages.entries()) {
    if (message.role !== "tool" || over <= 0) continue;
    const note = `\n[left out: the rest of a result of ${message.content.length} characters]`;
    const length = Math.max(0, message.content.length - over - note.length - CHARS_A_TOKEN);
    if (length + note.length >= message.content.length) continue;
    shortened[index] = { ...message, content: `${wholeCut(message.content, length)}${note}` };
    over -= message.content.length - length - note.length;
    from ??= index;
  }
  return from === undefined || over > 0 ? undefined : { from, messages: shortened.slice(from) };
}

/** The first UTF-16 units of a text, without half a surrogate pair at the end. */
export function wholeCut(text: string, length: number): string {
  const code = text.charCodeAt(length - 1);
  return text.slice(0, code >= 0xd800 && code <= 0xdbff ? length - 1 : length);
}

/** Tells whether a message is a person's own words. */
function isPersons({ role, provenance }: ChatMessage): boolean {
  return role === "user" && (provenance.origin === "operator" || provenance.origin === "person");
}

/** Indexes that are never removed: the first and the last request. */
function anchorsOf(messages: readonly ChatMessage[]): ReadonlySet<number> {
  const persons = messages.flatMap((message, index) => isPersons(message) ? [index] : []);
  // A child's requests come from its parent, not from a person.
  const first = persons[0] ?? messages.findIndex(({ role }) => role === "user");
  return new Set([first, persons.at(-1) ?? first].filter((at) => at >= 0));
}

function tagOf(
  group: readonly number[],
  messages: readonly ChatMessage[],
  { preserve, important }: ContextRoom,
): ContextTag | undefined {
  if (preserve.includes("IMPORTANT") && group.some((at) => important.has(at))) return "IMPORTANT";
  const own = group.some((at) => {
    const message = messages[at];
    return message !== undefined && isPersons(message);
  });
  return own && preserve.includes("USER_INSTRUCTION") ? "USER_INSTRUCTION" : undefined;
}

/** Groups indexes that must stay together: providers refuse a call without its result, and the reverse. */
function exchangesOf(
  messages: readonly ChatMessage[],
): { readonly groups: readonly (readonly number[])[]; readonly newest: number } {
  const groups: number[][] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === "system") continue;
    const last = groups.at(-1);
    if (message.role === "tool" && last !== undefined) last.push(index);
    else groups.push([index]);
  }
  const newest = messages.findLastIndex(({ role }) => role === "assistant");
  return { groups, newest: newest < 0 ? messages.length : newest };
}
