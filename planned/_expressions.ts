/** Parses expressions of a planned program. Used by parse.ts. @module */
import type * as acorn from "acorn";
import {
  BINARY,
  type Binary,
  type Expression,
  type Field,
  type Item,
  MAX_SITES,
  PLAN_ASK,
  type PlanFunction,
  type PlanFunctionRef,
} from "../contracts/exchange/planned.ts";
import { checkName, find, refused, refusedAt, type Scope } from "./_names.ts";
import { BUILTINS, FUNCTION_METHODS, PASSED_BY_NAME, PLAIN_METHODS, SORTS } from "./words.ts";

const MAX_NODES = 20_000;
const MAX_DEPTH = 100;

/** A function in a program's text. */
export type Callable =
  | acorn.FunctionDeclaration
  | acorn.FunctionExpression
  | acorn.ArrowFunctionExpression;
/** An expression wherever acorn allows one. */
export type AnyExpression = acorn.Expression | acorn.Super | acorn.PrivateIdentifier;

/** Parses expressions; the subclass parses statements and the bodies of functions. */
export abstract class Expressions {
  protected readonly functions: PlanFunction[] = [];
  #nextFunction = 1;
  #nextVariable = 0;
  #sites = 0;
  #nodes = 0;
  #depth = 0;

  /** Parses a function and stores it under `id`. */
  protected abstract function(node: Callable, above: Scope, id: number): void;

  /** Allocates the id of a function. */
  protected newFunction(): number {
    return this.#nextFunction++;
  }

  /** Allocates the id of a variable. */
  protected newVariable(): number {
    return this.#nextVariable++;
  }

