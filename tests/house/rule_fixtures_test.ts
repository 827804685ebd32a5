import { deepStrictEqual, ok } from "node:assert/strict";
import { lintFile } from "../../scripts/house/mod.ts";

/** A file that breaks one rule, and the nearest one that does not. */
type Fixture = {
  readonly claim: string;
  readonly rule: string;
  readonly breaks: readonly [path: string, text: string];
  readonly passes: readonly [path: string, text: string];
};

const HOST = ["registry", "npmjs", "org"].join(".");
const SECRET = `sk-${"a1".repeat(20)}`;
const HOME = ["", "Users", "alice", "x"].join("/");
const DOOR = "/**\n * The gate.\n *\n * @example\n * ```ts\n * 1;\n * ```\n * @module\n */\n";
const lines = (count: number): string => "// a line\n".repeat(count);

const FIXTURES: readonly Fixture[] = [
  {
    claim: "the runner sees its own folder and the open parts, and no store",
    rule: "import",
    breaks: ["runner/a.ts", `import { x } from "../store/mod.ts";\n`],
    passes: [
      "runner/a.ts",
      `import { x } from "../contracts/authority/ids.ts";\nimport { y } from "./b.ts";\n`,
    ],
  },
  {
    claim: "the kernel enters the store by its door only",
    rule: "import",
    breaks: ["kernel/a.ts", `import { x } from "../store/sqlite/store.ts";\n`],
    passes: ["kernel/a.ts", `import { x } from "../store/sqlite/mod.ts";\n`],
  },
  {
    claim: "a folder of the kernel imports those beneath it, and none above",
    rule: "import",
    breaks: ["kernel/core/lease/a.ts", `import type { X } from "../task/b.ts";\n`],
    passes: ["kernel/task/a.ts", `import type { X } from "../core/lease/b.ts";\n`],
  },
  {
    claim: "a folder of the kernel imports nothing that wires its folders",
    rule: "import",
    breaks: ["kernel/control/a.ts", `import { x } from "../main_powers.ts";\n`],
    passes: ["kernel/main_powers.ts", `import { x } from "./control/a.ts";\n`],
  },
  {
    claim: "a folder that is none of the kernel's layers holds no code that imports another",
    rule: "import",
    breaks: ["kernel/attic/a.ts", `import { x } from "../lease/b.ts";\n`],
    passes: ["kernel/core/child/a.ts", `import { x } from "../lease/b.ts";\n`],
  },
  {
    claim: "the broker takes nothing of the kernel's, not even a type",
    rule: "import",
    breaks: ["broker/a.ts", `import type { ProcessTable } from "../kernel/mod.ts";\n`],
    passes: ["broker/a.ts", `import type { ProcessRow } from "../contracts/task/process.ts";\n`],
  },
  {
    claim: "a plugin sees its own folder and the open parts, and no other folder of tools-wasm",
    rule: "import",
    breaks: ["tools-wasm/text/a.ts", `import { x } from "../host/mod.ts";\n`],
    passes: [
      "tools-wasm/text/a.ts",
      `import { x } from "../../contracts/authority/ids.ts";\nimport { y } from "./b.ts";\n`,
    ],
  },
  {
    claim: "a private file stays in its folder, also for tests elsewhere",
    rule: "import",
    breaks: ["tests/story/a_test.ts", `import { x } from "../../port/_frame.ts";\n`],
    passes: ["port/a_test.ts", `import { x } from "./_frame.ts";\n`],
  },
  {
    claim: "a private file may be used beneath its folder and not above",
    rule: "import",
    breaks: ["workspace/a.ts", `import { x } from "./host/_cut.ts";\n`],
    passes: ["workspace/host/a.ts", `import { x } from "../_wire.ts";\n`],
  },
  {
    claim: "a package that the table does not give a part is refused",
    rule: "import",
    breaks: ["runner/a.ts", `import * as z from "zod";\n`],
    passes: ["contracts/a.ts", `import * as z from "zod";\n`],
  },
  {
    claim: "a package that would come whole by its name is imported as a namespace",
    rule: "import",
    breaks: ["contracts/a.ts", `import { z } from "zod";\n`],
    passes: ["contracts/a.ts", `import type * as z from "zod";\n`],
  },
  {
    claim: "a package that deno.json does not pin is refused",
    rule: "import",
    breaks: ["contracts/a.ts", `import { z } from "npm:zod@4";\n`],
    passes: ["contracts/a.ts", `import * as z from "zod/v4";\n`],
  },
  {
    claim: "a re-export is an import, and a type in import() form is one too",
    rule: "import",
    breaks: ["runner/a.ts", `export { x } from "../kernel/mod.ts";\n`],
    passes: ["runner/a.ts", `type A = import("../contracts/mod.ts").ProcessId;\n`],
  },
  {
    claim: "a folder that is not in the table holds no code",
    rule: "import",
    breaks: ["sidecar/a.ts", `import { x } from "../contracts/mod.ts";\n`],
    passes: ["workspace/a.ts", `import { x } from "../contracts/mod.ts";\n`],
  },
  {
    claim: "only a powers file reaches Deno",
    rule: "ambient",
    breaks: ["kernel/a.ts", `const x = Deno.args;\n`],
    passes: ["kernel/a_powers.ts", `const x = Deno.args;\n`],
  },
  {
    claim: "fetch is handed in: a member of that name is not the global",
    rule: "ambient",
    breaks: ["broker/a.ts", `const x = await fetch(url);\n`],
    passes: [
      "broker/a.ts",
      `const x = await powers.fetch(url);\ntype P = { fetch(url: string): void };\n`,
    ],
  },
  {
    claim: "an authority hidden in a template is found",
    rule: "ambient",
    breaks: ["broker/a.ts", "const x = `now ${Date.now()}`;\n"],
    passes: ["broker/a.ts", "const x = `Date.now() ${now()}`; // Deno.args\n"],
  },
  {
    claim: "an authority picked by a condition is found",
    rule: "ambient",
    breaks: ["broker/a.ts", "const x = given ? given(a) : fetch(a);\n"],
    passes: ["broker/a.ts", "const x = { fetch: given };\n"],
  },
  {
    claim: "randomness is handed in, hashing is not authority",
    rule: "ambient",
    breaks: ["broker/a.ts", `import { randomUUID } from "node:crypto";\n`],
    passes: ["broker/a.ts", `import { createHash } from "node:crypto";\n`],
  },
  {
    claim: "new Date() reads the clock and new Date(ms) does not",
    rule: "ambient",
    breaks: ["agents/a.ts", "const x = new Date();\n"],
    passes: ["agents/a.ts", "const x = new Date(at).toISOString();\n"],
  },
  {
    claim: "node's file system is authority whatever is taken from it",
    rule: "ambient",
    breaks: ["workspace/a.ts", `import { readFileSync } from "node:fs";\n`],
    passes: [
      "workspace/a.ts",
      `import type { Stats } from "node:fs";\nimport { join } from "node:path";\n`,
    ],
  },
  {
    claim: "an import that is computed while running is authority",
    rule: "ambient",
    breaks: ["runner/a.ts", "const x = await import(name);\n"],
    passes: ["runner/a_powers.ts", "const x = await import(name);\n"],
  },
  {
    claim: "a backend that is loaded later, by a plain name, is judged by the table alone",
    rule: "ambient",
    breaks: ["models/a.ts", "const x = await import(`./${kind}/open.ts`);\n"],
    passes: ["models/a.ts", `const x = await import("./scripted/open.ts");\n`],
  },
  {
    claim: "node's process is authority and a process of ours is not",
    rule: "ambient",
    breaks: ["kernel/a.ts", "const x = process.getBuiltinModule(name);\n"],
    passes: ["kernel/a.ts", "const x = process.pid + process.exit;\n"],
  },
  {
    claim: "a test brings a real store, the tested file does not",
    rule: "import",
    breaks: ["broker/audit/log.ts", `import { x } from "../../store/sqlite/mod.ts";\n`],
    passes: ["broker/audit/log_test.ts", `import { x } from "../../store/sqlite/mod.ts";\n`],
  },
  {
    claim: "what tests share lies in _fixture and never in the program",
    rule: "import",
    breaks: ["port/a.ts", `import { x } from "./_fixture/echo.ts";\n`],
    passes: ["port/a_test.ts", `import { x } from "./_fixture/echo.ts";\n`],
  },
  {
    claim: "a test takes nothing of another test: what they share lies in _fixture",
    rule: "import",
    breaks: ["port/a_test.ts", `import { x } from "./_echo_test.ts";\n`],
    passes: ["port/a_test.ts", `import { x } from "./_fixture/echo.ts";\n`],
  },
  {
    claim: "globalThis is no way around the rule",
    rule: "ambient",
    breaks: ["runner/a.ts", `const x = globalThis["De" + "no"];\n`],
    passes: ["runner/a.ts", `const x = typeof globalThis;\n`],
  },
  {
    claim: "a file past four hundred lines is two ideas, a test may be longer",
    rule: "size",
    breaks: ["port/a.ts", lines(401)],
    passes: ["port/a_test.ts", lines(401)],
  },
  {
    claim: "a file is named for an idea, not for a drawer",
    rule: "name",
    breaks: ["port/string_utils.ts".replace("string_", ""), "\n"],
    passes: ["port/line_limits.ts", "\n"],
  },
  {
    claim: "file names are snake_case and doors are called mod.ts",
    rule: "name",
    breaks: ["port/lineLimits.ts", "\n"],
    passes: ["port/_line_limits.ts", "\n"],
  },
  {
    claim: "an export has a name of its own",
    rule: "form",
    breaks: ["port/a.ts", "export default 1;\n"],
    passes: ["port/a.ts", "/** One. */\nexport const one = 1;\n"],
  },
  {
    claim: "a closed set is a union of strings and not an enum",
    rule: "form",
    breaks: ["port/a.ts", "const enum Colour { RED }\n"],
    passes: ["port/a.ts", `type Colour = "RED";\nconst x = { enum: ["a"] };\n`],
  },
  {
    claim: "a lint rule is suppressed with its reason or not at all",
    rule: "form",
    breaks: ["port/a.ts", "// deno-lint-ignore no-control-regex\nconst x = /a/;\n"],
    passes: [
      "port/a.ts",
      "// deno-lint-ignore no-control-regex -- they are what is looked for\nconst x = /a/;\n",
    ],
  },
  {
    claim: "a door says what is behind it, with an example that runs",
    rule: "doc",
    breaks: ["port/mod.ts", `export * from "./a.ts";\n`],
    passes: ["port/mod.ts", `${DOOR}export * from "./a.ts";\n`],
  },
  {
    claim: "a test's name claims something",
    rule: "test",
    breaks: ["port/a_test.ts", `Deno.test("parse frame", () => {});\n`],
    passes: ["port/a_test.ts", `Deno.test("mallory cannot forge a frame", () => {});\n`],
  },
  {
    claim: "a claim in options form is read too",
    rule: "test",
    breaks: ["port/a_test.ts", `Deno.test({ name: "frames", fn: () => {} });\n`],
    passes: ["port/a_test.ts", `Deno.test({ name: "a frame is one line", fn: () => {} });\n`],
  },
  {
    claim: "no test is switched off in the source",
    rule: "test",
    breaks: ["port/a_test.ts", `Deno.test.ignore("mallory cannot forge a frame", () => {});\n`],
    passes: ["port/a_test.ts", `Deno.test("mallory is ignored and not obeyed", () => {});\n`],
  },
  {
    claim: "a test may be left out where a wall is missing, and nowhere else",
    rule: "test",
    breaks: [
      "port/a_test.ts",
      `Deno.test({ name: "a frame is one line", ignore: true, fn: f });\n`,
    ],
    passes: [
      "port/a_test.ts",
      `Deno.test({ name: "a frame is one line", ignore: !walled, fn: f });\n`,
    ],
  },
  {
    claim: "no test is preferred over the others",
    rule: "test",
    breaks: ["port/a_test.ts", `Deno.test({ only: true, name: "a frame is one line", fn: f });\n`],
    passes: [
      "port/a_test.ts",
      `Deno.test({ name: "a frame is one line", sanitizeOps: false, fn: f });\n`,
    ],
  },
  {
    claim: "a test that sleeps says why or is refused",
    rule: "test",
    breaks: ["tests/story/a_test.ts", "await new Promise((go) => setTimeout(go, 50));\n"],
    passes: [
      "tests/story/a_test.ts",
      "// TIMER: a real process has no clock that can be turned\nawait new Promise((go) => setTimeout(go, 50));\n",
    ],
  },
  {
    claim: "what tests share sleeps no more than they do",
    rule: "test",
    breaks: ["port/_fixture/a.ts", "await new Promise((go) => setTimeout(go, 50));\n"],
    passes: ["port/a.ts", "await new Promise((go) => setTimeout(go, 50));\n"],
  },
  {
    claim: "no file names the registry it was built from",
    rule: "leak",
    breaks: ["docs/a.md", `see ${HOST}\n`],
    passes: ["docs/a.md", "see npm\n"],
  },
  {
    claim: "no file holds what looks like a key",
    rule: "leak",
    breaks: ["examples/a.env", `KEY=${SECRET}\n`],
    passes: ["examples/a.env", "KEY=sk-not-a-real-key\n"],
  },
  {
    claim: "a key that says that it is an example may stand in a test",
    rule: "leak",
    breaks: ["broker/a_test.ts", `// AKIA${"Q7".repeat(8)}\n`],
    passes: ["broker/a_test.ts", `// AKIA${"ABCDEFGH".repeat(2)}\n`],
  },
  {
    claim: "no file holds a path of the machine it was written on",
    rule: "leak",
    breaks: ["docs/a.md", `run ${HOME}\n`],
    passes: ["docs/a.md", "in STATE/kernel/work/TASK/content\n"],
  },
];

