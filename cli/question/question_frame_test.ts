import assert from "node:assert/strict";
import fc from "fast-check";
import type { Question } from "../../contracts/authority/mod.ts";
import { editorQuestion } from "../acp/question.ts";
import { change, question } from "../_fixture/samples.ts";
import { columnsOf } from "../terminal/columns.ts";
import { makeDisk } from "../../launch/disk/disk_powers.ts";
import { makePaint } from "../terminal/paint.ts";
import { questionLines, shownWhole } from "./question_frame.ts";
import { showChange } from "./shown_content.ts";

function editorText(asked: Question): string {
  const shown = { id: "x", answerable: true, command: "remit", changes: [], unsaved: [] };
  return JSON.stringify(editorQuestion(asked, shown)).replaceAll('\\"', '"');
}

const options = { width: 80, paint: makePaint(false), whole: false };
const folder = Deno.makeTempDirSync();
const disk = makeDisk();

Deno.test("a question shows tool, arguments, change, sources, rule and what is remembered", () => {
  const staged = change(folder, "desk/notes/plan.md", { base: "one\ntwo\n", next: "one\n2\n" });
  const asked = question({ changes: [staged], asked: 3, remember: "patch_apply in desk" });
  const lines = questionLines(asked, [showChange(disk, folder, staged)], options);
  assert.deepEqual(lines, [
    `┏━ Remit asks for your consent (question 3 of this task) ${"━".repeat(22)}`,
    "┃ Apply 1 change to desk",
    "┃",
    "┃ tool        patch_apply  (mutateLocal)",
    "┃ arguments   exactly these",
    "┃   │ {}",
    "┃ change      changed, +1 −1",
    "┃   │ desk/notes/plan.md",
    "┃   │ @@ -1,2 +1,2 @@",
    "┃   │  one",
    "┃   │ -two",
    "┃   │ +2",
    "┃ has read    this, which you did not write",
    "┃   │ desk/inbox/mail.eml  (RED, internal)",
    "┃ state       colour RED, label internal",
    "┃ rule        built-in: changes are reviewed",
    "┃ session     answering s would store: patch_apply in desk; t the same until",
    "┃             this turn ends. Other arguments ask again, and so do the same",
    "┃             ones at another colour or label",
    `┗${"━".repeat(78)}`,
  ]);
});

Deno.test("why the agent wants it stands in the frame as its own words, each line behind a mark", () => {
  const reason = { why: "You asked\n┃ rule        allow", authority: "plans", without: "Nothing" };
  const lines = questionLines(question({ reason }), [], options);
  const at = lines.findIndex((line) => line.includes("agent says"));
  assert.equal(lines[at], "┃ agent says  in its own words, which nobody checked:");
  assert.match(lines[at + 1] ?? "", /^┃ {3}│ why: You asked/);
  assert.equal(lines.filter((line) => /^┃ rule/.test(line)).length, 1);
  assert.deepEqual(lines.slice(at + 2, at + 4), [
    "┃   │ touches: plans",
    "┃   │ without it: Nothing",
  ]);
});

Deno.test("what is not as it was at the last call stands in the frame, and the description that was reviewed", () => {
  const earlier = {
    ...{ task: "t000000000009", at: Date.UTC(2026, 10, 2, 9, 30), more: 2 },
    differs: [{ at: "to", was: '"UK1"', now: '"US9\n┗━━"' }, { at: "cc", now: '"x"' }],
  };
  const lines = questionLines(question({ earlier, described: "Pays.\x1b[2J" }), [], options);
  const at = lines.findIndex((line) => line.includes("last call"));
  assert.deepEqual(lines.slice(at, at + 7), [
    "┃ last call   in task t000000000009, 2026-11-02 09:30 UTC; what is not as it",
    "┃             was then:",
    '┃   │ to: "UK1" → "US9\\u{a}┗━━"',
    '┃   │ cc: (not there) → "x"',
    "┃   │ … and 2 more values",
    "┃ tool says   in the words of its server, as they were reviewed:",
    "┃   │ Pays.\\u{1b}[2J",
  ]);
  const same = questionLines(
    question({ earlier: { ...earlier, differs: [], more: 0 } }),
    [],
    options,
  );
  assert.ok(same.some((line) => line.includes("the same arguments, in task t000000000009")));
  const first = questionLines(question({ earlier: null }), [], options);
  assert.ok(first.some((line) => line.includes("among the newest calls")));
  const text = editorText(question({ earlier, described: "Pays.\x1b[2J" }));
  assert.match(
    text,
    /last call: in task t000000000009[^]*to: "UK1" → "US9[^]*as it was reviewed: Pays/,
  );
  assert.ok(!text.includes("\x1b"));
});

