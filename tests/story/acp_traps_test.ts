/** What goes wrong in other agents of editors, a test for each: the traps that docs/editors.md lists. */
import assert from "node:assert/strict";
import { type Editor, openEditor, texts } from "../fake/editor.ts";
import { handedServer } from "../fake/handed_server.ts";
import { configured } from "../fake/model_scenes.ts";
import { type Machine, onMachine } from "../fake/remit.ts";
import { alicesPlans, MOVES_THE_TRIP, playing } from "../fake/scenes.ts";

interface Session {
  readonly machine: Machine;
  readonly editor: Editor;
  readonly sessionId: string;
  readonly cwd: string;
  prompt(text: string): Promise<string>;
}

const choosing = (optionId: string): Editor["answer"] => () =>
  Promise.resolve({ outcome: "selected", optionId });

/** A trap: alice's editor with a session over her plans; it must have ended well. */
function trap(name: string, fn: (at: Session) => Promise<void>): void {
  Deno.test(name, () =>
    onMachine(async (machine) => {
      await configured(machine, "selfConsent: true\n");
      await alicesPlans(machine);
      const editor = openEditor(machine, await playing(machine, MOVES_THE_TRIP));
      await editor.agent.request("initialize", {
        protocolVersion: 1,
        clientCapabilities: { fs: { readTextFile: true, writeTextFile: false } },
      });
      const cwd = await Deno.realPath(`${machine.dir}/plans`);
      const { sessionId } = await editor.agent.request("session/new", { cwd, mcpServers: [] });
      await fn({
        ...{ machine, editor, sessionId, cwd },
        prompt: async (text) =>
          (await editor.agent.request("session/prompt", {
            sessionId,
            prompt: [{ type: "text", text }],
          })).stopReason,
      });
      assert.equal(await editor.ended(), 0);
    }));
}

/** Messages as they came, in their order. */
const messages = (editor: Editor): readonly Record<string, unknown>[] =>
  editor.output().trim().split("\n").map((line) => JSON.parse(line));

trap(
  "trap 1: standard output carries messages and nothing else, also where there is something to say",
  async ({ editor, machine, prompt }) => {
    // A model that fails, and a folder's own rules that are left out, are said elsewhere.
    await machine.write("plans/remit.yaml", "policy:\n  selfConsent: true\n");
    editor.answer = choosing("deny");
    await prompt("Move the trip");
    for (const message of messages(editor)) assert.equal(message["jsonrpc"], "2.0");
  },
);

trap(
  "trap 2: a cancelled prompt ends cancelled, whatever came before it",
  async ({ editor, sessionId, prompt }) => {
    editor.answer = async () => {
      await editor.agent.notify("session/cancel", { sessionId });
      return { outcome: "cancelled" };
    };
    assert.equal(await prompt("Move the trip"), "cancelled");
  },
);

trap("trap 3: no update follows the answer of its prompt", async ({ editor, prompt }) => {
  editor.answer = choosing("allow");
  assert.equal(await prompt("Move the trip"), "end_turn");
  const done = messages(editor).findIndex(({ result }) =>
    typeof result === "object" && result !== null && "stopReason" in result
  );
  await editor.agent.request("session/list", {});
  const late = messages(editor).slice(done + 1).filter(({ method }) => method !== undefined);
  assert.notEqual(done, -1);
  assert.deepEqual(late, []);
});

trap(
  "trap 4: a permission request names a call that was announced before it, by its id",
  async ({ editor, prompt }) => {
    editor.answer = choosing("deny");
    await prompt("Move the trip");
    const all = messages(editor);
    const at = all.findIndex(({ method }) => method === "session/request_permission");
    assert.notEqual(at, -1);
    const id = editor.asked[0]?.toolCall.toolCallId;
    assert.ok(
      all.slice(0, at).some((each) =>
        JSON.stringify(each).includes(`"sessionUpdate":"tool_call","toolCallId":"${id}"`)
      ),
    );
  },
);

trap(
  "trap 5: a denial is an answer: the turn goes on and ends as one, and the call failed",
  async ({ editor, machine, prompt }) => {
    editor.answer = choosing("deny");
    assert.equal(await prompt("Move the trip"), "end_turn");
    assert.match(texts(editor.updates, "agent_message_chunk"), /I was told/);
    const id = editor.asked[0]?.toolCall.toolCallId;
    const states = editor.updates.flatMap((each) =>
      each.sessionUpdate === "tool_call_update" && each.toolCallId === id ? [each.status] : []
    );
    assert.equal(states.at(-1), "failed");
    assert.match(await machine.read("plans/trip.txt"), /Monday/);
  },
);

trap(
  "trap 6: what is told again has its calls, each with its outcome, before the answer of load",
  async ({ editor, machine, sessionId, cwd, prompt }) => {
    editor.answer = choosing("allow");
    await prompt("Move the trip");
    const again = openEditor(machine, await playing(machine, MOVES_THE_TRIP));
    await again.agent.request("initialize", { protocolVersion: 1 });
    await again.agent.request("session/load", { sessionId, cwd, mcpServers: [] });
    const told = (updates: Editor["updates"]) => {
      const last = new Map<string, unknown>();
      for (const each of updates) if ("toolCallId" in each) last.set(each.toolCallId, each.status);
      return [...last.values()];
    };
    assert.deepEqual(told(again.updates), ["completed", "completed", "completed"]);
    assert.equal(await again.ended(), 0);
  },
);