for (const { claim, rule, breaks, passes } of FIXTURES) {
  Deno.test(`rule ${rule} holds: ${claim}`, () => {
    const broken = lintFile(...breaks).filter((finding) => finding.rule === rule);
    ok(broken.length > 0, "the fixture that breaks the rule was not found");
    ok(broken.every(({ level, line }) => level === "error" && line >= 1));
    const passed = lintFile(...passes).filter((finding) => finding.rule === rule);
    deepStrictEqual(passed, [], "the fixture that keeps the rule was refused");
  });
}

Deno.test("a long file is shown before it is too long", () => {
  const found = lintFile("port/a.ts", lines(380));
  deepStrictEqual(found.map(({ rule, level }) => [rule, level]), [["size", "warn"]]);
});

Deno.test("AssemblyScript is judged by its size and its secrets alone: its module reaches only its imports", () => {
  const source = `@external("env", "x") declare function x(): void;\nexport default Deno;\n`;
  deepStrictEqual(lintFile("tools-wasm/text/assembly/a.ts", source), []);
  ok(lintFile("tools-wasm/text/a.ts", source).length > 0);
  const long = lintFile("tools-wasm/text/assembly/a.ts", lines(401));
  deepStrictEqual(long.map(({ rule }) => rule), ["size"]);
});
