/** Reads GBNF as llama.cpp does, for tests: draws sentences, and checks whether a text is one. @module */

/** A part of a grammar. */
export type Node =
  | { readonly kind: "text"; readonly points: readonly number[] }
  | { readonly kind: "class"; readonly not: boolean; readonly ranges: readonly [number, number][] }
  | { readonly kind: "ref"; readonly name: string }
  | { readonly kind: "seq"; readonly parts: readonly Node[] }
  | { readonly kind: "alt"; readonly choices: readonly Node[] }
  | { readonly kind: "times"; readonly what: Node; readonly least: number; readonly most: number };

/** Rules by name. */
export type Grammar = ReadonlyMap<string, Node>;

/** llama.cpp refuses this many repetitions. */
const MAX_TIMES = 2_000;

/** Parses a grammar; throws where llama.cpp would refuse it. */
export function readGrammar(text: string): Grammar {
  const rules = new Map<string, Node>();
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const head = /^([a-zA-Z0-9-]+) ::= /.exec(line);
    if (head === null) throw new Error(`no rule: ${line}`);
    if (rules.has(head[1] ?? "")) throw new Error(`twice: ${line}`);
    rules.set(head[1] ?? "", readRule(line.slice(head[0].length)));
  }
  for (const node of rules.values()) check(node, rules);
  if (!rules.has("root")) throw new Error("no root");
  return rules;
}

function check(node: Node, rules: Grammar): void {
  if (node.kind === "ref" && !rules.has(node.name)) throw new Error(`no rule ${node.name}`);
  if (node.kind === "seq") node.parts.forEach((each) => check(each, rules));
  if (node.kind === "alt") node.choices.forEach((each) => check(each, rules));
  if (node.kind === "times") {
    if (node.most >= MAX_TIMES && node.most !== Infinity) throw new Error("too many times");
    check(node.what, rules);
  }
}

function readRule(source: string): Node {
  let at = 0;
  const space = (): void => {
    while (source[at] === " ") at++;
  };
  const fail = (why: string): never => {
    throw new Error(`${why} at ${at}: ${source}`);
  };
  function point(): number {
    const each = source.codePointAt(at) ?? fail("end");
    at += each > 0xffff ? 2 : 1;
    if (each !== 0x5c) return each;
    const letter = source[at++] ?? "";
    const length = { x: 2, u: 4, U: 8 }[letter];
    if (length !== undefined) {
      const hex = source.slice(at, at + length);
      if (!/^[0-9a-fA-F]+$/.test(hex) || hex.length !== length) fail("no hex");
      at += length;
      return parseInt(hex, 16);
    }
    const plain: Record<string, string> = { t: "\t", r: "\r", n: "\n" };
    if (letter in plain) return plain[letter]?.codePointAt(0) ?? 0;
    if (!'\\"[]'.includes(letter)) fail("unknown escape");
    return letter.codePointAt(0) ?? 0;
  }
  function alternatives(): Node {
    const choices = [sequence()];
    for (space(); source[at] === "|"; space()) {
      at++;
      choices.push(sequence());
    }
    return choices.length === 1 && choices[0] !== undefined ? choices[0] : { kind: "alt", choices };
  }
  function sequence(): Node {
    const parts: Node[] = [];
    for (space(); at < source.length && source[at] !== "|" && source[at] !== ")"; space()) {
      parts.push(repeated(atom()));
    }
    return { kind: "seq", parts };
  }
  function atom(): Node {
    const first = source[at];
    if (first === '"') {
      at++;
      const points: number[] = [];
      while (source[at] !== '"') points.push(point());
      at++;
      return { kind: "text", points };
    }
    if (first === "[") {
      at++;
      const not = source[at] === "^";
      if (not) at++;
      const ranges: [number, number][] = [];
      while (source[at] !== "]") {
        const low = point();
        if (source[at] === "-" && source[at + 1] !== "]") {
          at++;
          ranges.push([low, point()]);
        } else ranges.push([low, low]);
      }
      at++;
      return { kind: "class", not, ranges };
    }
    if (first === "(") {
      at++;
      const inner = alternatives();
      space();
      if (source[at++] !== ")") fail("no )");
      return inner;
    }
    const name = /^[a-zA-Z0-9-]+/.exec(source.slice(at))?.[0] ?? fail("no part");
    at += name.length;
    return { kind: "ref", name };
  }
  function repeated(what: Node): Node {
    if (source[at] === "?") {
      at++;
      return { kind: "times", what, least: 0, most: 1 };
    }
    const counts = /^\{(\d+)(?:,(\d+))?\}/.exec(source.slice(at));
    if (counts === null) return what;
    at += counts[0].length;
    const least = Number(counts[1]);
    const most = Number(counts[2] ?? least);
    if (most < least) fail("most below least");
    return { kind: "times", what, least, most };
  }
  const node = alternatives();
  if (at !== source.length) fail("left over");
  return node;
}

