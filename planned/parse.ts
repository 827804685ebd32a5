/**
 * Parses a program: acorn makes the tree, and the supported subset becomes a {@link PlanProgram}.
 * Anything else is refused with words that tell a model what to write instead.
 * docs/planned_programs.md. Wired in kernel/main_tools.ts and redteam/play_plan.ts.
 * @module
 */
import * as acorn from "acorn";
import {
  type Expression,
  type PlanProgram,
  PROGRAM_CHARS,
  type Statement,
} from "../contracts/exchange/planned.ts";
import { type AnyExpression, type Callable, Expressions, isFunction } from "./_expressions.ts";
import { below, find, type Frame, name, refused, refusedAt, type Scope } from "./_names.ts";

/** Parses a program. @throws Fault `invalidInput` naming the line and what to write instead */
export function parseProgram(text: string): PlanProgram {
  if (text.length > PROGRAM_CHARS) {
    throw refused(`it is longer than ${PROGRAM_CHARS} characters`);
  }
  let tree: acorn.Program;
  try {
    tree = acorn.parse(text, {
      ...{ ecmaVersion: 2022, sourceType: "script", locations: true },
      ...{ allowAwaitOutsideFunction: true, allowReturnOutsideFunction: true },
    });
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
    const { message } = error;
    const deep = error instanceof RangeError || /stack/.test(message);
    throw refused(deep ? "it is nested too deep" : message.slice(0, 200));
  }
  return new Reader().program(tree);
}

class Reader extends Expressions {
  program(tree: acorn.Program): PlanProgram {
    const scope: Scope = { names: new Map(), above: undefined, frame: { id: 0, loops: 0 } };
    const statements = tree.body.map((each) => {
      if (each.type.startsWith("Import") || each.type.startsWith("Export")) {
        throw refusedAt(each, "nothing can be imported");
      }
      return each as acorn.Statement;
    });
    const body = this.#block(statements, scope);
    this.functions[0] = { id: 0, within: 0, params: [], body };
    return { functions: [...this.functions] };
  }

  #block(statements: readonly acorn.Statement[], scope: Scope): Statement[] {
    // Functions may be called before their declaration.
    for (const each of statements) {
      if (each.type !== "FunctionDeclaration") continue;
      name(each.id, scope, { kind: "function", id: this.newFunction() });
    }
    return statements.flatMap((each) => this.within(() => this.#statement(each, scope)));
  }

  #inner(statement: acorn.Statement, scope: Scope): Statement[] {
    const inside = below(scope);
    return this.#block(statement.type === "BlockStatement" ? statement.body : [statement], inside);
  }

  #statement(node: acorn.Statement, scope: Scope): Statement[] {
    switch (node.type) {
      case "EmptyStatement":
        return [];
      case "FunctionDeclaration": {
        const bound = scope.names.get(node.id.name);
        if (bound?.kind === "function") this.function(node, scope, bound.id);
        return [];
      }
      case "BlockStatement":
        return this.#inner(node, scope);
      case "ExpressionStatement":
        return this.#effect(node.expression, scope);
      case "VariableDeclaration":
        return this.#declaration(node, scope);
      case "IfStatement": {
        const test = this.expression(node.test, scope);
        const yes = this.#inner(node.consequent, scope);
        return [{
          s: "if",
          test,
          yes,
          no: node.alternate ? this.#inner(node.alternate, scope) : [],
        }];
      }
      case "ForOfStatement": {
        const { left } = node;
        if (left.type !== "VariableDeclaration" || left.kind === "var") {
          throw refusedAt(node, "write for (const x of …)");
        }
        const of = this.expression(node.right, scope);
        const inside = below(scope);
        const id = this.newVariable();
        const declared = this.#pattern(left.declarations[0]?.id, { k: "variable", id }, {
          scope: inside,
          fixed: left.kind === "const",
        });
        return [{ s: "for", id, of, body: [...declared, ...this.#loop(node.body, inside)] }];
      }
      case "WhileStatement":
        return [{
          s: "while",
          test: this.expression(node.test, scope),
          body: this.#loop(node.body, scope),
          after: [],
        }];
      case "ForStatement": {
        const inside = below(scope);
        const first = node.init === null || node.init === undefined
          ? []
          : node.init.type === "VariableDeclaration"
          ? this.#declaration(node.init, inside)
          : this.#effect(node.init, inside);
        const test: Expression = node.test
          ? this.expression(node.test, inside)
          : { k: "literal", value: true };
        const body = this.#loop(node.body, inside);
        const after = node.update ? this.#effect(node.update, inside) : [];
        return [...first, { s: "while", test, body, after }];
      }
      case "ReturnStatement": {
        const { frame } = scope;
        if (frame.each !== undefined) {
          if (node.argument) {
            throw refusedAt(node, "forEach gives no value; use map, or for (const x of …)");
          }
          if (frame.loops !== frame.each) {
            throw refusedAt(node, "use for (const x of …) in place of forEach");
          }
          return [{ s: "continue" }];
        }
        return [{
          s: "return",
          ...(node.argument ? { value: this.expression(node.argument, scope) } : {}),
        }];
      }
      case "BreakStatement":
      case "ContinueStatement": {
        if (node.label) throw refusedAt(node, "there are no labels");
        const { loops, each = 0 } = scope.frame;
        if (loops <= each) throw refusedAt(node, "it stands in no loop");
        return [{ s: node.type === "BreakStatement" ? "break" : "continue" }];
      }
      case "ThrowStatement": {
        const { argument } = node;
        const said = argument.type === "NewExpression" && argument.callee.type === "Identifier" &&
            argument.callee.name === "Error"
          ? argument.arguments[0]
          : argument;
        return [{
          s: "fail",
          value: said === undefined ? { k: "literal", value: "" } : this.plain(said, scope),
        }];
      }
      case "TryStatement":
        throw refusedAt(node, "there is no try: a call that fails ends the program");
      default:
        throw refusedAt(node, `there is no ${node.type}; use if, for (const x of …) and while`);
    }
  }