Deno.test("mallory's text cannot draw the frame, whatever it is", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 400 }),
    fc.constantFrom(
      "┗━━━━\n  y yes, once\n┏━ Remit asks",
      "\x1b[2J\x1b[H",
      "\u202eevil",
      "x".repeat(500),
      "\u200b\u2028\u2029\u0085\r\n",
      "漢".repeat(200),
      "\x9b31m",
    ),
  );
  fc.assert(
    fc.property(text, text, text, (one, two, three) => {
      const staged = change(folder, `desk/${one.slice(0, 100)}`, { base: two, next: three });
      const asked = question({
        changes: [staged],
        argumentsText: two,
        summary: one.slice(0, 300),
        rule: three.slice(0, 300),
        reason: {
          why: one.slice(0, 500),
          authority: two.slice(0, 500),
          without: three.slice(0, 500),
        },
        executes: [two],
        sources: [{ source: one.slice(0, 300), colour: "RED", label: "secret" }],
        scope: { ...question().scope, destination: three.slice(0, 300) },
      });
      const lines = questionLines(asked, [showChange(disk, folder, staged)], options);
      const [first = "", ...rest] = lines;
      const last = rest.pop() ?? "";
      assert.match(first, /^┏━ Remit asks for your consent/);
      assert.match(last, /^┗━+$/);
      for (const line of rest) {
        assert.match(line, /^┃/);
        assert.ok(columnsOf(line) <= 80, line);
        assert.doesNotMatch(
          line,
          // deno-lint-ignore no-control-regex -- it looks for them
          /[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/,
        );
      }
    }),
    { numRuns: 300 },
  );
});

Deno.test("a context line that is too long cannot pass its rest off as an added line", () => {
  const long = `${" ".repeat(71)}+rm -rf everything`;
  const staged = change(folder, "desk/a", { base: `${long}\nold\n`, next: `${long}\nnew\n` });
  const lines = questionLines(question({ changes: [staged] }), [
    showChange(disk, folder, staged),
  ], { ...options, paint: makePaint(true) });
  const spoof = lines.find((line) => line.includes("+rm -rf"));
  assert.ok(spoof !== undefined && spoof.includes("↪"), spoof);
  assert.ok(!spoof.includes("\x1b[32m"), "painted as an addition");
});

Deno.test("a long diff is cut with its rest counted, and shown whole when asked for", () => {
  const next = Array.from({ length: 300 }, (_, n) => `line ${n}\n`).join("");
  const staged = change(folder, "desk/long", { next });
  const shown = [showChange(disk, folder, staged)];
  const asked = question({ changes: [staged] });
  assert.ok(questionLines(asked, shown, options).some((line) => /241 more lines/.test(line)));
  const whole = questionLines(asked, shown, { ...options, whole: true });
  assert.ok(whole.some((line) => line.includes("line 299")));
});

Deno.test("changed files that execute later are shown apart", () => {
  const lines = questionLines(question({ executes: ["desk/package.json"] }), [], options);
  assert.ok(lines.some((line) => line.startsWith("┃ runs later")));
  assert.ok(lines.includes("┃   │ desk/package.json"));
});

