/** A stolen page key at the control socket of a real kernel: what a hostile gateway's starter could try at most. */
import { equal, ok, rejects } from "node:assert/strict";
import { makeKeyFile, openKey, type Signer } from "../../../config/key/person_key_powers.ts";
import { delegationOf } from "../../../cli/service/page/login.ts";
import { signAnswer, type Verdict } from "../../../cli/question/sign_answer.ts";
import type { Question } from "../../../contracts/authority/mod.ts";
import { Fault } from "../../../contracts/base/mod.ts";
import { NO_POLICY } from "../../../contracts/policy/mod.ts";
import { inHome, type KernelHome, type LiveKernel } from "../../fake/kernel.ts";
import { waitUntil } from "../../fake/wait_until.ts";

const HOUR = 3_600_000;
const WRITES = `
scenario: writes a file
turns:
  - calls: [{ tool: file_write, args: { path: desk/plan.md, content: "one" } }]
  - say: "I was told: {{ tool.file_write }}"
`;

const refused = (error: unknown): boolean => error instanceof Fault && error.code === "refused";

/** The question that waits: about a write. */
async function consent(kernel: LiveKernel, home: KernelHome): Promise<Question> {
  const mounts = [home.mount({ mode: "rw" })];
  const task = await kernel.run({ scenario: WRITES, onQuestion: "queue", mounts });
  return await waitUntil("the question", async () => (await kernel.questions(task))[0]);
}

function delegate(
  kernel: LiveKernel,
  { by, key, hours = 1 }: { readonly by: Signer; readonly key: Signer; readonly hours?: number },
): Promise<unknown> {
  const expiresAt = Date.now() + hours * HOUR;
  const claim = { key: key.key, expiresAt, kernel: kernel.receiptKey };
  return kernel.ask("delegate", delegationOf(by, claim));
}

function answer(
  kernel: LiveKernel,
  question: Question,
  how: { readonly signer: Signer; readonly for?: "turn"; readonly channel?: "terminal" },
): Promise<unknown> {
  const verdict: Verdict = {
    decision: "allow",
    for: how.for ?? "once",
    by: "page",
    channel: how.channel ?? "page",
  };
  return kernel.ask(
    "answer",
    signAnswer(question, verdict, { signer: how.signer, at: Date.now() }),
  );
}

Deno.test("a key that carol did not delegate, or not to this kernel, not for now, would have answered for her", async () => {
  await inHome(async (home) => {
    const kernel = await home.start();
    const question = await consent(kernel, home);
    const key = openKey(makeKeyFile());
    await rejects(answer(kernel, question, { signer: key }), refused);
    await rejects(delegate(kernel, { by: key, key }), refused);
    await rejects(delegate(kernel, { by: home.stepUp, key }), refused);
    await rejects(delegate(kernel, { by: home.person, key, hours: 7 * 24 + 1 }), refused);
    await rejects(delegate(kernel, { by: home.person, key, hours: 0 }), refused);
    await rejects(answer(kernel, question, { signer: key }), refused);

    await delegate(kernel, { by: home.person, key });
    await rejects(answer(kernel, question, { signer: key, for: "turn" }), refused);
    await rejects(answer(kernel, question, { signer: key, channel: "terminal" }), refused);
    await kernel.ask("undelegate", { key: key.key });
    await rejects(answer(kernel, question, { signer: key }), refused);

    await delegate(kernel, { by: home.person, key });
    await kernel.stop();
    const next = await home.start();
    await rejects(answer(next, question, { signer: key }), refused, "it lapses with the kernel");
    await delegate(next, { by: home.person, key });
    await answer(next, question, { signer: key });
    await waitUntil(
      "the call",
      () =>
        Deno.readTextFile(`${home.desk}/plan.md`).then(
          (text) => text === "one" ? true : undefined,
          () => undefined,
        ),
    );
    const log = await next.ask("log", { task: question.task, from: 0 });
    const answered = (Array.isArray(log) ? log : []).map(Object).find((each) =>
      each.event === "questionAnswered"
    );
    ok(answered !== undefined);
    equal(answered.body.delegatedBy, home.person.key);
    await next.stop();
  });
});

Deno.test("a page key that also says yes to what is grave would have stood for carol's passphrase", async () => {
  const rule = { tool: "file_write", mode: "stepUp", at: "remit.yaml:1" } as const;
  await inHome(async (home) => {
    const kernel = await home.start();
    const key = openKey(makeKeyFile());
    await delegate(kernel, { by: home.person, key });
    const question = await consent(kernel, home);
    equal(question.kind, "stepUp");
    await rejects(answer(kernel, question, { signer: key }), refused);
    await rejects(answer(kernel, question, { signer: key, channel: "terminal" }), refused);
    const forged = { ...question, kind: "consent" } as const;
    await rejects(answer(kernel, forged, { signer: key }), refused);
    equal((await kernel.questions(question.task)).length, 1);
    await rejects(Deno.stat(`${home.desk}/plan.md`));
    await kernel.stop();
  }, { policy: { ...NO_POLICY, rules: [rule] } });
});
