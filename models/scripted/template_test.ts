import assert from "node:assert/strict";
import fc from "fast-check";
import { Fault } from "../../contracts/base/fault.ts";
import {
  parseTemplate,
  type Quotable,
  renderTemplate,
  renderText,
  renderValue,
} from "./template.ts";

const quotable: Quotable = {
  system: "be calm",
  user: "tidy the desk",
  results: [
    { tool: "file_list", text: "desk/a.md\ndesk/b.md [staged]\ndesk/c/\n" },
    { tool: "file_stat", text: '{"size": 12, "a/b": [true, {"~": null}], "name": "a.md"}' },
    { tool: "file_list", text: "one\ntwo" },
  ],
};

const CASES: readonly (readonly [string, unknown])[] = [
  ["plain", "plain"],
  ["", ""],
  ["{{ user }}", "tidy the desk"],
  ["please {{user}}!", "please tidy the desk!"],
  ["{{ system }}", "be calm"],
  ["{{ tool.1 | line 1 }}", "desk/a.md"],
  ["{{ tool.file_list }}", "one\ntwo"],
  ["{{ tool.file_list.1 | line -1 }}", "desk/c/"],
  ['{{ tool.file_list.-2 | line 2 | before " [" }}', "desk/b.md"],
  ["{{ tool.-1 | line 2 }}", "two"],
  ["{{ tool.1 | lines 2 3 }}", "desk/b.md [staged]\ndesk/c/"],
  ["{{ tool.1 | lines 2 -1 }}", "desk/b.md [staged]\ndesk/c/"],
  ['{{ tool.1 | find "b." | between "/" "." }}', "b"],
  ['{{ tool.1 | after "desk/" | cut 4 }}', "a.md"],
  ['{{ "  x " | trim }}', "x"],
  ['{{ " 42 " | number }}', 42],
  ['n={{ "42" | number }}', "n=42"],
  ["{{ tool.file_stat | json /size }}", 12],
  ["{{ tool.file_stat | json /a~1b/1 }}", { "~": null }],
  ["{{ tool.file_stat | json /a~1b | json /1/~0 }}", null],
  ['{{ tool.file_stat | json "/name" | before "." }}', "a"],
  ["all: {{ tool.file_stat | json /a~1b/0 }}", "all: true"],
  ['{{ "{{" }} and }}', "{{ and }}"],
  ['{{ "a|b }} \\"c\\"" }}', 'a|b }} "c"'],
];

for (const [template, expected] of CASES) {
  Deno.test(`the template ${template} gives ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(renderTemplate(parseTemplate(template), quotable), expected);
  });
}

const WRONG = [
  "{{ }}",
  "{{ nobody }}",
  "{{ tool }}",
  "{{ tool.0 }}",
  "{{ tool.a.b.c }}",
  "{{ tool.a.x }}",
  "{{ user.name }}",
  "{{ user line 1 }}",
  "{{ user | }}",
  "{{ user | constructor }}",
  "{{ user | line }}",
  "{{ user | line 0 }}",
  "{{ user | line 1.5 }}",
  '{{ user | line "1" }}',
  "{{ user | before x }}",
  "{{ user | trim 1 }}",
  "{{ user | json size }}",
  '{{ "open }}',
  "{{ user",
  '{{ "\\x" }}',
];

for (const template of WRONG) {
  Deno.test(`the template ${template} is refused when the file is read`, () => {
    assert.throws(() => parseTemplate(template), SyntaxError);
  });
}

const MISSING: readonly (readonly [string, RegExp])[] = [
  ["{{ tool.4 }}", /there are 3 results/],
  ["{{ tool.file_read }}", /there are 0 results of file_read/],
  ["{{ tool.file_list.3 }}", /there are 2 results of file_list/],
  ["{{ tool.1 | line 9 }}", /there is no line 9 of 3/],
  ["{{ user | lines -9 1 }}", /there is no line -9/],
  ['{{ user | find "x" }}', /no line has "x"/],
  ['{{ user | after "x" }}', /does not have "x"/],
  ['{{ user | between "t" "x" }}', /does not have "x"/],
  ["{{ user | number }}", /is not a number/],
  ["{{ user | json /a }}", /it is not JSON/],
  ["{{ tool.2 | json /toString }}", /there is nothing at \/toString/],
  ["{{ tool.2 | json /size/0 }}", /there is nothing at/],
];

for (const [template, why] of MISSING) {
  Deno.test(`the template ${template} is a fault that names it, where it quotes nothing`, () => {
    assert.throws(() => renderText(template, quotable), (error) => {
      assert.ok(error instanceof Fault);
      assert.equal(error.code, "upstream");
      assert.ok(error.message.includes(template), error.message);
      return why.test(error.message);
    });
  });
}

Deno.test("what is quoted is not read as a template again", () => {
  const hostile = { ...quotable, user: "{{ system }} {{" };
  assert.equal(renderText("{{ user }}", hostile), "{{ system }} {{");
  assert.deepEqual(renderValue({ a: ["{{ user }}"] }, hostile), { a: ["{{ system }} {{"] });
});

Deno.test("values without templates are copied as they are", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => {
    const text = JSON.stringify(value);
    fc.pre(!text.includes("{{"));
    assert.equal(JSON.stringify(renderValue(JSON.parse(text), quotable)), text);
  }));
});
