// text_search: the lines that hold a text or match an expression, and where.

import { Json } from "remit/json";
import { answer, fail, failed } from "remit/plugin";
import { Writer } from "remit/writer";
import { flagOf, integerOf, sourceOf, textOf } from "./arguments";
import { behindLast, countByte, findByte, Needle } from "./find";
import { parseRegex, Regex } from "./regex";
import { charactersBefore, RESULT_BYTES, wholeCharacters } from "./shown";
import { Blocks, lineBytes } from "./source";

/** Maximum bytes shown of a line; of a longer one those around the match. */
const SHOWN = 400;
const BEFORE_MATCH = 120;

/** A line as shown. */
class Shown {
  constructor(readonly text: Uint8Array, readonly cut: bool) {}
}

class Found {
  before: Shown[] = [];
  after: Shown[] = [];
  constructor(readonly line: i32, readonly column: i32, readonly shown: Shown) {}
}

export function search(args: Json): void {
  const source = sourceOf(args);
  const query = textOf(args, "query");
  const ignoreCase = flagOf(args, "ignoreCase");
  const isRegex = flagOf(args, "regex");
  const context = integerOf(args, "context", 0, 0, 10);
  const limit = integerOf(args, "limit", 100, 0, 1_000);
  if (query == null || query.length == 0) {
    fail("invalidArguments", "Cannot search: 'query' is empty");
    return;
  }
  if (!isRegex && (query.includes(0x0a) || query.length > 10_000)) {
    fail("invalidArguments", "Cannot search: 'query' must be one line of at most 10000 bytes");
    return;
  }
  // Case folding beyond ASCII needs an expression.
  const literal = !isRegex && !(ignoreCase && hasHigh(query));
  let regex: Regex | null = null;
  if (!literal) regex = parseRegex(isRegex ? query : quoted(query), ignoreCase);
  if (failed()) return;
  const needle = literal ? new Needle(query, ignoreCase) : null;
  const hunt = new Hunt(new Blocks(source), needle, regex, context, limit);
  hunt.run();
  answer(hunt.write());
}

function hasHigh(bytes: Uint8Array): bool {
  for (let i = 0; i < bytes.length; i++) if (bytes[i] >= 0x80) return true;
  return false;
}

function quoted(query: Uint8Array): Uint8Array {
  const out: u8[] = [];
  for (let i = 0; i < query.length; i++) {
    const letter = query[i] | 0x20;
    const plain = query[i] >= 0x80 || (query[i] >= 0x30 && query[i] <= 0x39) ||
      (letter >= 0x61 && letter <= 0x7a);
    // Control characters have no escaped form, and need none.
    if (!plain && query[i] >= 0x20 && query[i] != 0x7f) out.push(0x5c);
    out.push(query[i]);
  }
  const bytes = new Uint8Array(out.length);
  for (let i = 0; i < out.length; i++) bytes[i] = out[i];
  return bytes;
}

class Hunt {
  private found: Found[] = [];
  private count: i32 = 0;
  private shownBytes: i32 = 0;
  private full: bool = false;
  /** Line number at `counted`, an address in this block. */
  private line: i32 = 1;
  private counted: usize = 0;
  /** Last lines of the previous block, for context. */
  private earlier: Shown[] = [];
  /** Lines of context that the last match still needs. */
  private wanting: i32 = 0;

  constructor(
    private blocks: Blocks,
    private needle: Needle | null,
    private regex: Regex | null,
    private context: i32,
    private limit: i32,
  ) {}

  run(): void {
    while (this.blocks.next()) {
      this.counted = this.blocks.base;
      if (this.wanting > 0) this.takeAfter(this.blocks.base);
      this.searchBlock();
      if (failed()) return;
      this.line += countByte(this.counted, this.blocks.end, 0x0a);
      if (this.blocks.end > this.blocks.base && load<u8>(this.blocks.end - 1) != 0x0a) this.line++;
      if (this.context > 0) this.keepEarlier();
    }
  }

