/** alice works in her editor: it speaks the Agent Client Protocol with a real `remit acp`, over the protocol's own client. */
import assert from "node:assert/strict";
import { type Editor, openEditor, texts } from "../fake/editor.ts";
import { type Machine, onMachine } from "../fake/remit.ts";
import { configured } from "../fake/model_scenes.ts";
import { alicesPlans, MOVES_THE_TRIP, playing } from "../fake/scenes.ts";

/** The same model, which tries once more when it is told to. */
const ONCE_MORE = MOVES_THE_TRIP.replace(
  "turns:\n",
  `turns:
  - when: { message: 2, result: { tool: patch_apply } }
    say: "I was told: {{ tool.patch_apply }}"
  - when: { message: 2 }
    calls: [{ tool: patch_apply }]
`,
);

async function opened(
  machine: Machine,
): Promise<{ readonly editor: Editor; readonly cwd: string }> {
  await alicesPlans(machine);
  const editor = openEditor(machine, await playing(machine, ONCE_MORE));
  const { protocolVersion, agentCapabilities } = await editor.agent.request("initialize", {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false } },
  });
  assert.equal(protocolVersion, 1);
  assert.equal(agentCapabilities?.loadSession, true);
  return { editor, cwd: await Deno.realPath(`${machine.dir}/plans`) };
}

Deno.test("alice edits a folder from her editor: she sees the call, the diff and the question, answers there, and takes the talk up again", async () => {
  await onMachine(async (machine) => {
    await configured(machine, "selfConsent: true\n");
    const { editor, cwd } = await opened(machine);
    const { sessionId, modes, configOptions } = await editor.agent.request("session/new", {
      cwd,
      mcpServers: [],
    });
    assert.equal(modes?.currentModeId, "work");
    assert.deepEqual(configOptions?.map(({ id }) => id), ["mode", "model"]);
    editor.answer = ({ options }) => {
      assert.deepEqual(options.map(({ kind }) => kind), ["allow_once", "reject_once"]);
      return Promise.resolve({ outcome: "selected", optionId: "allow" });
    };
    const { stopReason } = await editor.agent.request("session/prompt", {
      sessionId,
      prompt: [{ type: "text", text: "Move the trip" }],
    });
    assert.equal(stopReason, "end_turn");
    assert.equal(await machine.read("plans/trip.txt"), "Leave on Tuesday.\nTake the boat.\n");
    assert.match(texts(editor.updates, "agent_message_chunk"), /The trip is on Tuesday now\./);
    const calls = editor.updates.filter(({ sessionUpdate }) => sessionUpdate === "tool_call");
    const [read, edit, apply] = calls.map((call) => "toolCallId" in call ? call : undefined);
    assert.ok(read !== undefined && edit !== undefined && apply !== undefined);
    assert.deepEqual("locations" in read ? read.locations : undefined, [{
      path: `${cwd}/trip.txt`,
    }]);
    assert.deepEqual("content" in edit ? edit.content : undefined, [
      { type: "diff", path: `${cwd}/trip.txt`, oldText: "Monday", newText: "Tuesday" },
    ]);
    // The question is about the call that was announced, under its id, and shows exactly the change.
    assert.equal(editor.asked[0]?.toolCall.toolCallId, apply.toolCallId);
    assert.match(
      JSON.stringify(editor.asked[0]?.toolCall.content),
      /-Leave on Monday\.\\n\+Leave on Tuesday\./,
    );
    const last = new Map(
      editor.updates.flatMap((update) =>
        "toolCallId" in update && typeof update.status === "string"
          ? [[update.toolCallId, update.status]]
          : []
      ),
    );
    assert.deepEqual([...last.values()], ["completed", "completed", "completed"]);
    // Every line on standard output is a message.
    for (const line of editor.output().trim().split("\n")) {
      assert.equal(JSON.parse(line).jsonrpc, "2.0");
    }
    const listed = await editor.agent.request("session/list", { cwd });
    assert.deepEqual(listed.sessions.map((each) => each.sessionId), [sessionId]);
    // The editor dies; what was said is in the task, and is told again before the answer.
    await editor.kill();
    const again = openEditor(machine, await playing(machine, MOVES_THE_TRIP));
    await again.agent.request("initialize", { protocolVersion: 1 });
    await again.agent.request("session/load", { sessionId, cwd, mcpServers: [] });
    assert.equal(texts(again.updates, "user_message_chunk"), "Move the trip");
    assert.match(texts(again.updates, "agent_message_chunk"), /The trip is on Tuesday now\./);
    assert.equal(
      again.updates.filter(({ sessionUpdate }) => sessionUpdate === "tool_call").length,
      3,
    );
    const undone = await again.agent.request("session/prompt", {
      sessionId,
      prompt: [{ type: "text", text: "/undo" }],
    });
    assert.equal(undone.stopReason, "end_turn");
    assert.equal(await machine.read("plans/trip.txt"), "Leave on Monday.\nTake the boat.\n");
    assert.equal(await again.ended(), 0);
  });
});

