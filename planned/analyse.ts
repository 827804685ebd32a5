/**
 * Analyses what a program can do from its tree alone: for each call site, which values stand in the
 * text, which call sites' results other values derive from, what decides whether the call is made,
 * and how often at most. Where the analysis cannot tell, it overestimates and never underestimates.
 * docs/planned_programs.md. Wired in kernel/main_tools.ts and redteam/play_plan.ts.
 * @module
 */
import { Fault } from "../contracts/base/fault.ts";
import type { Json } from "../contracts/base/json.ts";
import type { PlanTemplate } from "../contracts/authority/plan.ts";
import type {
  Expression,
  PlanFunctionRef,
  PlanProgram,
  Statement,
} from "../contracts/exchange/planned.ts";
import { makeLiterals, setOnce } from "./literals.ts";
import { leaves } from "./tree.ts";
import { SORTS } from "./words.ts";

/** Facts about one call site. */
export interface SiteFacts {
  readonly site: number;
  readonly tool: string;
  /** Most times the call is made; Infinity when that depends on data. */
  readonly times: number;
  /** Call sites whose results decide whether the call is made. */
  readonly under: readonly number[];
  readonly template: Extract<PlanTemplate, { record: unknown }>;
}

type Tool = Extract<Expression, { k: "tool" }>;

/** A set of call sites, as bits. */
type Places = bigint;
const NONE = 0n;
const MAX_ROUNDS = 50;

/** Dependencies found so far; the analysis repeats until they stop growing. */
interface Known {
  readonly variables: Map<number, Places>;
  readonly returned: Map<number, Places>;
  /** By function: what decides whether it runs, or how far. */
  readonly deciding: Map<number, Places>;
}

/** Analyses all call sites of a program, in order. */
export function analyse(program: PlanProgram): readonly SiteFacts[] {
  const known: Known = { variables: new Map(), returned: new Map(), deciding: new Map() };
  const once = setOnce(program);
  for (let round = 0;; round++) {
    const walk = new Walk(program, known, once);
    for (const { id, body } of program.functions) {
      walk.block(body, { in: id, ctl: walk.deciding(id), times: 1 });
    }
    if (!walk.grew) return walk.facts();
    // The sets only grow and are finite. A program that needs more rounds is too entangled to be
    // explained to a person.
    if (round === MAX_ROUNDS) {
      throw new Fault(
        "invalidInput",
        "Cannot take the program: its values depend on each other too much; write it plainer",
      );
    }
  }
}

/** The context of a statement. */
interface At {
  readonly in: number;
  readonly ctl: Places;
  /** Product of the iteration counts of the loops around it, within its function. */
  readonly times: number;
}

class Walk {
  grew = false;
  readonly #program: PlanProgram;
  readonly #known: Known;
  readonly #sites = new Map<number, { readonly node: Tool; readonly at: At }>();
  readonly #calls = new Map<number, At[]>();
  readonly #once: ReadonlyMap<number, Expression>;
  readonly #literal: (node: Expression) => Json | undefined;
  /** Number of calls of each function; undefined while it is being computed. */
  readonly #counted = new Map<number, number | undefined>();

  constructor(program: PlanProgram, known: Known, once: ReadonlyMap<number, Expression>) {
    this.#program = program;
    this.#known = known;
    this.#once = once;
    this.#literal = makeLiterals(once);
  }

  deciding(id: number): Places {
    return this.#known.deciding.get(id) ?? NONE;
  }

