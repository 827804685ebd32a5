/**
 * An editor cancels in each state. Were one of them forgotten, a turn that the person believes to be over would go on:
 * ask, apply, spend. While a server starts and while a call runs: handed_servers_test.ts.
 */
import assert from "node:assert/strict";
import { type Editor, openEditor, texts } from "../../fake/editor.ts";
import { configured } from "../../fake/model_scenes.ts";
import { type Machine, onMachine } from "../../fake/remit.ts";
import { alicesPlans, MOVES_THE_TRIP, playing } from "../../fake/scenes.ts";
import { waitUntil } from "../../fake/wait_until.ts";

/** The same model, which speaks so slowly that it is heard before its turn is over. */
const SLOW = MOVES_THE_TRIP.replace(
  "turns:\n",
  "stream: { chunkChars: 2, delayMs: 3000, firstMs: 1 }\nturns:\n",
);

async function withSession(
  scenario: string,
  fn: (at: {
    readonly machine: Machine;
    readonly editor: Editor;
    readonly sessionId: string;
    readonly cwd: string;
    prompt(): Promise<string>;
    cancel(): Promise<void>;
  }) => Promise<void>,
): Promise<void> {
  await onMachine(async (machine) => {
    await configured(machine, "selfConsent: true\n");
    await alicesPlans(machine);
    // How far a turn came before it was cancelled is the machine's: the play has words for every later one.
    const play = `${scenario}  - { say: "I am here.", loop: true }\n`;
    const editor = openEditor(machine, await playing(machine, play));
    await editor.agent.request("initialize", { protocolVersion: 1 });
    editor.answer = () => Promise.resolve({ outcome: "selected", optionId: "allow" });
    const cwd = await Deno.realPath(`${machine.dir}/plans`);
    const { sessionId } = await editor.agent.request("session/new", { cwd, mcpServers: [] });
    await fn({
      ...{ machine, editor, sessionId, cwd },
      prompt: async () =>
        (await editor.agent.request("session/prompt", {
          sessionId,
          prompt: [{ type: "text", text: "Move the trip" }],
        })).stopReason,
      cancel: () => editor.agent.notify("session/cancel", { sessionId }),
    });
    assert.equal(await editor.ended(), 0);
    assert.match(await machine.read("plans/trip.txt"), /Monday/, "nothing was applied");
  });
}

Deno.test("cancelled with the prompt itself: it ends cancelled, asks nothing, and the next one is answered", async () => {
  await withSession(MOVES_THE_TRIP, async ({ editor, machine, prompt, cancel }) => {
    const turn = prompt();
    await cancel();
    assert.equal(await turn, "cancelled");
    assert.deepEqual(editor.asked, []);
    editor.answer = () => Promise.resolve({ outcome: "selected", optionId: "deny" });
    assert.equal(await prompt(), "end_turn");
    const [task] = (await machine.json(["task", "list"])) as { readonly status: string }[];
    assert.ok(task === undefined || task.status === "open", JSON.stringify(task));
  });
});

Deno.test("cancelled with no prompt under way: it is as if nothing was said, and the next prompt is not cancelled", async () => {
  await withSession(MOVES_THE_TRIP, async ({ editor, prompt, cancel }) => {
    await cancel();
    editor.answer = () => Promise.resolve({ outcome: "selected", optionId: "deny" });
    assert.equal(await prompt(), "end_turn");
    assert.equal(editor.asked.length, 1);
  });
});

Deno.test("cancelled while the model speaks: the turn ends at once, and no call is made", async () => {
  await withSession(SLOW, async ({ editor, prompt, cancel }) => {
    const turn = prompt();
    await waitUntil(
      "its first words",
      () => texts(editor.updates, "agent_message_chunk") !== "" || undefined,
    );
    await cancel();
    assert.equal(await turn, "cancelled");
    assert.ok(!editor.updates.some(({ sessionUpdate }) => sessionUpdate === "tool_call"));
  });
});

Deno.test("cancelled while a question is open, and once more: it is withdrawn, and a late yes counts for nothing", async () => {
  await withSession(MOVES_THE_TRIP, async ({ editor, machine, prompt, cancel }) => {
    const late = Promise.withResolvers<void>();
    editor.answer = async () => {
      await cancel();
      await cancel();
      await late.promise;
      return { outcome: "selected", optionId: "allow" };
    };
    assert.equal(await prompt(), "cancelled");
    late.resolve();
    assert.equal(editor.asked.length, 1);
    const open = await machine.json(["questions"]) as readonly { readonly state: string }[];
    assert.deepEqual(open.filter(({ state }) => state === "open"), []);
  });
});

Deno.test("cancelled while a session is loaded: all of its past is told, and its next prompt works", async () => {
  await withSession(MOVES_THE_TRIP, async ({ editor, machine, sessionId, cwd, prompt }) => {
    editor.answer = () => Promise.resolve({ outcome: "selected", optionId: "deny" });
    await prompt();
    const again = openEditor(machine, await playing(machine, MOVES_THE_TRIP));
    await again.agent.request("initialize", { protocolVersion: 1 });
    const loading = again.agent.request("session/load", { sessionId, cwd, mcpServers: [] });
    await again.agent.notify("session/cancel", { sessionId });
    await loading;
    assert.equal(texts(again.updates, "user_message_chunk"), "Move the trip");
    const { stopReason } = await again.agent.request("session/prompt", {
      sessionId,
      prompt: [{ type: "text", text: "/diff" }],
    });
    assert.equal(stopReason, "end_turn");
    assert.equal(await again.ended(), 0);
  });
});