Deno.test("without selfConsent the editor can only deny; a yes from a terminal lets the turn go on", async () => {
  await onMachine(async (machine) => {
    const { editor, cwd } = await opened(machine);
    const { sessionId } = await editor.agent.request("session/new", {
      cwd,
      mcpServers: [{
        name: "bank",
        command: "/bin/bank",
        args: ["--all"],
        env: [{ name: "BANK_KEY", value: "swordfish-7" }],
      }],
    });
    editor.answer = async ({ options, toolCall }) => {
      assert.deepEqual(options.map(({ kind }) => kind), ["reject_once"]);
      const [, id = ""] = /answer (q[0-9a-z]{12}) allow/.exec(JSON.stringify(toolCall)) ?? [];
      const { code, stderr } = await machine.remit(["answer", id, "allow"]);
      assert.equal(code, 0, stderr);
      // Too late, and about nothing that was offered.
      return { outcome: "selected", optionId: "allow" };
    };
    const { stopReason } = await editor.agent.request("session/prompt", {
      sessionId,
      prompt: [{ type: "text", text: "Move the trip" }],
    });
    assert.equal(stopReason, "end_turn");
    assert.equal(await machine.read("plans/trip.txt"), "Leave on Tuesday.\nTake the boat.\n");
    assert.match(
      texts(editor.updates, "agent_message_chunk"),
      /"bank" of your editor is not used: you have not reviewed it; .*: `.*mcp add bank --secret BANK_KEY .*-- \/bin\/bank --all`/,
    );
    assert.equal(await editor.ended(), 0);
  });
});

Deno.test("a prompt that is cancelled while it asks ends cancelled, and nothing is applied", async () => {
  await onMachine(async (machine) => {
    await configured(machine, "selfConsent: true\n");
    const { editor, cwd } = await opened(machine);
    const { sessionId } = await editor.agent.request("session/new", { cwd, mcpServers: [] });
    editor.answer = async () => {
      await editor.agent.notify("session/cancel", { sessionId });
      return { outcome: "cancelled" };
    };
    const turn = editor.agent.request("session/prompt", {
      sessionId,
      prompt: [{ type: "text", text: "Move the trip" }],
    });
    assert.equal((await turn).stopReason, "cancelled");
    assert.equal(await machine.read("plans/trip.txt"), "Leave on Monday.\nTake the boat.\n");
    // What was cancelled is over: the same can be asked again, and denied in words that the agent hears.
    const told = editor.updates.length;
    editor.answer = () => Promise.resolve({ outcome: "selected", optionId: "deny" });
    const again = await editor.agent.request("session/prompt", {
      sessionId,
      prompt: [{ type: "text", text: "Move the trip" }],
    });
    assert.equal(again.stopReason, "end_turn");
    assert.match(texts(editor.updates.slice(told), "agent_message_chunk"), /I was told/);
    const used = editor.updates.flatMap((update) =>
      update.sessionUpdate === "usage_update" ? [update.used] : []
    );
    assert.ok(
      used.every((tokens) => tokens > 0 && tokens < 20_000),
      "the context, and no sum of all turns",
    );
    // Planning is a mode that is applied, and told.
    await editor.agent.request("session/set_mode", { sessionId, modeId: "plan" });
    const options = await editor.agent.request("session/set_config_option", {
      sessionId,
      configId: "mode",
      value: "work",
    });
    assert.deepEqual(options.configOptions.map(({ id, currentValue }) => [id, currentValue])[0], [
      "mode",
      "work",
    ]);
    assert.deepEqual(
      editor.updates.flatMap((update) =>
        update.sessionUpdate === "current_mode_update" ? [update.currentModeId] : []
      ),
      ["plan", "work"],
    );
    assert.equal(await editor.ended(), 0);
  });
});

Deno.test("mallory's editor sends what is no message, sessions that are not hers, folders that are none: each gets its error, and the next is served", async () => {
  await onMachine(async (machine) => {
    const { editor, cwd } = await opened(machine);
    const refused = async (
      method: "session/new" | "session/load" | "session/prompt",
      params: never,
      code: number,
    ): Promise<void> => {
      await assert.rejects(
        editor.agent.request(method, params),
        (error: { readonly code?: number }) => {
          assert.equal(error.code, code, `${method} ${JSON.stringify(params)}`);
          return true;
        },
      );
    };
    await refused("session/new", { cwd: "plans", mcpServers: [] } as never, -32602);
    await refused("session/new", { cwd: "/nowhere/at/all", mcpServers: [] } as never, -32602);
    await refused("session/new", { cwd: 7 } as never, -32602);
    await refused(
      "session/load",
      { sessionId: "s000000000000", cwd, mcpServers: [] } as never,
      -32002,
    );
    await refused("session/prompt", { sessionId: "s000000000000", prompt: [] } as never, -32002);
    const { sessionId } = await editor.agent.request("session/new", { cwd, mcpServers: [] });
    await refused("session/prompt", { sessionId, prompt: [] } as never, -32602);
    await refused(
      "session/prompt",
      { sessionId, prompt: [{ type: "image", data: "aa", mimeType: "image/png" }] } as never,
      -32602,
    );
    const said = await editor.agent.request("session/prompt", {
      sessionId,
      prompt: [{ type: "text", text: "/plan" }],
    });
    assert.equal(said.stopReason, "end_turn");
    assert.equal(await editor.ended(), 0);
  });
});