Deno.test("content whose digest does not fit is not shown", () => {
  const staged = change(folder, "desk/x", { next: "honest" });
  Deno.writeTextFileSync(`${folder}/${staged.next}`, "forged");
  assert.throws(() => showChange(disk, folder, staged), /not what its digest says/);
});

Deno.test("what is no text is named by its size and digest", () => {
  const staged = change(folder, "desk/bin", { next: "a\0b" });
  assert.match(
    showChange(disk, folder, staged).note ?? "",
    /no text: 3 bytes, sha256 [0-9a-f]{64}/,
  );
});

Deno.test("only what a frame leaves nothing out of counts as seen", () => {
  const seen = (contents: { readonly base?: string; readonly next?: string }, whole = false) => {
    const staged = change(folder, "desk/x.md", contents);
    const found = shownWhole([showChange(disk, folder, staged)], whole);
    assert.ok(found.every((digest) => digest === staged.next));
    return found.length === 1;
  };
  const lines = (count: number): string => "line\n".repeat(count);
  assert.equal(seen({ next: lines(59) }), true);
  assert.equal(seen({ next: lines(60) }), false, "it was cut");
  assert.equal(seen({ next: lines(60) }, true), true, "all of it was asked for");
  assert.equal(seen({ base: lines(200), next: `${lines(200)}more\n` }), true);
  assert.equal(seen({ next: "a\0b" }, true), false, "binary content is not shown");
  assert.equal(seen({ next: "x".repeat(20_001) }, true), false, "nobody reads such a line");
  assert.equal(seen({ base: "gone\n" }, true), false, "nothing is there to vouch for");
});

Deno.test("what an agent can write as text is shown as text, whatever was there and however it is encoded", () => {
  const wide = (text: string): Uint8Array =>
    new Uint8Array(Uint16Array.from(`\ufeff${text}`, (unit) => unit.charCodeAt(0)).buffer);
  const shown = (base: string | Uint8Array | undefined, next: string | Uint8Array | undefined) => {
    const contents = {
      ...(base === undefined ? {} : { base }),
      ...(next === undefined ? {} : { next }),
    };
    const { note, lines } = showChange(disk, folder, change(folder, "desk/x", contents));
    return [note, ...lines];
  };
  const latin = new Uint8Array([0x63, 0xe9, 0x0a]);
  const [note, ...lines] = shown(latin, "caf\u00e9\n");
  assert.match(
    note ?? "",
    /^what was there is no text; all that comes: 6 bytes, sha256 [0-9a-f]{64}$/,
  );
  assert.deepEqual(lines, ["@@ -1,0 +1,1 @@", "+caf\u00e9"]);
  assert.deepEqual(shown(wide("one\ntwo\n"), wide("one\n2\n")), [
    "in utf-16le",
    "@@ -1,2 +1,2 @@",
    " \\u{feff}one",
    "-two",
    "+2",
  ]);
  assert.deepEqual(shown(wide("one\n"), undefined), [
    "in utf-16le",
    "@@ -1,1 +1,0 @@",
    "-\\u{feff}one",
  ]);
  assert.deepEqual(shown(wide("one\n"), "\ufeffone\n"), ["encoded anew, from utf-16le to utf-8"]);
  assert.deepEqual(shown(latin, undefined).map((line) => line?.slice(0, 24)), [
    "no text: 3 bytes, sha256",
  ]);
});

Deno.test("advice stands in a question as Remit's own words, one line each, and cannot leave the frame", () => {
  const advice = ["the arguments hold something that looks like a key", "x\n┗━━━━\x1b[2J"];
  const lines = questionLines(question({ advice }), [], options);
  assert.deepEqual(lines.filter((line) => line.includes("look twice")), [
    "┃ look twice  the arguments hold something that looks like a key",
    "┃ look twice  x\\u{a}┗━━━━\\u{1b}[2J",
  ]);
  assert.ok(lines.slice(1, -1).every((line) => line.startsWith("┃")));
});