  #grow(map: Map<number, Places>, id: number, by: Places): void {
    const before = map.get(id) ?? NONE, after = before | by;
    if (after === before) return;
    map.set(id, after);
    this.grew = true;
  }

  block(statements: readonly Statement[], at: At): void {
    for (const each of statements) this.#statement(each, at);
  }

  #statement(node: Statement, at: At): void {
    const { variables, returned, deciding } = this.#known;
    switch (node.s) {
      case "let":
        return this.#grow(variables, node.id, this.#value(node.value, at) | at.ctl);
      case "set": {
        let from = this.#value(node.value, at) | at.ctl;
        for (const each of node.path) from |= this.#value(each, at);
        return this.#grow(variables, node.id, from);
      }
      case "if": {
        const ctl = at.ctl | this.#value(node.test, at);
        this.block(node.yes, { ...at, ctl });
        this.block(node.no, { ...at, ctl });
        if (leaves(node.yes) || leaves(node.no)) this.#grow(deciding, at.in, ctl);
        return;
      }
      case "for": {
        const of = this.#value(node.of, at);
        this.#grow(variables, node.id, of | at.ctl);
        return this.block(node.body, {
          ...at,
          ctl: at.ctl | of,
          times: product(at.times, this.#length(node.of)),
        });
      }
      case "while": {
        const ctl = at.ctl | this.#value(node.test, at);
        const inside = { ...at, ctl, times: Infinity };
        this.#value(node.test, inside);
        this.block(node.body, inside);
        return this.block(node.after, inside);
      }
      case "return":
        if (node.value !== undefined) {
          this.#grow(returned, at.in, this.#value(node.value, at) | at.ctl);
        }
        return this.#grow(returned, at.in, at.ctl);
      case "do":
      case "say":
      case "fail":
        this.#value(node.value, at);
        return;
      case "break":
      case "continue":
        return;
    }
  }

  /** Returns the call sites that an expression's value depends on. */
  #value(node: Expression | PlanFunctionRef, at: At): Places {
    switch (node.k) {
      case "literal":
      case "function":
        return NONE;
      case "variable":
        return this.#known.variables.get(node.id) ?? NONE;
      case "template":
        return this.#all(node.of, at);
      case "list":
        return this.#all(node.items.map(({ value }) => value), at);
      case "record":
        return this.#all(
          node.fields.flatMap(({ key, value }) => key === undefined ? [value] : [key, value]),
          at,
        );
      case "get":
        return this.#all([node.of, node.key], at);
      case "rest":
      case "not":
      case "minus":
      case "typeof":
        return this.#value(node.of, at);
      case "binary":
        return this.#all([node.a, node.b], at);
      case "and":
      case "or":
      case "else": {
        const a = this.#value(node.a, at);
        return a | this.#value(node.b, { ...at, ctl: at.ctl | a });
      }
      case "choose": {
        const test = this.#value(node.test, at), inside = { ...at, ctl: at.ctl | test };
        return test | this.#value(node.yes, inside) | this.#value(node.no, inside);
      }
      case "call": {
        const given = node.args.map((each) => this.#value(each, at));
        return this.#called(node.id, given, at);
      }
      case "method": {
        const on = node.on === undefined ? NONE : this.#value(node.on, at);
        const given = on | this.#all(node.args, at);
        const [first] = node.args;
        if (first?.k !== "function") return given;
        const { params } = this.#program.functions[first.id] ?? { params: [] };
        const length = node.on === undefined ? Infinity : this.#length(node.on);
        // The number of comparisons of a sort is unknown.
        const times = product(at.times, SORTS.has(node.name) ? Infinity : length);
        // Depends on everything the list holds, and on the callback's results for earlier elements.
        const each = given | (this.#known.returned.get(first.id) ?? NONE);
        return given |
          this.#called(first.id, params.map(() => each), { ...at, ctl: at.ctl | on, times });
      }
      case "tool":
        this.#all(node.args.fields.map(({ value }) => value), at);
        this.#sites.set(node.site, { node, at });
        return 1n << BigInt(node.site);
    }
  }

  #all(nodes: readonly (Expression | PlanFunctionRef)[], at: At): Places {
    return nodes.reduce((all, each) => all | this.#value(each, at), NONE);
  }

  #called(id: number, given: readonly Places[], at: At): Places {
    const { params } = this.#program.functions[id] ?? { params: [] };
    params.forEach((param, n) =>
      this.#grow(this.#known.variables, param, (given[n] ?? NONE) | at.ctl)
    );
    this.#grow(this.#known.deciding, id, at.ctl);
    const calls = this.#calls.get(id) ?? [];
    calls.push(at);
    this.#calls.set(id, calls);
    return (this.#known.returned.get(id) ?? NONE) | this.deciding(id);
  }

  /** Number of items of a list, where the text fixes it; else Infinity. */
  #length(node: Expression): number {
    if (node.k === "list") {
      return node.items.some(({ spread }) => spread) ? Infinity : node.items.length;
    }
    if (node.k === "variable") {
      const once = this.#once.get(node.id);
      return once?.k === "list" ? this.#length(once) : Infinity;
    }
    return Infinity;
  }

  facts(): readonly SiteFacts[] {
    return [...this.#sites.values()].sort((a, b) => a.node.site - b.node.site).map((
      { node, at },
    ) => ({
      site: node.site,
      tool: node.tool,
      times: this.#timesOf(at),
      // Outside of loops and functions, nothing depends on later call sites.
      under: placesIn(at.ctl | this.deciding(at.in)).filter((other) =>
        at.in !== 0 || at.times !== 1 || other < node.site
      ),
      template: this.#record(node.args, at),
    }));
  }

  /** How often a place is reached: in a function, times the number of its calls. */
  #timesOf({ in: id, times }: At): number {
    return id === 0 ? times : product(times, this.#callsOf(id));
  }

  #callsOf(id: number): number {
    if (this.#counted.has(id)) return this.#counted.get(id) ?? Infinity;
    // Undefined marks recursion.
    this.#counted.set(id, undefined);
    const calls = this.#calls.get(id) ?? [];
    const count = calls.reduce((sum, call) => sum + this.#timesOf(call), 0);
    this.#counted.set(id, count);
    return count;
  }

  #record(
    { fields }: Extract<Expression, { k: "record" }>,
    at: At,
  ): Extract<PlanTemplate, { record: unknown }> {
    const record = fields.map(({ key, value }) => [
      key?.k === "literal" ? String(key.value) : "",
      this.#template(value, at),
    ]);
    return { record: Object.fromEntries(record) };
  }

  #template(node: Expression, at: At): PlanTemplate {
    const literal = this.#literal(node);
    if (literal !== undefined) return { literal };
    if (node.k === "list" && !node.items.some(({ spread }) => spread)) {
      return { list: node.items.map(({ value }) => this.#template(value, at)) };
    }
    if (node.k === "record" && node.fields.every(({ key }) => key?.k === "literal")) {
      return this.#record(node, at);
    }
    return { from: placesIn(this.#value(node, at)) };
  }
}

/** Multiplies, with 0 × Infinity = 0: a loop that is never reached runs no iteration. */
function product(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : a * b;
}

function placesIn(places: Places): readonly number[] {
  const found: number[] = [];
  for (let site = 1, left = places >> 1n; left > 0n; site++, left >>= 1n) {
    if ((left & 1n) === 1n) found.push(site);
  }
  return found;
}
