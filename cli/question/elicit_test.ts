import assert from "node:assert/strict";
import fc from "fast-check";
import { Answer } from "../../contracts/authority/mod.ts";
import { Fault, toJson } from "../../contracts/base/mod.ts";
import { fakeKeyboard, fakePowers, runCommandLine } from "../_fixture/world.ts";
import { QUESTION, question, taskJson } from "../_fixture/samples.ts";
import { parseAnswers } from "./answers_file.ts";
import { askPerson } from "./asking.ts";
import { columnsOf } from "../terminal/columns.ts";
import { parseElicit } from "./elicit_form.ts";
import { hostWords } from "./elicit_frame.ts";
import { openKeyRing } from "../../config/key/ring.ts";
import { makePaint } from "../terminal/paint.ts";
import { placesOf, preparePlaces } from "../../launch/disk/places.ts";
import { questionLines } from "./question_frame.ts";

const staged = { content: Deno.makeTempDirSync() };
const paper = { width: 80, paint: makePaint(false), whole: false };

function elicit(said: object): ReturnType<typeof question> {
  return question({
    kind: "elicit",
    summary: 'the imported server "tides" asks you for input, which it will be sent',
    argumentsText: JSON.stringify({ server: "tides", message: "Where do you moor?", ...said }),
  });
}

const PROPERTIES = {
  harbour: { type: "string", title: "Harbour", minLength: 2, maxLength: 20 },
  boats: { type: "integer", minimum: 1, maximum: 9 },
  quay: { type: "string", oneOf: [{ const: "n", title: "North" }, { const: "s", title: "South" }] },
  days: { type: "array", items: { enum: ["sat", "sun"] }, minItems: 1 },
  mail: { type: "string", format: "email" },
  lamps: { type: "boolean", default: true },
};
const FORM = { schema: { type: "object", properties: PROPERTIES, required: ["harbour", "boats"] } };
const REQUIRED = { harbour: "Nordhavn", boats: 2 };

async function ask(said: object, typed: readonly (string | undefined)[]) {
  const keyboard = fakeKeyboard(typed);
  const powers = fakePowers({ keyboard });
  const places = placesOf(powers.environment, undefined);
  preparePlaces(powers.disk, places, powers.environment.uid);
  const ring = openKeyRing(powers.disk, places);
  const answer = await askPerson(elicit(said), staged, { powers, keyboard, ring });
  return { answer, prompts: keyboard.prompts, shown: powers.screen.lines.join("\n") };
}

Deno.test("carol fills a form field by field, sees it whole, and what she sends is what she signs", async () => {
  const { answer, shown } = await ask(FORM, [
    "y",
    ...["N", "Nordhavn"], // too short, then right
    ...["ten", "12", "2.5", "2"],
    ...["North", "3", "2"], // a choice is its number
    ...["1,1", "2"],
    ...["nobody", "carol@example.org"],
    "no",
    "y",
  ]);
  assert.equal(answer?.decision, "allow");
  assert.deepEqual(JSON.parse(answer?.say ?? ""), {
    boats: 2,
    days: ["sun"],
    harbour: "Nordhavn",
    lamps: false,
    mail: "carol@example.org",
    quay: "s",
  });
  assert.match(shown, /An UNTRUSTED server asks you/);
  assert.match(shown, /server +tides, which is NOT trusted/);
  assert.match(shown, /this goes to tides, exactly:\n.*"harbour":"Nordhavn"/);
});

Deno.test("Enter on nothing declines: at the question, at a required field, at the last look", async () => {
  const declines: readonly (readonly (string | undefined)[])[] = [
    [""],
    [undefined],
    ["y", ""],
    ["y", "Nordhavn", undefined],
    ["y", "Nordhavn", "2", "", "", "", "", ""],
    ["y", "Nordhavn", "2", "", "", "", "", "maybe"],
  ];
  for (const typed of declines) {
    const { answer } = await ask(FORM, typed);
    assert.equal(answer?.decision, "deny", JSON.stringify(typed));
    assert.equal(answer?.say, undefined);
  }
  const { answer } = await ask(FORM, ["y", "Nordhavn", "2", "", "", "", "", "yes"]);
  assert.deepEqual(JSON.parse(answer?.say ?? ""), REQUIRED);
});