/** Draws a sentence; `random` gives numbers between 0 and 1. */
export function draw(grammar: Grammar, random: () => number): string {
  const pick = (count: number): number => Math.floor(random() * count);
  const of = (node: Node): string => {
    switch (node.kind) {
      case "text":
        return String.fromCodePoint(...node.points);
      case "class":
        return drawFrom(node, random);
      case "ref":
        return of(grammar.get(node.name) ?? { kind: "seq", parts: [] });
      case "seq":
        return node.parts.map(of).join("");
      case "alt":
        return of(node.choices[pick(node.choices.length)] ?? node);
      case "times": {
        // Mostly few repetitions, sometimes the maximum.
        const more = node.most - node.least;
        const count = node.least + (random() < 0.1 ? more : pick(Math.min(more, 3) + 1));
        return Array.from({ length: count }, () => of(node.what)).join("");
      }
    }
  };
  return of({ kind: "ref", name: "root" });
}

function drawFrom(node: Node & { kind: "class" }, random: () => number): string {
  const ranges: readonly [number, number][] = node.not ? outside(node.ranges) : node.ranges;
  const [low, high] = ranges[Math.floor(random() * ranges.length)] ?? [0x61, 0x61];
  return String.fromCodePoint(low + Math.floor(random() * (high - low + 1)));
}

function outside(ranges: readonly [number, number][]): [number, number][] {
  const found: [number, number][] = [];
  let from = 0x20;
  for (const [low, high] of [...ranges].sort(([a], [b]) => a - b)) {
    if (low > from) found.push([from, low - 1]);
    from = high + 1;
  }
  found.push([from, 0xd7ff]);
  return found;
}

/** Whether a text is a sentence of the grammar. */
export function accepts(grammar: Grammar, text: string): boolean {
  const points = [...text].map((each) => each.codePointAt(0) ?? 0);
  const known = new Map<string, ReadonlySet<number>>();
  const ends = (node: Node, from: number): ReadonlySet<number> => {
    switch (node.kind) {
      case "text": {
        const fits = node.points.every((each, n) => points[from + n] === each);
        return new Set(fits ? [from + node.points.length] : []);
      }
      case "class": {
        const each = points[from];
        if (each === undefined) return new Set();
        const within = node.ranges.some(([low, high]) => each >= low && each <= high);
        return new Set(within === node.not ? [] : [from + 1]);
      }
      case "ref": {
        const key = `${node.name} ${from}`;
        const kept = known.get(key);
        if (kept !== undefined) return kept;
        const found = ends(grammar.get(node.name) ?? { kind: "seq", parts: [] }, from);
        known.set(key, found);
        return found;
      }
      case "seq": {
        let places: ReadonlySet<number> = new Set([from]);
        for (const part of node.parts) places = all(places, part);
        return places;
      }
      case "alt":
        return new Set(node.choices.flatMap((each) => [...ends(each, from)]));
      case "times": {
        const found = new Set<number>();
        let places: ReadonlySet<number> = new Set([from]);
        for (let n = 0; n <= node.most && places.size > 0; n++) {
          if (n >= node.least) { for (const each of places) found.add(each); }
          if (n < node.most) places = all(places, node.what);
        }
        return found;
      }
    }
  };
  const all = (places: ReadonlySet<number>, node: Node): ReadonlySet<number> =>
    new Set([...places].flatMap((each) => [...ends(node, each)]));
  return ends({ kind: "ref", name: "root" }, 0).has(points.length);
}