  /** Runs `read` within the limits on nodes and depth. */
  protected within<T>(read: () => T): T {
    if (++this.#nodes > MAX_NODES) throw refused("it is too large");
    if (++this.#depth > MAX_DEPTH) throw refused(`it is nested too deep; at most ${MAX_DEPTH}`);
    const value = read();
    this.#depth--;
    return value;
  }

  protected plain(node: acorn.Expression | acorn.SpreadElement, scope: Scope): Expression {
    if (node.type === "SpreadElement") {
      throw refusedAt(node, "only lists and records can be spread");
    }
    return this.expression(node, scope);
  }

  protected expression(node: AnyExpression, scope: Scope, chained = false): Expression {
    return this.within(() => this.#read(node, scope, chained));
  }

  #read(node: AnyExpression, scope: Scope, chained: boolean): Expression {
    switch (node.type) {
      case "AwaitExpression":
        return this.expression(node.argument, scope);
      case "ParenthesizedExpression":
        return this.expression(node.expression, scope);
      case "ChainExpression":
        return this.expression(node.expression, scope, true);
      case "Literal": {
        const { value } = node;
        const isNull = value === null && node.raw === "null";
        if (!isNull && !["string", "number", "boolean"].includes(typeof value)) {
          throw refusedAt(
            node,
            "there are no regular expressions; use split, includes, or ask(text, schema)",
          );
        }
        return { k: "literal", value: value as null | boolean | number | string };
      }
      case "TemplateLiteral":
        return {
          k: "template",
          texts: node.quasis.map(({ value }) => value.cooked ?? ""),
          of: node.expressions.map((each) => this.expression(each, scope)),
        };
      case "Identifier":
        return this.#identifier(node, scope);
      case "ArrayExpression":
        return {
          k: "list",
          items: node.elements.map((each): Item => {
            if (each === null) throw refusedAt(node, "a list has no gaps");
            return each.type === "SpreadElement"
              ? { spread: true, value: this.expression(each.argument, scope) }
              : { value: this.expression(each, scope) };
          }),
        };
      case "ObjectExpression":
        return { k: "record", fields: node.properties.map((each) => this.#field(each, scope)) };
      case "MemberExpression": {
        const of = this.expression(node.object, scope, chained);
        const key = this.member(node, scope);
        return { k: "get", of, key, ...(chained || node.optional ? { optional: true } : {}) };
      }
      case "UnaryExpression": {
        const { operator } = node;
        const k = operator === "!" ? "not" : operator === "-" ? "minus" : operator;
        if (k !== "not" && k !== "minus" && k !== "typeof") {
          throw refusedAt(node, `there is no operator ${operator}`);
        }
        const of = this.expression(node.argument, scope);
        if (k === "minus" && of.k === "literal" && typeof of.value === "number") {
          return { k: "literal", value: -of.value };
        }
        return { k, of };
      }
      case "BinaryExpression":
      case "LogicalExpression":
        return this.operated(
          node,
          node.operator,
          this.expression(node.left, scope),
          this.expression(node.right, scope),
        );
      case "ConditionalExpression":
        return {
          k: "choose",
          test: this.expression(node.test, scope),
          yes: this.expression(node.consequent, scope),
          no: this.expression(node.alternate, scope),
        };
      case "CallExpression":
        return this.#call(node, scope, chained);
      case "NewExpression":
        throw refusedAt(
          node,
          "nothing is made with new; there is no clock either: dates stand in the request or in results",
        );
      case "ArrowFunctionExpression":
      case "FunctionExpression":
        throw refusedAt(
          node,
          "a function is no value: name it with const, or hand it to map, filter and the like",
        );
      case "AssignmentExpression":
      case "UpdateExpression":
        throw refusedAt(node, "an assignment is a statement of its own");
      default:
        throw refusedAt(node, `there is no ${node.type}`);
    }
  }

  protected operated(node: acorn.Node, op: string, a: Expression, b: Expression): Expression {
    if (op === "&&") return { k: "and", a, b };
    if (op === "||") return { k: "or", a, b };
    if (op === "??") return { k: "else", a, b };
    if (op === "==" || op === "!=") {
      const same = op === "==" ? "===" : "!==";
      // Only null and undefined equal null; `==` never converts types.
      const none: Expression = { k: "literal", value: null };
      return isNone(a) || isNone(b)
        ? { k: "binary", op: same, a: { k: "else", a, b: none }, b: { k: "else", a: b, b: none } }
        : { k: "binary", op: same, a, b };
    }
    const known = BINARY.find((each) => each === op);
    if (known === undefined) throw refusedAt(node, `there is no operator ${op}`);
    return { k: "binary", op: known satisfies Binary, a, b };
  }

  #identifier(node: acorn.Identifier, scope: Scope): Expression {
    const bound = find(scope, node.name);
    if (bound?.kind === "variable") return { k: "variable", id: bound.id };
    if (bound?.kind === "function") {
      throw refusedAt(
        node,
        `a function is no value: call ${node.name}(…), or hand it to map, filter and the like`,
      );
    }
    if (node.name === "undefined") return { k: "literal" };
    throw refusedAt(node, `there is no ${node.name.slice(0, 64)}`);
  }

  #field(node: acorn.Property | acorn.SpreadElement, scope: Scope): Field {
    if (node.type === "SpreadElement") return { value: this.expression(node.argument, scope) };
    if (node.kind !== "init" || node.method) {
      throw refusedAt(node, "a record holds data alone: no getters, no methods");
    }
    return { key: this.key(node, scope), value: this.expression(node.value, scope) };
  }

  protected key(
    node: { readonly key: AnyExpression; readonly computed: boolean },
    scope: Scope,
  ): Expression {
    if (node.computed) return this.expression(node.key, scope);
    const name = node.key.type === "Identifier"
      ? node.key.name
      : node.key.type === "Literal"
      ? String(node.key.value)
      : undefined;
    if (name === undefined) throw refusedAt(node.key, "no field is called so");
    checkName(node.key, name);
    return { k: "literal", value: name };
  }

  protected member(node: acorn.MemberExpression, scope: Scope): Expression {
    return this.key({ key: node.property, computed: node.computed }, scope);
  }

  #call(node: acorn.CallExpression, scope: Scope, chained: boolean): Expression {
    const { callee } = node;
    if (callee.type === "Identifier") {
      const bound = find(scope, callee.name);
      if (bound?.kind === "function") {
        return {
          k: "call",
          id: bound.id,
          args: node.arguments.map((each) => this.plain(each, scope)),
        };
      }
      if (bound !== undefined) throw refusedAt(node, `${callee.name} is no function`);
      if (callee.name === "ask") return this.#ask(node, scope);
      if (callee.name === "say") throw refusedAt(node, "say(text) is a statement of its own");
      if (BUILTINS.has(callee.name)) return this.#builtin(callee.name, node, scope);
      throw refusedAt(node, `there is no function ${callee.name.slice(0, 64)}`);
    }
    if (callee.type !== "MemberExpression") {
      throw refusedAt(node, "only what has a name can be called");
    }
    const key = this.member(callee, scope);
    if (key.k !== "literal" || typeof key.value !== "string") {
      throw refusedAt(node, "a method is called by its name");
    }
    const { value: name } = key, { object } = callee;
    if (object.type === "Identifier" && find(scope, object.name) === undefined) {
      if (object.name === "tools") return this.#tool(name, node, scope);
      const whole = `${object.name}.${name}`;
      if (BUILTINS.has(whole)) return this.#builtin(whole, node, scope);
    }
    const on = this.expression(object, scope, chained);
    const given = node.arguments[0];
    const takes = FUNCTION_METHODS.has(name) || (SORTS.has(name) && given !== undefined);
    if (!takes && !PLAIN_METHODS.has(name) && !SORTS.has(name)) {
      const known = [...PLAIN_METHODS, ...FUNCTION_METHODS, ...SORTS].sort().join(", ");
      throw refusedAt(node, `there is no method ${name.slice(0, 64)}; there are: ${known}`);
    }
    const args = node.arguments.map((each, n) =>
      takes && n === 0 ? this.#callback(each, scope) : this.plain(each, scope)
    );
    const optional = chained || callee.optional || node.optional;
    return { k: "method", name, on, args, ...(optional ? { optional: true } : {}) };
  }

  /** `Math.max(...list)` is common: the built-in functions also take one spread list. */
  #builtin(name: string, node: acorn.CallExpression, scope: Scope): Expression {
    const args = node.arguments.map((each) => {
      if (each.type !== "SpreadElement") return this.expression(each, scope);
      if (node.arguments.length > 1) {
        throw refusedAt(node, "spread one list, and nothing beside it");
      }
      return this.expression(each.argument, scope);
    });
    return { k: "method", name, args };
  }