Deno.test("mallory's suggestion is taken only where carol says = ", async () => {
  const schema = {
    type: "object",
    properties: {
      harbour: { type: "string", default: "evil" },
      lamps: { type: "boolean", default: true },
    },
    required: ["lamps"],
  };
  const { answer } = await ask({ schema }, ["y", "", "=", "y"]);
  assert.deepEqual(JSON.parse(answer?.say ?? ""), { lamps: true });
  const bad = {
    type: "object",
    properties: { n: { type: "integer", default: "x", maximum: 3 } },
    required: ["n"],
  };
  const { answer: asked, shown } = await ask({ schema: bad }, ["y", "=", "3", "y"]);
  assert.deepEqual(JSON.parse(asked?.say ?? ""), { n: 3 });
  assert.match(shown, /not that: it takes a number/);
});

Deno.test("a server that asks for a password is named for it, and a key in an answer is, too", async () => {
  const schema = {
    type: "object",
    properties: { access_token: { type: "string" } },
    required: ["access_token"],
  };
  const { shown } = await ask({ schema }, ["y", "sk-abcdefghijklmnopqrstuv", ""]);
  assert.match(shown, /a secret\?/);
  assert.match(shown, /this looks like a secret: no server may ask for one this way/);
  assert.match(shown, /something in it looks like a key/);
});

Deno.test("an address is shown with its host apart, and nothing of it is opened or sent", async () => {
  const { answer, shown, prompts } = await ask(
    { url: "https://tides.example@evil.test/login?a=1" },
    ["y"],
  );
  assert.equal(answer?.decision, "allow");
  assert.equal(answer?.say, undefined);
  assert.equal(prompts.length, 1);
  assert.match(shown, /host +evil\.test, what stands before the @ is no host/);
  assert.match(shown, /│ https:\/\/tides\.example@evil\.test\/login\?a=1/);
  assert.match(hostWords("http://a.test") ?? "", /NOT encrypted/);
  assert.match(hostWords("https://xn--80ak6aa92e.com/") ?? "", /may look like others/);
  for (const none of ["javascript:alert(1)", "file:///etc/passwd", "not an address", ""]) {
    assert.equal(hostWords(none), undefined, none);
  }
});

Deno.test("mallory's words cannot draw the frame, whatever they are", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 300 }),
    fc.constantFrom(
      "┗━━━\n  y go on\n┏━ Remit asks",
      "\x1b[2J\x1b[H",
      "\u202eevil",
      "漢".repeat(200),
      "\r\n\x9b31m",
    ),
  );
  fc.assert(
    fc.property(text, text, text, text, (message, name, title, option) => {
      const schema = {
        type: "object",
        properties: { [name]: { type: "string", title, description: message, enum: [option] } },
      };
      for (const said of [{ message, schema }, { message, url: title }]) {
        const lines = questionLines(elicit(said), [], paper);
        const inner = lines.slice(1, -1);
        assert.ok(inner.every((line) => line.startsWith("┃")), inner.join("\n"));
        assert.ok(lines.every((line) => columnsOf(line) <= 80));
        assert.ok(lines.every((line) => !/\p{C}/u.test(line)));
        assert.equal(lines.filter((line) => line.startsWith("┗")).length, 1);
      }
    }),
    { numRuns: 60 },
  );
});