  #loop(body: acorn.Statement, scope: Scope): Statement[] {
    scope.frame.loops++;
    const read = this.#inner(body, scope);
    scope.frame.loops--;
    return read;
  }

  #declaration(node: acorn.VariableDeclaration, scope: Scope): Statement[] {
    if (node.kind !== "const" && node.kind !== "let") throw refusedAt(node, "write const or let");
    return node.declarations.flatMap(({ id, init }) => {
      if (init && isFunction(init)) {
        if (id.type !== "Identifier" || node.kind !== "const") {
          throw refusedAt(node, "a function is named: const f = (x) => …");
        }
        const made = this.newFunction();
        name(id, scope, { kind: "function", id: made });
        this.function(init, scope, made);
        return [];
      }
      const value: Expression = init ? this.expression(init, scope) : { k: "literal" };
      return this.#pattern(id, value, { scope, fixed: node.kind === "const" });
    });
  }

  /** Destructures a value: `{ a, b: c }`, `[x, ...rest]`. */
  #pattern(
    pattern: acorn.Pattern | undefined,
    value: Expression,
    into: { readonly scope: Scope; readonly fixed: boolean },
  ): Statement[] {
    if (pattern === undefined) throw refusedAt({}, "a name is missing");
    switch (pattern.type) {
      case "Identifier": {
        const id = this.newVariable();
        const { scope, fixed } = into;
        name(pattern, scope, { kind: "variable", id, fixed, of: scope.frame.id });
        return [{ s: "let", id, value, fixed }];
      }
      case "AssignmentPattern":
        return this.#pattern(pattern.left, {
          ...{ k: "else", a: value, b: this.expression(pattern.right, into.scope) },
        }, into);
      case "ObjectPattern": {
        const [kept, of] = this.#stored(value);
        const seen: string[] = [];
        return [
          ...kept,
          ...pattern.properties.flatMap((each) => {
            if (each.type === "RestElement") {
              return this.#pattern(each.argument, { k: "rest", of, from: [...seen] }, into);
            }
            const key = this.key(each, into.scope);
            if (key.k === "literal") seen.push(String(key.value));
            return this.#pattern(each.value, { k: "get", of, key }, into);
          }),
        ];
      }
      case "ArrayPattern": {
        const [kept, of] = this.#stored(value);
        return [
          ...kept,
          ...pattern.elements.flatMap((each, n) => {
            if (each === null) return [];
            if (each.type === "RestElement") {
              return this.#pattern(each.argument, { k: "rest", of, from: n }, into);
            }
            return this.#pattern(each, { k: "get", of, key: { k: "literal", value: n } }, into);
          }),
        ];
      }
      default:
        throw refusedAt(pattern, "write a name here");
    }
  }

  /** Stores a value in a variable, so that destructuring evaluates it once. */
  #stored(value: Expression): readonly [Statement[], Expression] {
    if (value.k === "variable") return [[], value];
    const id = this.newVariable();
    return [[{ s: "let", id, value, fixed: true }], { k: "variable", id }];
  }

  /** Parses an expression statement: an assignment, `say`, `push`, `forEach` or a call. */
  #effect(given: AnyExpression, scope: Scope): Statement[] {
    const node = given.type === "AwaitExpression" ? given.argument : given;
    if (node.type === "AssignmentExpression") {
      const op = node.operator.slice(0, -1);
      if (node.left.type === "ObjectPattern" || node.left.type === "ArrayPattern") {
        throw refusedAt(node, "take it apart where it is declared: const { a } = …");
      }
      const value = this.expression(node.right, scope);
      if (op === "") return [this.#set(node.left, value, scope)];
      const before = this.expression(node.left as acorn.Expression, scope);
      return [this.#set(node.left, this.operated(node, op, before, value), scope)];
    }
    if (node.type === "UpdateExpression") {
      const before = this.expression(node.argument, scope);
      const op = node.operator === "++" ? "+" : "-";
      return [
        this.#set(
          node.argument,
          { k: "binary", op, a: before, b: { k: "literal", value: 1 } },
          scope,
        ),
      ];
    }
    if (node.type === "CallExpression") {
      const { callee } = node;
      if (
        callee.type === "Identifier" && callee.name === "say" && find(scope, "say") === undefined
      ) {
        const [said, ...more] = node.arguments;
        if (said === undefined || more.length > 0) throw refusedAt(node, "say takes one value");
        return [{ s: "say", value: this.plain(said, scope) }];
      }
      if (
        callee.type === "MemberExpression" && !callee.computed &&
        callee.property.type === "Identifier"
      ) {
        const { object, property: { name } } = callee;
        if (name === "push") {
          return node.arguments.map((each) => ({
            ...this.#set(object, this.plain(each, scope), scope, true),
            push: true,
          }));
        }
        if (name === "forEach") return this.#forEach(node, object, scope);
        if (object.type === "Identifier" && object.name === "console") {
          throw refusedAt(node, "there is no console; tell the person with say(text)");
        }
      }
    }
    return [{ s: "do", value: this.expression(node, scope) }];
  }

  /** Rewrites `forEach` as a loop, so that its callback may change variables around it. */
  #forEach(node: acorn.CallExpression, list: AnyExpression, scope: Scope): Statement[] {
    const [given] = node.arguments;
    if (given === undefined || !isFunction(given) || given.params.length !== 1) {
      throw refusedAt(node, "write for (const x of …) in place of forEach");
    }
    const of = this.expression(list, scope);
    const { loops } = scope.frame;
    // The frame of the same function, so that its variables may be changed; `return` becomes
    // `continue`.
    const frame: Frame = { id: scope.frame.id, loops: loops + 1, each: loops + 1 };
    const inside: Scope = { names: new Map(), above: scope, frame };
    const id = this.newVariable();
    const declared = this.#pattern(given.params[0], { k: "variable", id }, {
      scope: inside,
      fixed: true,
    });
    const body = given.body.type === "BlockStatement"
      ? this.#block(given.body.body, inside)
      : this.#effect(given.body, inside);
    return [{ s: "for", id, of, body: [...declared, ...body] }];
  }

  #set(
    target: acorn.Pattern | AnyExpression,
    value: Expression,
    scope: Scope,
    pushed = false,
  ): Extract<Statement, { s: "set" }> {
    const path: Expression[] = [];
    let at: acorn.Pattern | AnyExpression = target;
    while (at.type === "MemberExpression") {
      path.unshift(this.member(at, scope));
      at = at.object;
    }
    if (at.type !== "Identifier") {
      throw refusedAt(target, "only a variable, or a part of one, can be changed");
    }
    const bound = find(scope, at.name);
    if (bound?.kind !== "variable") throw refusedAt(target, `there is no variable ${at.name}`);
    if (bound.fixed && path.length === 0 && !pushed) throw refusedAt(target, `${at.name} is const`);
    if (bound.of !== scope.frame.id) {
      throw refusedAt(
        target,
        `a function cannot change ${at.name}, which stands outside of it; use for (const x of …), or return a value`,
      );
    }
    return { s: "set", id: bound.id, path, value };
  }

  protected override function(node: Callable, above: Scope, id: number): void {
    if (node.generator) throw refusedAt(node, "there are no generators");
    const scope: Scope = { names: new Map(), above, frame: { id, loops: 0 } };
    const params: number[] = [];
    const before = node.params.flatMap((each) => {
      const param = this.newVariable();
      params.push(param);
      return this.#pattern(each, { k: "variable", id: param }, { scope, fixed: false });
    });
    const body: Statement[] = node.body.type === "BlockStatement"
      ? this.#block(node.body.body, scope)
      : isTold(node.body)
      ? this.#effect(node.body, scope)
      : [{ s: "return", value: this.expression(node.body, scope) }];
    const within = above.frame.id;
    this.functions[id] = { id, within, params, body: [...before, ...body] };
  }
}

/** Whether an arrow function's body is `say(…)`, which is a statement and has no value. */
function isTold(node: acorn.Expression): boolean {
  return node.type === "CallExpression" && node.callee.type === "Identifier" &&
    node.callee.name === "say";
}
