/** The process of an editor's sessions is killed at each step: what was accepted stands, nothing is applied twice, no process is left. */
import assert from "node:assert/strict";
import { type Editor, openEditor, texts } from "../fake/editor.ts";
import { handedServer } from "../fake/handed_server.ts";
import { configured } from "../fake/model_scenes.ts";
import { type Machine, onMachine } from "../fake/remit.ts";
import { alicesPlans, MOVES_THE_TRIP, playing } from "../fake/scenes.ts";
import { waitUntil } from "../fake/wait_until.ts";
import { processesNaming } from "../fake/processes.ts";
import { needs } from "../needs.ts";

const SLOW = MOVES_THE_TRIP.replace(
  "turns:\n",
  "stream: { chunkChars: 6, delayMs: 300, firstMs: 1 }\nturns:\n",
);

interface At {
  readonly machine: Machine;
  readonly editor: Editor;
  readonly sessionId: string;
  readonly cwd: string;
}

/** Begins alice's prompt, kills the process where `when` says so, and looks from a new editor. */
async function killed(
  { scenario = MOVES_THE_TRIP, server, when, then }: {
    readonly scenario?: string;
    readonly server?: "mute" | "";
    when(at: At): Promise<unknown>;
    then(at: At): Promise<void>;
  },
): Promise<void> {
  await onMachine(async (machine) => {
    await configured(machine, "selfConsent: true\n");
    await alicesPlans(machine);
    const cwd = await Deno.realPath(`${machine.dir}/plans`);
    const begin = async (): Promise<Editor> => {
      const editor = openEditor(machine, await playing(machine, scenario));
      await editor.agent.request("initialize", { protocolVersion: 1 });
      return editor;
    };
    const first = await begin();
    const mcpServers = server === undefined ? [] : [await handedServer(machine, { mode: server })];
    const { sessionId } = await first.agent.request("session/new", { cwd, mcpServers });
    const reached = when({ machine, editor: first, sessionId, cwd });
    first.agent.request("session/prompt", {
      sessionId,
      prompt: [{ type: "text", text: "Move the trip" }],
    }).catch(() => undefined);
    await reached;
    await first.kill();
    const editor = await begin();
    await then({ machine, editor, sessionId, cwd });
    assert.equal(await editor.ended(), 0);
    // The kernel ends when nobody is there, and everything that it started with it.
    await waitUntil(
      "the end of all processes",
      async () => (await machine.processes()).length === 0 || undefined,
    );
  });
}

const never = (): Promise<never> => new Promise(() => undefined);
const load = ({ editor, sessionId, cwd }: At) =>
  editor.agent.request("session/load", { sessionId, cwd, mcpServers: [] });
/** Resolves at a question about `id`; nobody answers any. */
const asked = ({ editor }: At, id: RegExp) =>
  new Promise<void>((resolve) => {
    editor.answer = ({ toolCall: { toolCallId } }) => {
      if (id.test(toolCallId)) resolve();
      return never();
    };
  });
const applied = async ({ machine }: At): Promise<readonly string[]> => {
  const { stdout } = await machine.remit(["audit", "query", "--tool", "patch_apply", "--json"]);
  return stdout.trim().split("\n").filter((line) => /"outcome":\s*"ok"/.test(line));
};

Deno.test("killed while the model speaks: the turn goes on, its question waits, and a yes elsewhere applies it once", async () => {
  await killed({
    scenario: SLOW,
    when: ({ editor }) =>
      waitUntil(
        "its words",
        () => texts(editor.updates, "agent_message_chunk") !== "" || undefined,
      ),
    async then(at) {
      await allowsOnce(at);
    },
  });
});

Deno.test("killed while a question is open: it waits, and a yes elsewhere applies the change once", async () => {
  await killed({ when: (at) => asked(at, /^call-/), then: allowsOnce });
});

/** The open question is allowed in a terminal; the change is there, once, and the editor that comes again is told. */
async function allowsOnce(at: At): Promise<void> {
  const { machine, editor } = at;
  const id = await waitUntil("the question", async () => {
    const { stdout } = await machine.remit(["questions", "--json"]);
    return /"id":\s*"(q[0-9a-z]{12})"/.exec(stdout)?.[1];
  });
  const { code, stderr } = await machine.remit(["answer", id, "allow"]);
  assert.equal(code, 0, stderr);
  await waitUntil(
    "the change",
    async () => (await machine.read("plans/trip.txt")).includes("Tuesday") || undefined,
  );
  assert.notEqual((await machine.remit(["answer", id, "allow"])).code, 0, "once");
  await load(at);
  assert.match(texts(editor.updates, "user_message_chunk"), /^Move the trip$/);
  assert.equal((await applied(at)).length, 1);
  assert.equal(
    await machine.read("plans/trip.txt"),
    "Leave on Tuesday.\nTake the boat.\n",
  );
}

