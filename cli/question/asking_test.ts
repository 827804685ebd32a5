import assert from "node:assert/strict";
import { Fault } from "../../contracts/base/mod.ts";
import { fakeKeyboard, fakePowers } from "../_fixture/world.ts";
import { change, question } from "../_fixture/samples.ts";
import { askPerson, readChoice } from "./asking.ts";
import { openKeyRing } from "../../config/key/ring.ts";
import { placesOf, preparePlaces } from "../../launch/disk/places.ts";

const staged = { content: Deno.makeTempDirSync() };

async function ask(
  typed: readonly (string | undefined)[],
  more: object = {},
  passphrase?: string,
): Promise<{ answer: Awaited<ReturnType<typeof askPerson>>; lines: string[]; prompts: string[] }> {
  const keyboard = fakeKeyboard(typed);
  const powers = fakePowers({ keyboard });
  const places = placesOf(powers.environment, undefined);
  preparePlaces(powers.disk, places, powers.environment.uid);
  const ring = openKeyRing(powers.disk, places);
  if (passphrase !== undefined) ring.createStepUp(passphrase);
  const answer = await askPerson(question(more), staged, { powers, keyboard, ring });
  return { answer, lines: powers.screen.lines, prompts: keyboard.prompts };
}

Deno.test("Enter alone, the end of input and a no deny; only a clear word allows", () => {
  const asked = { kind: "consent", remember: "x" } as const;
  for (const line of ["", "  ", undefined, "n", "no", "deny"]) {
    assert.deepEqual(readChoice(line, asked), { decision: "deny", for: "once" });
  }
  for (const line of ["y", "yes", "a", "allow", " Y "]) {
    assert.deepEqual(readChoice(line, asked), { decision: "allow", for: "once" });
  }
  for (const line of ["yy", "y please", "ok", "1", "sure", "yes\u200b"]) {
    assert.equal(readChoice(line, asked), undefined, line);
  }
});

Deno.test("words after a no reach the agent", () => {
  assert.deepEqual(readChoice("n keep the old title", { kind: "consent", remember: "x" }), {
    decision: "deny",
    for: "once",
    say: "keep the old title",
  });
});

Deno.test("turn and session are offered only where an answer is remembered", () => {
  assert.equal(readChoice("s", { kind: "consent", remember: "x" })?.valueOf() !== undefined, true);
  assert.equal(readChoice("s", { kind: "consent" }), undefined);
  assert.equal(readChoice("t", { kind: "stepUp", remember: "x" }), undefined);
});

Deno.test("carol is asked again until she says something clear", async () => {
  const { answer, lines } = await ask(["hm?", "d", "y"]);
  assert.equal(answer?.decision, "allow");
  const missed = lines.indexOf("  that is no answer here");
  assert.match(lines[missed + 1] ?? "", /y yes, once/, "and what is one stands under it");
});

Deno.test("carol is not asked about content that is not what it claims", async () => {
  const forged = change(staged.content, "desk/a", { next: "good" });
  Deno.writeTextFileSync(`${staged.content}/${forged.next}`, "bad");
  await assert.rejects(
    ask(["y"], { changes: [forged] }),
    (error: unknown) => error instanceof Fault && error.code === "refused",
  );
});

Deno.test("a stepUp question takes the passphrase, and waits without the right one", async () => {
  const good = await ask(["y", "correct horse"], { kind: "stepUp" }, "correct horse");
  const consent = await ask(["y"], {});
  assert.equal(good.answer?.decision, "allow");
  assert.notEqual(good.answer?.key, consent.answer?.key);
  const wrong = await ask(["y", "wrong"], { kind: "stepUp" }, "correct horse");
  assert.equal(wrong.answer, undefined);
  const none = await ask(["y"], { kind: "stepUp" });
  assert.equal(none.answer, undefined);
  assert.ok(none.lines.some((line) => line.includes("key create")));
});