  private searchBlock(): void {
    const regex = this.regex;
    const needle = regex == null ? this.needle : regex.needed;
    const end = this.blocks.end;
    let at = this.blocks.base;
    while (at < end) {
      let hit = at;
      if (needle != null) {
        hit = needle.find(at, end);
        if (hit == 0) return;
        at = behindLast(at, hit, 0x0a);
      }
      const newline = findByte(hit, end, 0x0a);
      const bytes = lineBytes(at, newline);
      // The text may have been found in the carriage return, which is not part of the line.
      const matches = regex != null
        ? regex.matches(at, bytes)
        : needle != null && hit + needle.bytes <= at + bytes;
      if (matches) this.take(at, bytes, newline, <i32> (hit - at));
      at = newline + 1;
    }
  }

  private take(at: usize, bytes: i32, newline: usize, hit: i32): void {
    this.count++;
    if (this.found.length >= this.limit || this.shownBytes > RESULT_BYTES) {
      this.full = true;
      return;
    }
    const regex = this.regex;
    const from = regex == null ? hit : max(regex.begins(at, bytes), 0);
    this.line += countByte(this.counted, at, 0x0a);
    this.counted = at;
    const found = new Found(this.line, charactersBefore(at, from) + 1, this.show(at, bytes, from));
    this.takeBefore(found, at);
    this.found.push(found);
    this.wanting = this.context;
    if (this.wanting > 0 && newline < this.blocks.end) this.takeAfter(newline + 1);
  }

  private takeBefore(found: Found, line: usize): void {
    let at = line;
    while (found.before.length < this.context && at > this.blocks.base) {
      const newline = at - 1;
      at = behindLast(this.blocks.base, newline, 0x0a);
      found.before.unshift(this.show(at, lineBytes(at, newline), 0));
    }
    for (let i = this.earlier.length - 1; i >= 0 && found.before.length < this.context; i--) {
      found.before.unshift(this.earlier[i]);
      this.shownBytes += this.earlier[i].text.length;
    }
  }

  private takeAfter(from: usize): void {
    const last = this.found[this.found.length - 1];
    const end = this.blocks.end;
    for (let at = from; at < end && this.wanting > 0; this.wanting--) {
      const newline = findByte(at, end, 0x0a);
      last.after.push(this.show(at, lineBytes(at, newline), 0));
      at = newline + 1;
    }
  }

  private keepEarlier(): void {
    const base = this.blocks.base;
    const kept: Shown[] = [];
    let at = this.blocks.end;
    while (kept.length < this.context && at > base) {
      const newline = load<u8>(at - 1) == 0x0a ? at - 1 : at;
      at = behindLast(base, newline, 0x0a);
      kept.unshift(this.show(at, lineBytes(at, newline), 0));
    }
    for (let i = this.earlier.length - 1; i >= 0 && kept.length < this.context; i--) {
      kept.unshift(this.earlier[i]);
    }
    this.earlier = kept;
  }

  private show(at: usize, bytes: i32, match: i32): Shown {
    let from = bytes <= SHOWN ? 0 : max(min(match - BEFORE_MATCH, bytes - SHOWN), 0);
    from = wholeCharacters(at, bytes, from);
    const length = wholeCharacters(at + from, bytes - from, SHOWN);
    const text = new Uint8Array(length);
    memory.copy(text.dataStart, at + from, length);
    this.shownBytes += length;
    return new Shown(text, length < bytes);
  }

  write(): Writer {
    const out = new Writer().open("{").key("count").integer(this.count).key("matches").open("[");
    let shown = 0;
    for (; shown < this.found.length && out.bytes < RESULT_BYTES; shown++) {
      const found = this.found[shown];
      out.open("{").key("line").integer(found.line).key("column").integer(found.column)
        .key("text").utf8(found.shown.text.dataStart, found.shown.text.length);
      if (found.shown.cut) out.key("cut").bool(true);
      if (this.context > 0) {
        writeLines(out.key("before"), found.before);
        writeLines(out.key("after"), found.after);
      }
      out.close("}");
    }
    out.close("]");
    if (this.full || shown < this.found.length) out.key("more").bool(true);
    if (this.blocks.overlong > 0) out.key("overlong").integer(this.blocks.overlong);
    return out.close("}");
  }
}

function writeLines(out: Writer, lines: Shown[]): void {
  out.open("[");
  for (let i = 0; i < lines.length; i++) out.utf8(lines[i].text.dataStart, lines[i].text.length);
  out.close("]");
}