Deno.test("killed with its yes on the way: the change is there once, or the question still waits", async () => {
  await killed({
    when: ({ editor }) =>
      new Promise<void>((resolve) => {
        editor.answer = () => {
          queueMicrotask(resolve);
          return Promise.resolve({ outcome: "selected", optionId: "allow" });
        };
      }),
    async then(at) {
      const { machine } = at;
      const done = await waitUntil("the change, or its question", async () => {
        if ((await machine.read("plans/trip.txt")).includes("Tuesday")) return "changed";
        const { stdout } = await machine.remit(["questions", "--json"]);
        return /"state":\s*"open"/.test(stdout) ? "waits" : undefined;
      });
      if (done === "waits") return await allowsOnce(at);
      await load(at);
      assert.equal((await applied(at)).length, 1);
    },
  });
});

Deno.test("killed while it asks whether a server may start: nothing of it was taken in, and a session that began nothing is none", async () => {
  if (!needs("bwrap") || !needs("node")) return;
  await killed({
    server: "mute",
    when: (at) => asked(at, /-start$/),
    async then(at) {
      await assert.rejects(load(at), /no open conversation/);
      assert.deepEqual(await at.machine.json(["mcp", "list"]), []);
      assert.match(await at.machine.read("plans/trip.txt"), /Monday/);
    },
  });
});

Deno.test("killed while it asks whether a server's tools may be used: none is, and it asks again", async () => {
  if (!needs("bwrap") || !needs("node")) return;
  await killed({
    server: "",
    when: ({ editor }) =>
      new Promise<void>((resolve) => {
        editor.answer = ({ toolCall: { toolCallId } }) => {
          if (toolCallId.endsWith("-start")) {
            return Promise.resolve({ outcome: "selected", optionId: "allow" });
          }
          resolve();
          return never();
        };
      }),
    async then({ machine, editor, cwd }) {
      const [kept] = await machine.json(["mcp", "list"]) as { readonly state: string }[];
      assert.equal(kept?.state, "added");
      const mcpServers = [await handedServer(machine)];
      const { sessionId } = await editor.agent.request("session/new", { cwd, mcpServers });
      editor.answer = () => Promise.resolve({ outcome: "selected", optionId: "deny" });
      await editor.agent.request("session/prompt", {
        sessionId,
        prompt: [{ type: "text", text: "Move the trip" }],
      });
      assert.equal(editor.asked[0]?.toolCall.toolCallId, "server-tides-start");
      assert.deepEqual(await machine.json(["mcp", "list"]), []);
    },
  });
});

Deno.test("killed while a server starts: no task is handed it, its process ends, and it is asked about again", async () => {
  if (!needs("bwrap") || !needs("node")) return;
  await killed({
    server: "mute",
    async when({ machine, editor }) {
      editor.answer = () => Promise.resolve({ outcome: "selected", optionId: "allow" });
      await waitUntil(
        "its start",
        async () =>
          (await machine.processes()).length > 0 && await runs(`${machine.dir}/servers`) ||
          undefined,
      );
    },
    async then(at) {
      const { machine, editor, cwd } = at;
      const [kept] = await machine.json(["mcp", "list"]) as { readonly state: string }[];
      assert.equal(kept?.state, "added");
      const { sessionId } = await editor.agent.request("session/new", {
        cwd,
        mcpServers: [await handedServer(machine, { mode: "mute" })],
      });
      editor.answer = () => Promise.resolve({ outcome: "selected", optionId: "deny" });
      const turn = await editor.agent.request("session/prompt", {
        sessionId,
        prompt: [{ type: "text", text: "Move the trip" }],
      });
      assert.equal(turn.stopReason, "end_turn");
      assert.equal(editor.asked[0]?.toolCall.toolCallId, "server-tides-start");
      await waitUntil(
        "the end of its process",
        async () => !await runs(`${machine.dir}/servers`) || undefined,
      );
    },
  });
});

/** Whether a server of this folder runs. */
async function runs(folder: string): Promise<boolean> {
  return (await processesNaming(folder)).some(({ command }) => command.includes("node"));
}
