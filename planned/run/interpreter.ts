/**
 * Runs a program. Each value carries the calls that it comes from, through every operation and
 * through control flow: what a branch or loop sets or calls carries what its condition read, and so
 * does what an untaken branch would have set. docs/planned_programs.md. Used by runner/planner.ts.
 * @module
 */
import type { Json, JsonObject } from "../../contracts/base/json.ts";
import type {
  Expression,
  PlanFunction,
  PlanProgram,
  Statement,
} from "../../contracts/exchange/planned.ts";
import { changedBy, leaves } from "../tree.ts";
import { builtin, method } from "./builtins.ts";
import { eachOf } from "./each.ts";
import { changedAt, get, nameOf, NOTHING, operated, restOf } from "./parts.ts";
import {
  BOUNDS,
  type Bounds,
  type Fields,
  fromJson,
  isFields,
  isList,
  isTrue,
  kindOf,
  type Mark,
  marked,
  Meter,
  mix,
  OWN,
  Stopped,
  toJson,
  toText,
  type Value,
} from "./values.ts";

/** Everything that a program can do to the outside. */
export interface PlanHost {
  /**
   * Makes a call. `mark`: where the arguments come from, and the decision to make the call. A
   * rejection ends the program.
   */
  call(
    call: {
      readonly site: number;
      readonly tool: string;
      readonly args: JsonObject;
      readonly mark: Mark;
    },
  ): Promise<{ readonly value: Json; readonly mark: Pick<Mark, "colour" | "label"> }>;
  /** Sends a text to the person. */
  say(text: string, mark: Mark): void;
}

/** A call of a function that is running. */
interface Activation {
  readonly of: PlanFunction;
  readonly cells: Map<number, Value>;
  readonly within: Activation | undefined;
  readonly depth: number;
  /** What decided that the function got this far. */
  reached: Mark;
}

type Ended = { readonly kind: "next" | "break" | "continue" } | {
  readonly kind: "return";
  readonly value: Value;
};

const NEXT: Ended = { kind: "next" };

/**
 * Runs a program to its end and returns the value of its `return` as a text. @throws Stopped, and
 * what the host rejects with
 */
export async function runProgram(
  program: PlanProgram,
  host: PlanHost,
  bounds: Bounds = BOUNDS,
): Promise<{ readonly text: string; readonly mark: Mark } | undefined> {
  const [main] = program.functions;
  if (main === undefined) return undefined;
  const meter = new Meter(bounds);
  const value = await new Run(program, host, { meter, depth: bounds.depth })
    .enter(main, [], undefined, OWN);
  if (value.data === undefined || value.data === null) return undefined;
  return { text: toText(value, meter), mark: toJson(value, meter).mark };
}

class Run {
  readonly #functions: readonly PlanFunction[];
  readonly #host: PlanHost;
  readonly #meter: Meter;
  readonly #depth: number;
  readonly #changed = new WeakMap<Statement, readonly number[]>();

  constructor(
    { functions }: PlanProgram,
    host: PlanHost,
    { meter, depth }: { readonly meter: Meter; readonly depth: number },
  ) {
    this.#functions = functions;
    this.#host = host;
    this.#meter = meter;
    this.#depth = depth;
  }

  /** Calls a function for `from`, above which the enclosing activation is found. */
  async enter(
    of: PlanFunction,
    args: readonly Value[],
    from: Activation | undefined,
    ctl: Mark,
  ): Promise<Value> {
    const depth = (from?.depth ?? 0) + 1;
    if (depth > this.#depth) throw new Stopped("its functions call each other too deep");
    let within = from;
    while (within !== undefined && within.of.id !== of.within) within = within.within;
    const act: Activation = { of, cells: new Map(), within, depth, reached: ctl };
    of.params.forEach((param, n) =>
      act.cells.set(param, args[n] ?? { data: undefined, mark: ctl })
    );
    const ended = await this.#block(of.body, act, ctl);
    return marked(ended.kind === "return" ? ended.value : NOTHING, mix(ctl, act.reached));
  }

  async #block(statements: readonly Statement[], act: Activation, ctl: Mark): Promise<Ended> {
    for (const each of statements) {
      this.#meter.step();
      const ended = await this.#statement(each, act, mix(ctl, act.reached));
      if (ended.kind !== "next") return ended;
    }
    return NEXT;
  }

