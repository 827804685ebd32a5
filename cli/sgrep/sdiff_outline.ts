/** The shape of a document: sections, how long they are, how their argument goes. @module */

/** What a sentence does for its argument, by the words that it begins with. */
export type Move =
  | "contrast"
  | "consequence"
  | "reason"
  | "example"
  | "condition"
  | "addition"
  | "sequence";

/** One section: a heading and what stands under it, before the next heading of any level. */
export interface Section {
  /** Headings above it and its own, outermost first; empty before the first heading. */
  readonly path: readonly string[];
  /** 1 to 6; 0 before the first heading. */
  readonly level: number;
  /** Of its heading, from 1. */
  readonly line: number;
  readonly paragraphs: number;
  readonly items: number;
  /** Blocks of code. */
  readonly code: number;
  readonly words: readonly string[];
  /** Moves in order; the same one twice in a row is one. */
  readonly flow: readonly Move[];
}

const MOVES: readonly (readonly [Move, RegExp])[] = [
  [
    "contrast",
    /^(?:but|however|yet|although|though|nevertheless|nonetheless|instead|conversely|whereas|on the other hand|by contrast|despite)\b/i,
  ],
  [
    "consequence",
    /^(?:therefore|thus|hence|so|consequently|accordingly|as a result|it follows)\b/i,
  ],
  [
    "reason",
    /^(?:because|since|as shown|according to|the reason|given that|this is why|for this reason)\b/i,
  ],
  ["example", /^(?:for example|for instance|e\.g\.|such as|consider|suppose|imagine)/i],
  ["condition", /^(?:if|unless|provided|assuming|when|where|as long as|only if)\b/i],
  ["addition", /^(?:moreover|furthermore|also|in addition|besides|likewise|similarly|and)\b/i],
  [
    "sequence",
    /^(?:first|firstly|second|secondly|third|then|next|finally|lastly|afterwards|before|after)\b/i,
  ],
];
const LINES = 200_000;

function moveOf(sentence: string): Move | undefined {
  return MOVES.find(([, words]) => words.test(sentence))?.[0];
}

function movesOf(text: string): readonly Move[] {
  // Clauses after a comma or semicolon argue, too: "it is short, because …".
  const sentences = text.split(/(?<=[.!?;:,])\s+/).map((each) => each.trim());
  return sentences.flatMap((each) => {
    const move = moveOf(each);
    return move === undefined ? [] : [move];
  });
}

interface Draft {
  path: string[];
  level: number;
  line: number;
  lines: string[];
  code: number;
}

function finished({ path, level, line, lines, code }: Draft): Section {
  const blocks = lines.join("\n").split(/\n\s*\n/).map((each) => each.trim())
    .filter((each) => each !== "");
  const isItem = (each: string): boolean => /^(?:[-*+]|\d+[.)])\s/.test(each);
  const items = lines.filter((each) => isItem(each.trim())).length;
  const flow: Move[] = [];
  for (const block of blocks) {
    for (const move of movesOf(block.replace(/\s+/g, " "))) {
      if (flow.at(-1) !== move) flow.push(move);
    }
  }
  return {
    ...{ path, level, line, items, code, flow },
    paragraphs: blocks.filter((each) => !isItem(each)).length,
    words: lines.join(" ").toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [],
  };
}

/** Reads a document's sections: headings of Markdown, with `#` or underlined; code is counted, not read. */
export function outlineOf(text: string): readonly Section[] {
  const lines = text.replace(
    /^---\n[\s\S]*?\n---\n/,
    (front) => "\n".repeat(front.split("\n").length - 1),
  )
    .split(/\r?\n/).slice(0, LINES);
  const sections: Section[] = [];
  const above: { readonly level: number; readonly title: string }[] = [];
  let draft: Draft = { path: [], level: 0, line: 1, lines: [], code: 0 };
  let fence: string | undefined;
  const open = (level: number, title: string, line: number): void => {
    sections.push(finished(draft));
    while ((above.at(-1)?.level ?? 0) >= level) above.pop();
    above.push({ level, title });
    draft = { path: above.map((each) => each.title), level, line, lines: [], code: 0 };
  };
  lines.forEach((line, n) => {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark !== undefined && mark.startsWith(fence)) fence = undefined;
      return;
    }
    if (mark !== undefined) {
      fence = mark;
      draft.code += 1;
      return;
    }
    const [, marks = "", title = ""] = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/.exec(line) ?? [];
    if (marks !== "") return open(marks.length, title, n + 1);
    const last = draft.lines.at(-1)?.trim() ?? "";
    const under = /^ {0,3}(=+|-+)\s*$/.exec(line)?.[1];
    const before = draft.lines.at(-2)?.trim() ?? "";
    if (under !== undefined && last !== "" && before === "" && !/^[-*+>|]/.test(last)) {
      draft.lines.pop();
      return open(under.startsWith("=") ? 1 : 2, last, n);
    }
    draft.lines.push(line);
  });
  sections.push(finished(draft));
  const [first] = sections;
  // What stands before the first heading counts only if something does.
  return first !== undefined && first.level === 0 && first.words.length === 0 && first.code === 0
    ? sections.slice(1)
    : sections;
}
