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

/** A transfer that a text asked for and the person did not. */
const transfer = (args: object, more: object = {}): ReturnType<typeof question> =>
  question({
    scope: { ...question().scope, tool: "mcp_bank_send_money", ...more },
    argumentsText: JSON.stringify(args),
  });
const REQUEST = "Send 1,250.50 EUR to carol@quay.example (IBAN US12 3456), subject 'Rent, May'.";

Deno.test("an entry without arguments allows nothing that is imported, outbound or destructive, and says what to write", () => {
  const said: string[] = [];
  const say = (line: string): unknown => said.push(line);
  const take = (asked: ReturnType<typeof question>, ...answers: object[]): unknown =>
    file(...answers).take(asked, { say });
  const whole = { tool: "mcp_bank_send_money", answer: "allow", max: 100 };
  assert.equal(take(transfer({ to: "mallory", amount: 9 }), whole), undefined);
  assert.match(said.join("\n"), /answer 1 of "answers.json" is not used.*imported server's/);
  assert.match(said.join("\n"), /"arguments":\{"to":\{"fromRequest":true\}/);
  for (const effect of ["outboundRead", "outboundWrite", "destructive"]) {
    const asked = question({ scope: { ...question().scope, tool: "web_post", effect } });
    const named = { tool: "web_post", scope: "https://a.example", answer: "allow" };
    assert.equal(take(asked, { tool: "web_post", answer: "allow" }), undefined, effect);
    assert.equal(take(asked, named), undefined, `${effect}: a destination is no argument`);
  }
  const peer = question({ scope: { ...question().scope, tool: "a2a_desk_echo" } });
  assert.equal(take(peer, { tool: "a2a_desk_echo", answer: "allow" }), undefined);
  // What says no needs no arguments, and an entry that is not used leaves the next one its turn.
  assert.ok(take(transfer({ to: "x" }), { ...whole, answer: "deny" }));
  assert.ok(take(transfer({ to: "x" }), whole, { ...whole, arguments: { to: "x" } }));
});

Deno.test("arguments fit exactly, by a glob or by standing in the person's own request, and every one is named", () => {
  const fits = (args: object, wanted: object): boolean =>
    file({ tool: "mcp_bank_send_money", arguments: wanted, answer: "allow" })
      .take(transfer(args), { request: REQUEST }) !== undefined;
  const own = { fromRequest: true };
  assert.ok(fits({ to: "carol@quay.example", amount: 1250.5 }, { to: own, amount: own }));
  assert.ok(fits({ subject: "Rent, May", iban: "US12 3456" }, { subject: own, iban: own }));
  assert.ok(fits({ to: ["carol@quay.example"], n: { a: 1 } }, { to: own, n: { a: 1 } }));
  assert.ok(fits({ url: "https://a.example/x/y" }, { url: { glob: "https://a.example/*" } }));
  assert.ok(fits({}, {}));
  const not: readonly (readonly [object, object])[] = [
    [{ to: "mallory@evil.example" }, { to: own }],
    // Parts of what stands there are other values.
    [{ to: "quay.example" }, { to: own }],
    [{ to: "carol@quay" }, { to: own }],
    [{ amount: 50 }, { amount: own }],
    [{ amount: 1250 }, { amount: own }],
    [{ iban: "US12 34567" }, { iban: own }],
    [{ to: ["carol@quay.example", "mallory@evil.example"] }, { to: own }],
    [{ to: "" }, { to: own }],
    [{ to: [] }, { to: own }],
    [{ all: true }, { all: own }],
    [{ url: "https://evil.example/https://a.example/" }, { url: { glob: "https://a.example/*" } }],
    [{ url: null }, { url: { glob: "*" } }],
    // One that the entry does not name, one that the call does not have, another type.
    [{ to: "carol@quay.example", also: "mallory" }, { to: own }],
    [{}, { to: own }],
    [{ amount: "1" }, { amount: 1 }],
    [{ __proto__: null, toString: "x" }, {}],
  ];
  for (const [args, wanted] of not) assert.equal(fits(args, wanted), false, JSON.stringify(args));
  const elsewhere = file({ tool: "mcp_bank_send_money", arguments: { to: own }, answer: "allow" });
  const asked = transfer({ to: "carol@quay.example" });
  assert.equal(elsewhere.take(asked), undefined, "the request is not one's own words");
});

Deno.test("a credential is shown withheld: fromRequest allows it where the kernel says that it is the one of the request", () => {
  const tool = "mcp_bank_update_password", own = { from: "request" }, foreign = { from: "agent" };
  const asked = (origins: readonly object[], request?: string): unknown =>
    file({ tool, arguments: { password: { fromRequest: true } }, answer: "allow" }).take(
      question({
        scope: { ...question().scope, tool },
        argumentsText: '{"password":"⟨withheld: password 6edc76d1bbf3⟩"}',
        ...{ changes: [], origins },
      }),
      { request },
    );
  const words = "make it 1j1l-2k3j";
  assert.ok(asked([{ at: "password", ...own }], words));
  assert.equal(asked([{ at: "password", ...foreign }], words), undefined);
  assert.equal(
    asked([{ at: "password", ...own }, { at: "password.0", ...foreign }], words),
    undefined,
  );
  assert.equal(asked([{ at: "user", ...own }], words), undefined);
  // Others wrote the request.
  assert.equal(asked([{ at: "password", ...own }]), undefined);
  const many = Array.from({ length: 64 }, (_, n) => ({ at: `password.${n}`, ...own }));
  assert.equal(asked(many, words), undefined);
});
