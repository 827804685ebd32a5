/**
 * Which messages give way when the context window is full: the oldest exchanges, a call together with
 * its results.
 * @module
 */
import type { ChatMessage } from "../../../contracts/model/mod.ts";
import type { ContextMethod, ContextTag } from "../../../contracts/wire/mod.ts";
import { CHARS_A_TOKEN, estimateTokens } from "../../../contracts/model/tokens.ts";

/** SIGCTXPRESSURE from this share of the window on. */
export const PRESSED = 0.8;
/** From this share on room is made whoever chooses, and however little it is. */
const FULL = 0.95;
/** Come down to this share when nobody says another. */
export const SHARE = 0.6;
/** Less than this share of the window is not worth a summary, unless it must be. */
const WORTH = 0.1;
/** Tags that are kept when nobody says others. */
export const TAGS: readonly ContextTag[] = ["SYSTEM", "USER_INSTRUCTION", "IMPORTANT"];

/** How much room there is, and what is to be done. */
export interface ContextRoom {
  /** The whole window, tokens. */
  readonly window: number;
  /** Tokens taken by tools and kept for the answer. */
  readonly fixed: number;
  /** Tokens that the model counts for one that is estimated. */
  readonly ratio: number;
  readonly method: ContextMethod;
  readonly preserve: readonly ContextTag[];
  /** Places of messages that the agent program marked. */
  readonly important: ReadonlySet<number>;
  /** Share of the window to come down to. */
  readonly share: number;
  /** Tokens that what is put in place may take. */
  readonly put: number;
}

/** A range of the conversation that is to be replaced. */
export interface ContextPlan {
  readonly from: number;
  /** The whole range, as it was. */
  readonly replaced: readonly ChatMessage[];
  /** What of it gives way. */
  readonly evicted: readonly ChatMessage[];
  /** What of it stays, after the message that is put in place. */
  readonly kept: readonly ChatMessage[];
  /** Tags by which something of the conversation was kept. */
  readonly preserved: readonly ContextTag[];
}

/** Plans; undefined when nothing may give way, or too little to be worth it. */
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
  // Words that were to stay give way too before the task cannot go on at all.
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

/** Cuts results, the oldest first, until all of it fits; undefined when not even that is enough. */
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

/** The first characters of a text, no half of a pair at its end. */
export function wholeCut(text: string, length: number): string {
  const code = text.charCodeAt(length - 1);
  return text.slice(0, code >= 0xd800 && code <= 0xdbff ? length - 1 : length);
}

/** Tells whether a message is a person's own words. */
function isPersons({ role, provenance }: ChatMessage): boolean {
  return role === "user" && (provenance.origin === "operator" || provenance.origin === "person");
}

/** Places that never give way: what was asked first, and last. */
function anchorsOf(messages: readonly ChatMessage[]): ReadonlySet<number> {
  const persons = messages.flatMap((message, index) => isPersons(message) ? [index] : []);
  // A child is asked by its parent, not by a person.
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

/** Places that go together: a call without its answer, or the reverse, is refused by providers. */
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
