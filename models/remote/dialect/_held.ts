/** What may become a call: held back until it is one, or none. @module */
import { fencedCall, hermesCall, type TextCall } from "./_call.ts";
import { makeFenceScan } from "./_fence_scan.ts";
import { makeObjectScan, type ScanState } from "./_object_scan.ts";
import { TAGS } from "./_tag.ts";

/** A call that may be under way. */
export interface Held {
  /** The opening mark. */
  readonly opener: string;
  /** What came since. */
  readonly parts: string[];
  /** The text from `from` on is next. */
  push(text: string, from: number): ScanState;
  /** The call in everything behind the mark; undefined when it is none. */
  call(body: string): TextCall | undefined;
  /** Whether all behind the mark is read anew where the text ends before this does. */
  readonly anew: boolean;
}

/** Begins to hold what follows `<tool_call>`. */
export function holdObject(opener: string): Held {
  const scan = makeObjectScan();
  return {
    opener,
    parts: [],
    push: scan.push,
    call(body) {
      if (scan.whole()) return hermesCall(body);
      return body.endsWith(TAGS.hermesEnd)
        ? hermesCall(body.slice(0, -TAGS.hermesEnd.length))
        : undefined;
    },
    anew: true,
  };
}

/** Begins to hold what follows the opening line of a fence. */
export function holdFence(opener: string, advertised: ReadonlySet<string>): Held {
  const scan = makeFenceScan();
  return {
    opener,
    parts: [],
    push: scan.push,
    call: (body) => fencedCall(body.slice(0, scan.inner()), advertised),
    // A fence in a fence would be followed to the end again and again.
    anew: false,
  };
}
