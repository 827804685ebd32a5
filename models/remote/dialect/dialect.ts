/**
 * Extracts calls and thoughts from a model's streamed text. An unreadable text that is clearly meant as a
 * call becomes a call marked wrong; quoted calls (inline code, a fence outside the dialect) remain text. Text
 * that may become a call is held back until that is decided.
 * @module
 */
import type { Dialect } from "../../../contracts/model/model_config.ts";
import { endsInString, makeOuts, type Out } from "./out.ts";
import { type Code, codeAt, codeEnd } from "./_code.ts";
import { type Form, FORMS, type IsText, readBare, readFence, type ReadForm } from "./_forms.ts";

/** A parser of one streamed text. */
export interface DialectStream {
  /** The pieces that `delta` decides. */
  text(delta: string): readonly Out[];
  /** The text has ended: the pieces that were held back. */
  end(): readonly Out[];
}

/** A possible call whose end was not reached yet. */
interface Held {
  readonly open: string;
  readonly parts: string[];
  size: number;
  /** The last characters: a closing marker may be split. */
  tail: string;
  /** Whether `begins` was decided. */
  begun: boolean;
  /** Closing markers seen within a string. */
  within: number;
  /** The first of those markers. */
  first?: { readonly at: number; readonly mark: string };
  readonly close: readonly string[];
  readonly begins?: Form["begins"];
  readonly read: (body: string) => ReadForm;
}

const THINK = "<think>";
const THINK_END = "</think>";
/** Closing markers within strings that are skipped: each requires a new parse from the start. */
const MAX_WITHIN = 16;
/** Characters within which `begins` must decide. */
const BEGINS_CHARS = 512;
/** The end of a fence that may hold a call. */
const FENCE_END = "\n```";

/**
 * Makes a parser for `names`. `hermes`: markers of calls of any family (`_forms.ts`); `fenced`: a fence
 * `json`, `tool_call` or `tool_code` that holds only a call of an `advertised` tool; `bare`: an answer that
 * consists only of such calls; `think`: `<think>…</think>`; `thinking`: everything before the first
 * `</think>`, or plain text if there is none. Linear time.
 */