  #callback(node: acorn.Expression | acorn.SpreadElement, scope: Scope): PlanFunctionRef {
    if (node.type !== "SpreadElement" && isFunction(node)) {
      const id = this.newFunction();
      this.function(node, scope, id);
      return { k: "function", id };
    }
    if (node.type === "Identifier") {
      const bound = find(scope, node.name);
      if (bound?.kind === "function") return { k: "function", id: bound.id };
      if (bound === undefined && PASSED_BY_NAME.has(node.name)) {
        const id = this.newFunction(), param = this.newVariable();
        const value: Expression = {
          k: "method",
          name: node.name,
          args: [{ k: "variable", id: param }],
        };
        const within = scope.frame.id;
        this.functions[id] = { id, within, params: [param], body: [{ s: "return", value }] };
        return { k: "function", id };
      }
    }
    throw refusedAt(node, "hand it a function: (x) => …");
  }

  #tool(tool: string, node: acorn.CallExpression, scope: Scope): Expression {
    const [given, ...more] = node.arguments;
    if (more.length > 0 || (given !== undefined && given.type !== "ObjectExpression")) {
      throw refusedAt(node, `write tools.${tool.slice(0, 64)}({ name: value, … })`);
    }
    const fields = (given?.properties ?? []).map((each) => this.#field(each, scope));
    return this.#site(node, tool, fields);
  }

  #ask(node: acorn.CallExpression, scope: Scope): Expression {
    const [text, schema, ...more] = node.arguments;
    if (text === undefined || schema === undefined || more.length > 0) {
      throw refusedAt(node, "write ask(text, schema), where schema is a JSON Schema as a record");
    }
    return this.#site(node, PLAN_ASK, [
      { key: { k: "literal", value: "text" }, value: this.plain(text, scope) },
      { key: { k: "literal", value: "schema" }, value: this.plain(schema, scope) },
    ]);
  }

  #site(node: acorn.Node, tool: string, fields: readonly Field[]): Expression {
    const names = fields.map(({ key }) => key?.k === "literal" ? key.value : undefined);
    if (names.includes(undefined) || new Set(names).size < names.length) {
      throw refusedAt(node, "the arguments of a call are named one by one, each once");
    }
    if (++this.#sites > MAX_SITES) {
      throw refusedAt(node, `a program has at most ${MAX_SITES} calls in its text`);
    }
    return { k: "tool", site: this.#sites, tool, args: { k: "record", fields } };
  }
}

function isNone(expression: Expression): boolean {
  return expression.k === "literal" &&
    (expression.value === null || expression.value === undefined);
}

/** Whether an expression is a function literal. */
export function isFunction(
  node: { readonly type: string },
): node is acorn.FunctionExpression | acorn.ArrowFunctionExpression {
  return node.type === "ArrowFunctionExpression" || node.type === "FunctionExpression";
}