  async #statement(node: Statement, act: Activation, ctl: Mark): Promise<Ended> {
    switch (node.s) {
      case "let":
        act.cells.set(node.id, marked(await this.#value(node.value, act, ctl), ctl));
        return NEXT;
      case "set":
        await this.#set(node, act, ctl);
        return NEXT;
      case "if": {
        const test = await this.#value(node.test, act, ctl);
        const ended = await this.#block(
          isTrue(test) ? node.yes : node.no,
          act,
          mix(ctl, test.mark),
        );
        this.#decided(node, act, test.mark);
        if (leaves(node.yes) || leaves(node.no)) {
          act.reached = mix(act.reached, mix(ctl, test.mark));
        }
        return ended;
      }
      case "for": {
        const of = await this.#value(node.of, act, ctl);
        const { data } = of;
        if (!isList(data) && typeof data !== "string") {
          throw new Stopped(`for … of takes a list, and was given ${kindOf(data)}`);
        }
        const items = isList(data)
          ? data.list
          : [...data].map((each) => ({ data: each, mark: of.mark }));
        for (const item of items) {
          const inner = mix(mix(ctl, of.mark), act.reached);
          act.cells.set(node.id, marked(item, inner));
          const ended = await this.#block(node.body, act, inner);
          if (ended.kind === "break") break;
          if (ended.kind === "return") return ended;
        }
        this.#decided(node, act, of.mark);
        return NEXT;
      }
      case "while": {
        let inner = ctl;
        for (;;) {
          this.#meter.step();
          const test = await this.#value(node.test, act, inner);
          inner = mix(mix(inner, test.mark), act.reached);
          if (!isTrue(test)) break;
          const ended = await this.#block(node.body, act, inner);
          if (ended.kind === "break") break;
          if (ended.kind === "return") return ended;
          await this.#block(node.after, act, inner);
        }
        this.#decided(node, act, inner);
        return NEXT;
      }
      case "do":
        await this.#value(node.value, act, ctl);
        return NEXT;
      case "say": {
        const value = marked(await this.#value(node.value, act, ctl), ctl);
        this.#host.say(toText(value, this.#meter), toJson(value, this.#meter).mark);
        return NEXT;
      }
      case "fail":
        await this.#value(node.value, act, ctl);
        throw new Stopped("its own text says so (throw)");
      case "return": {
        const value = node.value === undefined ? NOTHING : await this.#value(node.value, act, ctl);
        return { kind: "return", value: marked(value, ctl) };
      }
      case "break":
      case "continue":
        return { kind: node.s };
    }
  }

  /**
   * INVARIANT: variables that a branch or loop could have set depend on its condition (test: "… not
   * taken …").
   */
  #decided(node: Statement, act: Activation, mark: Mark): void {
    const changed = this.#changed.get(node) ?? [...new Set(changedBy([node]))];
    this.#changed.set(node, changed);
    for (const id of changed) {
      const before = act.cells.get(id);
      if (before !== undefined) act.cells.set(id, marked(before, mark));
    }
  }