Deno.test("trap 7: the end of standard input ends it, before a greeting, after one, and while a question is open", async () => {
  await onMachine(async (machine) => {
    await configured(machine, "selfConsent: true\n");
    await alicesPlans(machine);
    const words = await playing(machine, MOVES_THE_TRIP);
    assert.equal(await openEditor(machine, words).ended(), 0);
    const greeted = openEditor(machine, words);
    await greeted.agent.request("initialize", { protocolVersion: 1 });
    assert.equal(await greeted.ended(), 0);
    const asking = openEditor(machine, words);
    await asking.agent.request("initialize", { protocolVersion: 1 });
    const cwd = await Deno.realPath(`${machine.dir}/plans`);
    const { sessionId } = await asking.agent.request("session/new", { cwd, mcpServers: [] });
    const asked = Promise.withResolvers<void>();
    asking.answer = () => {
      asked.resolve();
      return new Promise(() => undefined);
    };
    asking.agent.request("session/prompt", {
      sessionId,
      prompt: [{ type: "text", text: "Move the trip" }],
    }).catch(() => undefined);
    await asked.promise;
    assert.equal(await asking.ended(), 0);
  });
});

trap(
  "trap 8: no server that was handed over is dropped in silence, at new, load and resume",
  async ({ editor, machine, cwd, sessionId, prompt }) => {
    const mcpServers = [{ ...await handedServer(machine), name: "bank" }];
    editor.answer = choosing("deny");
    const heard = async (id: string): Promise<string> => {
      const from = editor.updates.length;
      // The play has no more turns; what is told of servers is told before it.
      await editor.agent.request("session/prompt", {
        sessionId: id,
        prompt: [{ type: "text", text: "Move the trip" }],
      }).catch(() => undefined);
      return texts(editor.updates.slice(from), "agent_message_chunk");
    };
    const made = await editor.agent.request("session/new", { cwd, mcpServers });
    assert.match(await heard(made.sessionId), /server "bank" of your editor is not used: you left/);
    assert.equal(await prompt("Move the trip"), "end_turn");
    await editor.agent.request("session/load", { sessionId, cwd, mcpServers });
    assert.match(
      await heard(sessionId),
      /server "bank" of your editor is not used: .*began without/,
    );
    await editor.agent.request("session/resume", { sessionId, cwd, mcpServers });
    assert.match(
      await heard(sessionId),
      /server "bank" of your editor is not used: .*began without/,
    );
  },
);

trap(
  "trap 9: modes are there beside config options, and a mode that is set is the one that holds",
  async ({ editor, machine, sessionId, cwd, prompt }) => {
    const { modes, configOptions } = await editor.agent.request("session/new", {
      cwd,
      mcpServers: [],
    });
    assert.deepEqual(modes?.availableModes.map(({ id }) => id), ["work", "plan"]);
    assert.deepEqual(configOptions?.map(({ id }) => id), ["mode", "model"]);
    await editor.agent.request("session/set_mode", { sessionId, modeId: "plan" });
    editor.answer = choosing("allow");
    await prompt("Move the trip");
    assert.deepEqual(editor.asked, [], "who plans changes nothing, and asks for nothing");
    assert.match(await machine.read("plans/trip.txt"), /Monday/);
  },
);

trap(
  "trap 10: an edit beneath a buffer that is not saved is told in its question, and nothing is written before a yes",
  async ({ editor, machine, cwd, prompt }) => {
    editor.buffers.set(`${cwd}/trip.txt`, "Leave on Friday.\n");
    editor.answer = choosing("deny");
    await prompt("Move the trip");
    assert.match(JSON.stringify(editor.asked), /not saved in your editor: plans\/trip\.txt/);
    assert.match(await machine.read("plans/trip.txt"), /Monday/);
    editor.buffers.clear();
    editor.asked.length = 0;
    const { sessionId } = await editor.agent.request("session/new", { cwd, mcpServers: [] });
    await editor.agent.request("session/prompt", {
      sessionId,
      prompt: [{ type: "text", text: "Move the trip" }],
    });
    assert.equal(editor.asked.length, 1);
    assert.doesNotMatch(JSON.stringify(editor.asked), /not saved/);
  },
);

trap(
  "trap 11: the context's size is that of the last request, and no sum of all",
  async ({ editor, prompt }) => {
    editor.answer = choosing("deny");
    const used = (): readonly number[] =>
      editor.updates.flatMap((each) => each.sessionUpdate === "usage_update" ? [each.used] : []);
    await prompt("Move the trip");
    const sum = used().reduce((all, each) => all + each, 0);
    assert.ok(used().length >= 3, "a turn of several requests");
    assert.ok((used().at(-1) ?? 0) < sum / 2, `${used()}`);
  },
);

trap(
  "trap 12: each fault has its code, and says what to do",
  async ({ editor, cwd, sessionId }) => {
    const faults: readonly (readonly [string, object, number, RegExp])[] = [
      ["session/new", { cwd: "plans", mcpServers: [] }, -32602, /absolute path/],
      ["session/load", { sessionId: "s000000000000", cwd, mcpServers: [] }, -32002, /no open/],
      ["session/prompt", { sessionId: "s000000000000", prompt: [] }, -32002, /session\/new/],
      ["session/prompt", { sessionId, prompt: [] }, -32602, /empty/],
      ["session/set_mode", { sessionId, modeId: "root" }, -32602, /plan and work/],
      ["session/fly", {}, -32601, /./],
    ];
    for (const [method, params, code, words] of faults) {
      await assert.rejects(
        editor.agent.request(method as "session/new", params as never),
        (error: { readonly code?: number; readonly message: string }) => {
          assert.equal(error.code, code, method);
          assert.match(error.message, words);
          return true;
        },
      );
    }
  },
);