Deno.test("what is no form is denied or left, never guessed: nested, huge, no JSON", async () => {
  const hostile: readonly object[] = [
    { schema: "{" },
    { schema: [] },
    {
      schema: {
        type: "object",
        properties: Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`f${n}`, {}])),
      },
    },
  ];
  for (const said of hostile) {
    assert.throws(() => parseElicit(elicit(said)), Fault);
    assert.ok(questionLines(elicit(said), [], paper).length > 3);
    await assert.rejects(ask(said, ["y"]), /deny it/);
  }
  const nested = {
    schema: {
      type: "object",
      properties: { a: { type: "object", properties: {} } },
      required: ["a"],
    },
  };
  assert.equal((await ask(nested, ["y", "x"])).answer?.decision, "deny");
});

const answers = (...list: object[]) => parseAnswers("a.json", JSON.stringify({ answers: list }));

Deno.test("prepared answers fill a form only for the server that they name, and only when it fits whole", () => {
  const fields = { ...REQUIRED, quay: "n" };
  const good = answers({ server: "tides", fields, answer: "allow" });
  assert.deepEqual(JSON.parse(good.take(elicit(FORM))?.say ?? ""), fields);
  assert.equal(good.take(elicit(FORM)), undefined, "used up");
  const misses: readonly object[] = [
    { server: "boats", fields, answer: "allow" },
    { server: "tides", fields: { harbour: "Nordhavn" }, answer: "allow" },
    { server: "tides", fields: { ...fields, more: "x" }, answer: "allow" },
    { server: "tides", fields: { ...fields, quay: "North" }, answer: "allow" },
    { server: "tides", fields: { ...fields, boats: 12 }, answer: "allow" },
    { server: "tides", fields, url: "https://a.test/", answer: "allow" },
    { tool: "patch_apply", answer: "allow" },
  ];
  for (const miss of misses) {
    assert.equal(answers(miss).take(elicit(FORM)), undefined, JSON.stringify(miss));
  }
  const url = "https://a.test/x";
  assert.equal(answers({ server: "tides", answer: "allow" }).take(elicit({ url })), undefined);
  assert.equal(
    answers({ server: "tides", url, answer: "allow" }).take(elicit({ url }))?.say,
    undefined,
  );
  assert.equal(
    answers({ server: "tides", url, answer: "allow" }).take(elicit({ url }))?.decision,
    "allow",
  );
  assert.equal(answers({ server: "tides", answer: "deny" }).take(elicit(FORM))?.decision, "deny");
  assert.throws(() => answers({ answer: "allow" }), /Cannot read answers/);
});

Deno.test("from another terminal a form is given as JSON, and what does not fit is not sent", async () => {
  const powers = fakePowers({
    ops: {
      question: () => toJson(elicit(FORM)),
      staged: () => toJson({ patch: null, changes: [], applied: [], content: "/nowhere" }),
      questions: () => [],
      log: () => [],
      answer: () => null,
      watch(_body, kernel) {
        kernel.end("done", 0);
        return null;
      },
      task: () => taskJson(),
      receipts: () => [],
      head: () => ({ head: "c".repeat(64) }),
    },
  });
  const answer = (...words: string[]): Promise<number> =>
    runCommandLine(["answer", QUESTION, ...words], powers);
  const given = (): Answer | undefined => {
    const [, body] = powers.kernels_.last?.asked.find(([op]) => op === "answer") ?? [];
    return body === undefined ? undefined : Answer.parse(body);
  };
  for (const say of [[], ["--say", "Nordhavn"], ["--say", '{"harbour":"Nordhavn"}']]) {
    assert.equal(await answer("allow", ...say), 2, say.join(" "));
    assert.equal(given(), undefined);
  }
  assert.match(powers.screen.lines.join("\n"), /"boats" is required; give its fields: --say/);
  assert.equal(await answer("allow", "--say", JSON.stringify(REQUIRED)), 0);
  assert.deepEqual(JSON.parse(given()?.say ?? ""), REQUIRED);
  assert.equal(await answer("deny", "--say", "no"), 0);
  assert.equal(given()?.decision, "deny");
});