export function makeDialect(
  names: readonly Dialect[],
  advertised: ReadonlySet<string>,
  isText: IsText = () => false,
): DialectStream {
  const known: ReadonlySet<Dialect> = new Set(names);
  const marks = known.has("hermes") ? FORMS : [];
  const openers = [...marks.map(({ open }) => open), ...(known.has("think") ? [THINK] : [])];
  const fences = known.has("fenced");
  const outs = makeOuts();
  let thinking = known.has("thinking");
  /** The current thought: one that never ends may be the answer. */
  let thought: string[] = [];
  let opened = !thinking;
  let held: Held | undefined;
  /** The current code: nothing is parsed within it. */
  let code: Code | undefined;
  /** Text that is undecided yet; short. */
  let waiting = "";
  let lineStart = true;
  let bare = known.has("bare");

  function giveText(text: string): void {
    if (text === "") return;
    outs.text(text);
    lineStart = text.endsWith("\n");
    if (bare && text.trim() !== "") bare = false;
  }

  function give(read: readonly Out[], closed: boolean): void {
    for (const out of read) {
      if ("call" in out) outs.call({ ...out.call, ...(closed ? { closed } : {}) });
      else if ("text" in out) giveText(out.text);
      else outs.rationale(out.rationale);
    }
    lineStart = true;
    bare = false;
  }

  function wrongCall(body: string, why: string): void {
    const name = /["']?name["']?\s*[:=]\s*["']([^"'\n]{1,128})["']/.exec(body)?.[1] ??
      /(?:function=|call:|to=functions\.|functions\.)([\w.-]{1,128})/.exec(body)?.[1] ??
      /^\s*([A-Za-z_]\w{0,127})/.exec(body)?.[1] ?? "unreadable_call";
    outs.call({ name, arguments: body.trim(), wrong: why });
    lineStart = true;
    bare = false;
  }

  /** Reads a thought. Returns the text behind it. */
  function readThought(text: string, last: boolean): string {
    const close = text.indexOf(THINK_END);
    if (close >= 0) {
      outs.rationale(text.slice(0, close));
      thinking = false;
      opened = true;
      thought = [];
      lineStart = true;
      return text.slice(close + THINK_END.length);
    }
    const keep = last ? 0 : partAtEnd(text, [THINK_END]);
    outs.rationale(text.slice(0, text.length - keep));
    thought.push(text.slice(0, text.length - keep));
    waiting = text.slice(text.length - keep);
    return "";
  }

  /** Reads code. Returns the text behind it. */
  function readCode(now: Code, text: string, last: boolean): string {
    const { to, over } = codeEnd(now, text, { lineStart, last });
    giveText(text.slice(0, to));
    if (over) {
      code = undefined;
      return text.slice(to);
    }
    waiting = text.slice(to);
    return "";
  }

  function hold(form: Pick<Held, "open" | "close" | "begins" | "read">): void {
    held = { ...form, parts: [], size: 0, tail: "", begun: form.begins === undefined, within: 0 };
  }

  /** Reads text up to a possible marker. Returns the text to read next. */
  function readPlain(text: string, last: boolean): string {
    if (bare && /^\s*[[{]/.test(text)) {
      hold({ open: "", close: [], read: (body) => readBare(body, advertised) });
      bare = false;
      return text;
    }
    for (let at = 0; at < text.length; at++) {
      const char = text.charAt(at);
      const starts = at === 0 ? lineStart : text.charAt(at - 1) === "\n";
      if (char === "`" || char === "~" || (char === " " && starts)) {
        const found = codeAt(text, at, { starts, last, fences });
        if (found === "part") {
          giveText(text.slice(0, at));
          waiting = text.slice(at);
          return "";
        }
        if (found === undefined) continue;
        giveText(text.slice(0, at));
        const mark = text.slice(at, at + found.length);
        if (found.kind === undefined) {
          giveText(mark);
          code = { close: found.close, fence: found.fence };
        } else {
          const { kind } = found;
          hold({
            open: mark,
            close: [`${FENCE_END}\n`, `${FENCE_END}\r\n`],
            read: (body) => readFence(kind, body, advertised),
          });
        }
        return text.slice(at + found.length);
      }
      if (char !== "<" && char !== "[") continue;
      const rest = text.slice(at, at + 40);
      const open = openers.find((each) => rest.startsWith(each));
      if (open === undefined) {
        if (last || text.length - at >= 40 || !openers.some((each) => each.startsWith(rest))) {
          continue;
        }
        giveText(text.slice(0, at));
        waiting = text.slice(at);
        return "";
      }
      giveText(text.slice(0, at));
      if (open === THINK) thinking = true;
      else {
        const form = marks.find((each) => each.open === open);
        if (form !== undefined) {
          hold({ ...form, read: (body) => form.read(body, isText) });
        }
      }
      return text.slice(at + open.length);
    }
    giveText(text);
    return "";
  }

  function readHeld(now: Held, text: string, last: boolean): string {
    const before = now.size;
    now.parts.push(text);
    now.size += text.length;
    if (!now.begun && (now.size <= BEGINS_CHARS || before <= BEGINS_CHARS)) {
      const begins = now.begins?.(now.parts.join("").slice(0, BEGINS_CHARS + 64));
      if (begins === false || (begins === undefined && (last || now.size > BEGINS_CHARS))) {
        held = undefined;
        giveText(now.open);
        return now.parts.join("");
      }
      now.begun = begins === true;
    }
    const seen = now.tail + text;
    const offset = before - now.tail.length;
    const longest = Math.max(0, ...now.close.map((mark) => mark.length - 1));
    now.tail = seen.slice(Math.max(0, seen.length - longest));
    for (let from = 0;;) {
      const hit = firstOf(seen, now.close, from);
      if (hit === undefined) break;
      const all = now.parts.join("");
      const at = offset + hit.at;
      const body = all.slice(0, at);
      const read = now.read(body);
      if (typeof read === "string" && now.within < MAX_WITHIN && endsInString(body)) {
        now.first ??= { at, mark: hit.mark };
        now.within += 1;
        from = hit.at + hit.mark.length;
        continue;
      }
      held = undefined;
      return closed(now, body, read, all.slice(at + hit.mark.length), hit.mark);
    }
    if (!last) return "";
    held = undefined;
    const all = now.parts.join("");
    const fence = now.close[0]?.startsWith(FENCE_END) === true ? /\n```[ \t\r]*$/.exec(all) : null;
    if (fence !== null) {
      const body = all.slice(0, fence.index);
      return closed(now, body, now.read(body), "", fence[0]);
    }
    const read = now.read(all);
    // Not a string after all: the first marker was the end.
    if (typeof read === "string" && now.first !== undefined) {
      const { at, mark } = now.first;
      const body = all.slice(0, at);
      return closed(now, body, now.read(body), all.slice(at + mark.length), mark);
    }
    return closed(now, all, read, "", "");
  }

  /** Emits the result of a complete body. Returns the text to read next. */
  function closed(now: Held, body: string, read: ReadForm, rest: string, mark: string): string {
    // The newline behind a fence does not belong to it.
    const after = mark.startsWith("\n") ? mark.slice(FENCE_END.length) + rest : rest;
    if (typeof read === "object") give(read, now.close.length === 0 || mark !== "");
    else if (!givesInner(now, body)) {
      if (read !== undefined) {
        wrongCall(body, mark === "" ? `${read}, and it has no ${now.close[0] ?? "end"}` : read);
      } else if (now.open === "") return body;
      else giveText(now.open + body + mark.slice(0, mark.length + rest.length - after.length));
    }
    return after;
  }

  /** Emits a valid call nested within an unreadable one. */
  function givesInner(now: Held, body: string): boolean {
    const again = now.open === "" ? -1 : body.lastIndexOf(now.open);
    if (again < 0) return false;
    const inner = now.read(body.slice(again + now.open.length));
    if (typeof inner !== "object") return false;
    giveText(now.open + body.slice(0, again));
    give(inner, true);
    return true;
  }

  function read(from: string, last: boolean): void {
    let text = from;
    for (let first = last; text !== "" || (first && held !== undefined); first = false) {
      if (held !== undefined) text = readHeld(held, text, last);
      else if (thinking) text = readThought(text, last);
      else if (code !== undefined) text = readCode(code, text, last);
      else text = readPlain(text, last);
      if (last && text === "" && held !== undefined) first = true;
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
      if (thinking) {
        const whole = thought.join("");
        thought = [];
        thinking = false;
        lineStart = true;
        // There was no thought: the text is the answer.
        if (!opened) read(whole, true);
        else give(lastCalls(whole, names, advertised, isText), true);
      }
      return outs.take();
    },
  });
}

/** The calls at the end of a thought that was never closed: the model meant to make them. */
function lastCalls(
  text: string,
  names: readonly Dialect[],
  advertised: ReadonlySet<string>,
  isText: IsText,
): readonly Out[] {
  if (!names.includes("hermes") && !names.includes("fenced")) return [];
  const inner = makeDialect(
    names.filter((name) => name === "hermes" || name === "fenced"),
    advertised,
    isText,
  );
  const outs = [...inner.text(text), ...inner.end()]
    .filter((out) => !("text" in out) || out.text.trim() !== "");
  const from = outs.findLastIndex((out) => !("call" in out)) + 1;
  return outs.slice(from);
}

/** The first of several markers from `from` on. */
function firstOf(
  text: string,
  marks: readonly string[],
  from: number,
): { readonly at: number; readonly mark: string } | undefined {
  let best: { at: number; mark: string } | undefined;
  for (const mark of marks) {
    const at = text.indexOf(mark, from);
    if (at >= 0 && (best === undefined || at < best.at)) best = { at, mark };
  }
  return best;
}

/** How many characters at the end of `text` may begin a marker. */
export function partAtEnd(text: string, marks: readonly string[]): number {
  const longest = Math.max(...marks.map((mark) => mark.length));
  for (let length = Math.min(longest - 1, text.length); length > 0; length--) {
    const end = text.slice(text.length - length);
    if (marks.some((mark) => mark.length > length && mark.startsWith(end))) return length;
  }
  return 0;
}