  async #set(node: Extract<Statement, { s: "set" }>, act: Activation, ctl: Mark): Promise<void> {
    const value = marked(await this.#value(node.value, act, ctl), ctl);
    const keys: Value[] = [];
    for (const each of node.path) keys.push(await this.#value(each, act, ctl));
    const before = act.cells.get(node.id) ?? NOTHING;
    act.cells.set(
      node.id,
      marked(changedAt(before, keys, { value, push: node.push === true, meter: this.#meter }), ctl),
    );
  }

  async #value(node: Expression, act: Activation, ctl: Mark): Promise<Value> {
    const meter = this.#meter;
    meter.step();
    const value = (each: Expression, inner = ctl): Promise<Value> => this.#value(each, act, inner);
    switch (node.k) {
      case "literal":
        return { data: node.value, mark: OWN };
      case "variable": {
        for (let at: Activation | undefined = act; at !== undefined; at = at.within) {
          const found = at.cells.get(node.id);
          if (found !== undefined) return found;
        }
        throw new Stopped("a variable is read before it is set");
      }
      case "template": {
        let said = node.texts[0] ?? "", mark = OWN;
        for (const [n, each] of node.of.entries()) {
          const part = await value(each);
          said += toText(part, meter) + (node.texts[n + 1] ?? "");
          mark = mix(mark, toJson(part, meter).mark);
          meter.make(said.length);
        }
        return { data: said, mark };
      }
      case "list": {
        const list: Value[] = [];
        let mark = OWN;
        for (const { spread, value: each } of node.items) {
          const item = await value(each);
          if (spread !== true) {
            list.push(item);
            continue;
          }
          if (!isList(item.data)) {
            throw new Stopped(`only a list can be spread in a list, not ${kindOf(item.data)}`);
          }
          mark = mix(mark, item.mark);
          meter.make(item.data.list.length);
          for (const inner of item.data.list) list.push(inner);
        }
        meter.make(list.length);
        return { data: { list }, mark };
      }
      case "record":
        return await this.#record(node, act, ctl);
      case "get":
        return get(await value(node.of), await value(node.key), node.optional === true);
      case "rest":
        return restOf(await value(node.of), node.from);
      case "not": {
        const of = await value(node.of);
        return { data: !isTrue(of), mark: of.mark };
      }
      case "minus": {
        const { data, mark } = await value(node.of);
        if (typeof data !== "number") throw new Stopped(`${kindOf(data)} has no negative`);
        return { data: -data, mark };
      }
      case "typeof": {
        const { data, mark } = await value(node.of);
        return { data: typeof data, mark };
      }
      case "binary": {
        const a = await value(node.a), b = await value(node.b);
        return {
          data: operated(node.op, { a: a.data, b: b.data, meter }),
          mark: mix(a.mark, b.mark),
        };
      }
      case "and":
      case "or":
      case "else": {
        const a = await value(node.a);
        const stays = node.k === "and"
          ? !isTrue(a)
          : node.k === "or"
          ? isTrue(a)
          : a.data !== undefined && a.data !== null;
        return stays ? a : marked(await value(node.b, mix(ctl, a.mark)), a.mark);
      }
      case "choose": {
        const test = await value(node.test);
        const chosen = await value(isTrue(test) ? node.yes : node.no, mix(ctl, test.mark));
        return marked(chosen, test.mark);
      }
      case "call": {
        const args: Value[] = [];
        for (const each of node.args) args.push(await value(each));
        const called = this.#functions[node.id];
        if (called === undefined) throw new Stopped("a function is not there");
        return await this.enter(called, args, act, ctl);
      }
      case "method":
        return await this.#method(node, act, ctl);
      case "tool": {
        const { json, mark } = toJson(await this.#record(node.args, act, ctl), meter);
        const { site, tool } = node;
        const result = await this.#host.call({
          ...{ site, tool, args: json as JsonObject },
          mark: mix(mark, ctl),
        });
        return fromJson(result.value, { ...result.mark, origins: 1n << BigInt(site) }, meter);
      }
    }
  }

  async #record(
    { fields }: Extract<Expression, { k: "record" }>,
    act: Activation,
    ctl: Mark,
  ): Promise<Value> {
    const made = new Map<string, Value>();
    let mark = OWN;
    for (const { key, value } of fields) {
      const name = key === undefined ? undefined : await this.#value(key, act, ctl);
      const given = await this.#value(value, act, ctl);
      if (name !== undefined) {
        mark = mix(mark, name.mark);
        made.set(nameOf(name.data), given);
        continue;
      }
      mark = mix(mark, given.mark);
      if (given.data === undefined || given.data === null) continue;
      if (!isFields(given.data)) {
        throw new Stopped(`only a record can be spread in a record, not ${kindOf(given.data)}`);
      }
      this.#meter.make(given.data.fields.size);
      for (const [inner, each] of given.data.fields) made.set(inner, each);
    }
    this.#meter.make(made.size);
    return { data: { fields: made } satisfies Fields, mark };
  }

  async #method(
    node: Extract<Expression, { k: "method" }>,
    act: Activation,
    ctl: Mark,
  ): Promise<Value> {
    const on = node.on === undefined ? undefined : await this.#value(node.on, act, ctl);
    if (on !== undefined && node.optional === true && (on.data === undefined || on.data === null)) {
      return { data: undefined, mark: on.mark };
    }
    const [first, ...more] = node.args;
    const handed = first?.k === "function" ? first : undefined;
    const args: Value[] = [];
    for (const each of handed === undefined ? node.args : more) {
      if (each.k !== "function") args.push(await this.#value(each, act, ctl));
    }
    const mark = args.reduce((all, each) => mix(all, each.mark), on?.mark ?? OWN);
    const given = { args, mark, meter: this.#meter };
    if (on === undefined) return builtin(node.name, given);
    if (handed === undefined) return method(node.name, on, given);
    const of = this.#functions[handed.id];
    if (of === undefined) throw new Stopped("a function is not there");
    const inner = mix(ctl, on.mark);
    return await eachOf(node.name, on, {
      ...{ args, meter: this.#meter },
      call: (...values) => this.enter(of, values, act, inner),
    });
  }
}
