/** Where a call or a thought begins in a model's text. @module */
import type { Dialect } from "../../../contracts/model_config.ts";

/** The mark at which each dialect begins. */
export const TAGS = Object.freeze({
  think: "<think>",
  thinkEnd: "</think>",
  hermes: "<tool_call>",
  hermesEnd: "</tool_call>",
});

const FENCE = /^ {0,3}```(?:json|tool_call)[ \t\r]{0,8}\n/;
/** What {@link FENCE} may become once more characters come. */
const FENCE_PART =
  /^ {0,3}(?:`{0,3}|```(?:j|js|jso|t|to|too|tool|tool_|tool_c|tool_ca|tool_cal)|```(?:json|tool_call)[ \t\r]{0,8})$/;
/** Longer than any match of {@link FENCE}. */
const FENCE_REACH = 32;

const LESS = 0x3c;
const TICK = 0x60;
const SPACE = 0x20;
const NEWLINE = 0x0a;

/** What was found at `at`; `part`: the text ends before it can be told. */
export interface Opener {
  readonly kind: Dialect | "part";
  readonly at: number;
  /** Length of the opening mark. */
  readonly length: number;
}

/**
 * The first opener in `text` from `from` on. `lineStart` tells whether `from` is the start of a line.
 * Looks at each character once.
 */
export function findOpener(
  text: string,
  { from, lineStart, names }: {
    readonly from: number;
    readonly lineStart: boolean;
    readonly names: ReadonlySet<Dialect>;
  },
): Opener | undefined {
  const fenced = names.has("fenced");
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === LESS) {
      const found = tagAt(text, at, names);
      if (found !== undefined) return found;
    } else if (fenced && (code === TICK || code === SPACE)) {
      const starts = at === from ? lineStart : text.charCodeAt(at - 1) === NEWLINE;
      const found = starts ? fenceAt(text, at) : undefined;
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function tagAt(text: string, at: number, names: ReadonlySet<Dialect>): Opener | undefined {
  for (const kind of ["think", "hermes"] as const) {
    if (!names.has(kind)) continue;
    const tag = TAGS[kind];
    if (text.startsWith(tag, at)) return { kind, at, length: tag.length };
    if (text.length - at < tag.length && tag.startsWith(text.slice(at))) {
      return { kind: "part", at, length: 0 };
    }
  }
  return undefined;
}

function fenceAt(text: string, at: number): Opener | undefined {
  const rest = text.slice(at, at + FENCE_REACH);
  const found = FENCE.exec(rest);
  if (found !== null) return { kind: "fenced", at, length: found[0].length };
  return FENCE_PART.test(rest) ? { kind: "part", at, length: 0 } : undefined;
}

/** How many characters at the end of `text` may be the beginning of `tag`. */
export function partAtEnd(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(tag.slice(0, length))) return length;
  }
  return 0;
}
