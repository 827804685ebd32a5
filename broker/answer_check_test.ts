import { deepEqual, equal, rejects, throws } from "node:assert/strict";
import { sign } from "node:crypto";
import type { Answer } from "../contracts/authority/mod.ts";
import { type Delegation, delegationClaim } from "../contracts/base/delegation.ts";
import { Fault } from "../contracts/base/fault.ts";
import type { Question } from "../contracts/authority/mod.ts";
import { canonicalJson } from "../port/mod.ts";
import { CAROL, CAROL_STEP_UP, KERNEL_KEY, type Keys, makeKeys } from "./_fixture/carol.ts";
import { makeWorld, type World } from "./_fixture/world.ts";

const DAY = 86_400_000;
const PAGE = makeKeys();
const AT_PAGE: Partial<Answer> = { by: "page", channel: "page" };

function delegation(
  world: World,
  more: Partial<Delegation> = {},
  by: { readonly signer?: Keys; readonly kernel?: string; readonly scope?: string } = {},
): Delegation {
  const { key = PAGE.raw, expiresAt = world.powers.now() + DAY } = more;
  const claim = delegationClaim({ key, expiresAt, kernel: by.kernel ?? KERNEL_KEY });
  const said = canonicalJson({ ...claim, scope: by.scope ?? "consent" });
  const made = sign(null, new TextEncoder().encode(said), (by.signer ?? CAROL).secret);
  const signature = new Uint8Array(made).toBase64({ alphabet: "base64url", omitPadding: true });
  return { key, expiresAt, signature, ...more };
}

async function asked(effect: "mutateLocal" | "destructive" = "mutateLocal"): Promise<{
  readonly world: World;
  readonly question: Question;
}> {
  const world = await makeWorld({ row: { onQuestion: "queue" } });
  world.add({ name: "act", effect });
  await rejects(world.call("act"));
  return { world, question: await world.openQuestion() };
}

const refused = (error: unknown): boolean => error instanceof Fault && error.code === "refused";

Deno.test("a key that carol delegated answers a consent, and the log says whose word it is", async () => {
  const { world, question } = await asked();
  await rejects(world.questions.answer(world.signed(question, AT_PAGE, PAGE)), refused);
  world.questions.delegations.delegate(delegation(world));
  equal((await world.questions.answer(world.signed(question, AT_PAGE, PAGE))).state, "allowed");
  const event = world.log.events.find(({ kind }) => kind === "questionAnswered");
  const { by, channel, key, delegatedBy } = event?.body ?? {};
  deepEqual([by, channel, key, delegatedBy], ["page", "page", PAGE.raw, CAROL.raw]);
  equal((await world.call("act", {}, { id: "c1" })).outcome, "ok");
});

Deno.test("an answer of carol's own is nobody's delegated word", async () => {
  const { world, question } = await asked();
  await world.questions.answer(world.signed(question));
  const event = world.log.events.find(({ kind }) => kind === "questionAnswered");
  equal(event?.body["delegatedBy"], undefined);
});

Deno.test("mallory delegates herself nothing: another signer, kernel, scope, key or time is refused", async () => {
  const { world, question } = await asked();
  const { delegations } = world.questions;
  const good = delegation(world);
  const wrong: readonly Delegation[] = [
    delegation(world, {}, { signer: makeKeys() }),
    delegation(world, {}, { signer: PAGE }),
    delegation(world, {}, { signer: CAROL_STEP_UP }),
    delegation(world, {}, { kernel: makeKeys().raw }),
    delegation(world, {}, { scope: "stepUp" }),
    { ...good, key: makeKeys().raw },
    { ...good, expiresAt: good.expiresAt + 1 },
    { ...good, signature: "" },
    { ...good, signature: "***" },
    delegation(world, { expiresAt: world.powers.now() }),
    delegation(world, { expiresAt: world.powers.now() + 7 * DAY + 1 }),
    delegation(world, { key: CAROL.raw }),
    delegation(world, { key: CAROL_STEP_UP.raw }),
  ];
  for (const each of wrong) throws(() => delegations.delegate(each), refused);
  await rejects(world.questions.answer(world.signed(question, AT_PAGE, PAGE)), refused);
});

Deno.test("a delegated key answers nothing after its time, nor once it is taken back", async () => {
  const { world, question } = await asked();
  const { delegations } = world.questions;
  delegations.delegate(delegation(world, { expiresAt: world.powers.now() + 1_000 }));
  world.powers.turn(1_000);
  await rejects(world.questions.answer(world.signed(question, AT_PAGE, PAGE)), refused);
  delegations.delegate(delegation(world));
  delegations.undelegate(PAGE.raw);
  await rejects(world.questions.answer(world.signed(question, AT_PAGE, PAGE)), refused);
  equal(world.questions.get(question.id)?.state, "open");
});

Deno.test("a delegated key lapses with the kernel", async () => {
  const { world, question } = await asked();
  world.questions.delegations.delegate(delegation(world));
  const next = await makeWorld({ from: world, row: { onQuestion: "queue" } });
  await rejects(next.questions.answer(next.signed(question, AT_PAGE, PAGE)), refused);
});

Deno.test("a delegated key says neither yes nor no to a stepUp, whatever its holder claims", async () => {
  const { world, question } = await asked("destructive");
  world.questions.delegations.delegate(delegation(world));
  for (const decision of ["allow", "deny"] as const) {
    for (const channel of ["page", "terminal", "command"] as const) {
      const answer = world.signed(question, { by: "page", channel, decision }, PAGE);
      await rejects(world.questions.answer(answer), refused);
    }
  }
  equal(world.questions.get(question.id)?.state, "open");
});

Deno.test("nor to what is no consent: recovery, budget, brake, a server's form", async () => {
  const { world, question } = await asked();
  world.questions.delegations.delegate(delegation(world));
  for (const kind of ["recovery", "budget", "brake", "elicit"] as const) {
    const id = `q${kind.padEnd(12, "0")}` as Question["id"];
    const other: Question = { ...question, id, kind };
    await world.questions.ask(other, { wait: false, signal: new AbortController().signal });
    await rejects(world.questions.answer(world.signed(other, AT_PAGE, PAGE)), refused);
    equal(world.questions.get(id)?.state, "open");
  }
});

Deno.test("a delegated key answers once, at the page, to exactly what was shown", async () => {
  const { world, question } = await asked();
  world.questions.delegations.delegate(delegation(world));
  const wrong: readonly Answer[] = [
    world.signed(question, { ...AT_PAGE, for: "turn" }, PAGE),
    world.signed(question, { ...AT_PAGE, for: "session" }, PAGE),
    world.signed(question, { ...AT_PAGE, channel: "terminal" }, PAGE),
    world.signed({ ...question, summary: "Read a file." }, AT_PAGE, PAGE),
    { ...world.signed(question, AT_PAGE, PAGE), decision: "deny" },
    { ...world.signed(question, AT_PAGE, PAGE), key: CAROL.raw },
  ];
  for (const answer of wrong) await rejects(world.questions.answer(answer), refused);
  equal((await world.questions.answer(world.signed(question, AT_PAGE, PAGE))).state, "allowed");
});
