import assert from "node:assert/strict";
import { change, question } from "../_fixture/samples.ts";
import { parseAnswers } from "./answers_file.ts";

const file = (...answers: object[]): ReturnType<typeof parseAnswers> =>
  parseAnswers("answers.json", JSON.stringify({ answers }));
const folder = Deno.makeTempDirSync();
const changes = (...paths: string[]): object => ({
  changes: paths.map((path) => change(folder, path, { next: "x" })),
});

Deno.test("an entry fits its tool, and is used up", () => {
  const answers = file({ tool: "patch_apply", answer: "allow", max: 2 });
  assert.equal(answers.take(question())?.decision, "allow");
  assert.equal(answers.take(question())?.decision, "allow");
  assert.equal(answers.take(question()), undefined);
});

Deno.test("an entry without max is good once", () => {
  const answers = file({ tool: "patch_apply", answer: "deny", say: "no" });
  assert.equal(answers.take(question())?.say, "no");
  assert.equal(answers.take(question()), undefined);
});

Deno.test("a path covers itself and what lies beneath, and every change must be covered", () => {
  const answers = file({ tool: "patch_apply", path: "desk/notes", answer: "allow", max: 100 });
  const take = (...paths: string[]): unknown => answers.take(question(changes(...paths)));
  assert.ok(take("desk/notes/a.md", "desk/notes/b/c.md"));
  assert.equal(take("desk/notes/a.md", "desk/other.md"), undefined);
  assert.equal(take("desk/notes-2/a.md"), undefined);
  assert.equal(take("desk/notes/../keys"), undefined);
  assert.equal(answers.take(question()), undefined, "a question about no path");
});

Deno.test("a scope is the destination, exactly", () => {
  const answers = file({
    tool: "patch_apply",
    scope: "https://a.example",
    answer: "allow",
    max: 9,
  });
  const asked = (destination: string): unknown =>
    answers.take(question({ scope: { ...question().scope, destination } }));
  assert.ok(asked("https://a.example"));
  assert.equal(asked("https://a.example.evil"), undefined);
});

Deno.test("no file answers a stepUp question or a question of Remit's own", () => {
  const answers = file({ tool: "patch_apply", answer: "allow", max: 99 });
  for (const kind of ["stepUp", "recovery", "budget", "brake"]) {
    assert.equal(answers.take(question({ kind })), undefined, kind);
  }
});

Deno.test("an unknown key, a wrong word and what is no JSON are refused", () => {
  assert.throws(() => file({ tool: "patch_apply", answer: "allow", always: true }), /answers\.0/);
  assert.throws(() => file({ tool: "patch_apply", answer: "yes" }), /answers\.0\.answer/);
  assert.throws(() => parseAnswers("a.json", "{"), /no JSON/);
  assert.throws(() => parseAnswers("a.json", '{"answers":[],"default":"allow"}'), /default/);
});
