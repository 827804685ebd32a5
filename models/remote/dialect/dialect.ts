/**
 * Takes calls and thoughts out of a model's text while it streams. What is not plainly one stays text,
 * unit for unit; what may become one is held back until that is known.
 * @module
 */
import type { Dialect } from "../../../contracts/model_config.ts";
import { type Held, holdFence, holdObject } from "./_held.ts";
import type { ScanState } from "./_object_scan.ts";
import { findOpener, partAtEnd, TAGS } from "./_tag.ts";
import { makeOuts, type Out } from "./out.ts";

/** A text under way. */
export interface DialectStream {
  /** What `delta` makes certain. */
  text(delta: string): readonly Out[];
  /** What was held back: the text has ended. */
  end(): readonly Out[];
}

/** Text to be read from `at` on; nothing follows it when it is the `last`. */
interface Rest {
  readonly text: string;
  readonly at: number;
  readonly last: boolean;
}

/**
 * Makes a reader of `names`. `hermes`: `<tool_call>{"name":…,"arguments":{…}}</tool_call>`; `fenced`: a
 * fence `json` or `tool_call` that holds nothing but a call of an `advertised` tool; `think`:
 * `<think>…</think>`; `thinking`: what stands before the first `</think>`, and text after all where
 * there is none. The text's end closes what is whole but for its closing mark. Time is linear.
 */
export function makeDialect(
  names: readonly Dialect[],
  advertised: ReadonlySet<string>,
): DialectStream {
  const known: ReadonlySet<Dialect> = new Set(names);
  const outs = makeOuts();
  let thinking = known.has("thinking");
  /** The thought with which the text began, until it ends. */
  let opening: string[] | undefined = thinking ? [] : undefined;
  let held: Held | undefined;
  /** The beginning of a mark, at most: it is short. */
  let waiting = "";
  let lineStart = true;

  function giveText(text: string): void {
    if (text === "") return;
    outs.text(text);
    lineStart = text.endsWith("\n");
  }

  function giveThought(text: string): void {
    outs.rationale(text);
    opening?.push(text);
  }

  function readThought({ text, at, last }: Rest): Rest {
    const close = text.indexOf(TAGS.thinkEnd, at);
    if (close >= 0) {
      giveThought(text.slice(at, close));
      thinking = false;
      opening = undefined;
      lineStart = true;
      return { text, at: close + TAGS.thinkEnd.length, last };
    }
    const keep = last ? 0 : partAtEnd(text.slice(at), TAGS.thinkEnd);
    giveThought(text.slice(at, text.length - keep));
    waiting = text.slice(text.length - keep);
    return { text, at: text.length, last };
  }

  function readPlain({ text, at, last }: Rest): Rest {
    const opener = findOpener(text, { from: at, lineStart, names: known });
    if (opener === undefined || (opener.kind === "part" && last)) {
      giveText(text.slice(at));
      return { text, at: text.length, last };
    }
    giveText(text.slice(at, opener.at));
    if (opener.kind === "part") {
      waiting = text.slice(opener.at);
      return { text, at: text.length, last };
    }
    const mark = text.slice(opener.at, opener.at + opener.length);
    if (opener.kind === "think") thinking = true;
    else held = opener.kind === "hermes" ? holdObject(mark) : holdFence(mark, advertised);
    return { text, at: opener.at + opener.length, last };
  }

  function readHeld(now: Held, { text, at, last }: Rest): Rest {
    const state: ScanState = now.push(text, at);
    if (state.kind === "open" && !last) {
      now.parts.push(text.slice(at));
      return { text, at: text.length, last };
    }
    held = undefined;
    const end = state.kind === "done" ? state.end : text.length;
    now.parts.push(text.slice(at, end));
    const body = now.parts.join("");
    const call = state.kind === "dead" ? undefined : now.call(body);
    if (call !== undefined) {
      outs.call(call);
      lineStart = true;
      return { text, at: end, last };
    }
    giveText(now.opener);
    if (state.kind === "dead" || (state.kind === "open" && now.anew)) {
      return { text: body, at: 0, last };
    }
    giveText(body);
    return { text, at: end, last };
  }

  function read(text: string, last: boolean): void {
    let rest: Rest = { text, at: 0, last };
    while (rest.at < rest.text.length || (last && held !== undefined)) {
      if (held !== undefined) rest = readHeld(held, rest);
      else rest = thinking ? readThought(rest) : readPlain(rest);
    }
  }

  return Object.freeze<DialectStream>({
    text(delta) {
      const text = waiting + delta;
      waiting = "";
      read(text, false);
      return outs.take();
    },
    end() {
      const text = waiting;
      waiting = "";
      read(text, true);
      // It was no thought: an answer is not lost because it was taken for one.
      if (opening !== undefined) giveText(opening.join(""));
      return outs.take();
    },
  });
}
