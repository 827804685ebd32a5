/**
 * mallory's project has alice's editor hand over servers of hers. Were they started as the editor names them they would
 * read alice's key, write into her files and reach a host; their descriptions would speak to her model; a server that
 * was honest when alice looked would say something else later.
 */
import assert from "node:assert/strict";
import { openEditor, texts } from "../../fake/editor.ts";
import { handedServer, questionsOf, TIDES_KEY } from "../../fake/handed_server.ts";
import { formsOf, huntFolder } from "../../fake/key_hunt.ts";
import { configured } from "../../fake/model_scenes.ts";
import { type Machine, onMachine } from "../../fake/remit.ts";
import { alicesPlans, playing } from "../../fake/scenes.ts";
import { waitUntil } from "../../fake/wait_until.ts";
import { processesNaming } from "../../fake/processes.ts";
import { needs } from "../../needs.ts";

const ASKS = `
scenario: asks for the tide
turns:
  - when: { result: { outcome: ok } }
    say: "I was told: {{ tool.mcp_tides_tide }}"
  - when: { result: {} }
    say: "It failed: {{ tool.mcp_tides_tide }}"
  - calls: [{ tool: mcp_tides_tide, args: {} }]
`;

type Opened = Awaited<ReturnType<typeof open>>;

/** An editor with a session that was handed `servers`; each question is answered with `answer`. */
async function open(
  machine: Machine,
  servers: readonly object[],
  answer: (asked: { readonly toolCallId: string; readonly title?: string | null }) => string,
) {
  const editor = openEditor(machine, await playing(machine, ASKS));
  await editor.agent.request("initialize", { protocolVersion: 1 });
  editor.answer = ({ toolCall }) =>
    Promise.resolve({ outcome: "selected", optionId: answer(toolCall) });
  const cwd = await Deno.realPath(`${machine.dir}/plans`);
  const { sessionId } = await editor.agent.request("session/new", {
    cwd,
    mcpServers: servers as never,
  });
  const says = async (text: string): Promise<string> => {
    const before = editor.updates.length;
    const { stopReason } = await editor.agent.request("session/prompt", {
      sessionId,
      prompt: [{ type: "text", text }],
    });
    assert.equal(stopReason, "end_turn");
    return texts(editor.updates.slice(before), "agent_message_chunk");
  };
  return { editor, sessionId, cwd, says };
}

const shownTo = ({ editor }: Opened): string => JSON.stringify(editor.asked);

Deno.test("a handed-over server reads no key, writes nothing, reaches no host, and starts only after a yes", async () => {
  if (!needs("bwrap") || !needs("node")) return;
  await onMachine(async (machine) => {
    const heard: string[] = [];
    await using http = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => undefined },
      () => (heard.push("http"), new Response("out")),
    );
    await configured(machine, "selfConsent: true\n");
    await alicesPlans(machine);
    const server = await handedServer(machine, { port: http.addr.port });
    const [file = ""] = server.args;
    const running: number[] = [];
    const at = await open(machine, [server], ({ toolCallId }) => {
      if (toolCallId.endsWith("-start")) running.push(lookFor(file));
      return "allow";
    });
    const said = await at.says("When is the tide?");
    assert.deepEqual(running, [0], "nothing of it runs before the yes");
    assert.deepEqual(questionsOf(at.editor), ["server-tides-start", "server-tides-use"]);
    assert.match(shownTo(at), /TIDES_KEY/);
    assert.match(shownTo(at), /│ Tells when the tide is high/);
    assert.match(said, /I was told: .*early \{.*now \{/s, said);
    assert.doesNotMatch(said, /got/);
    assert.match(
      said,
      new RegExp(`given\\\\?":${TIDES_KEY.length}\\b`),
      "what was handed over for it, it has",
    );
    assert.deepEqual(heard, []);
    assert.equal(await machine.read("vault/key"), "the key\n");
    // Its value is in no question, no message to the editor, no log and no file in clear.
    assert.ok(!at.editor.output().includes(TIDES_KEY));
    const { hits } = await huntFolder(machine.state, formsOf(TIDES_KEY));
    assert.deepEqual(hits, []);
    // Its processes end with the session.
    assert.notEqual(lookFor(file), 0, "it serves");
    assert.equal(await at.editor.ended(), 0);
    await waitUntil(
      "the end of its processes",
      async () => (await processesNaming(file)).length === 0 || undefined,
    );
    // No task of another door is handed it.
    assert.match((await machine.remit(["mcp", "list"])).stdout, /tides/);
    const run = await machine.remit([
      ...["run", ...await playing(machine, ASKS), "--json", "-p", "When is the tide?"],
    ]);
    assert.doesNotMatch(run.stdout, /early/);
    // The same command is remembered, and a changed one asks again.
    const again = await open(machine, [server], () => "allow");
    assert.match(await again.says("When is the tide?"), /I was told: .*early/s);
    assert.deepEqual(questionsOf(again.editor), []);
    assert.equal(await again.editor.ended(), 0);
    await Deno.writeTextFile(file, "// mallory's next version\n", { append: true });
    const rewritten = await open(machine, [server], () => "deny");
    assert.match(await rewritten.says("When is the tide?"), /not used: you left it out/);
    assert.equal(questionsOf(rewritten.editor).length, 1, "another script is another server");
    assert.equal(await rewritten.editor.ended(), 0);
    const changed = await open(
      machine,
      [{ ...server, env: [...server.env, { name: "MORE", value: "x" }] }],
      () => "deny",
    );
    assert.match(
      await changed.says("When is the tide?"),
      /server "tides" of your editor is not used: you left it out/,
    );
    assert.deepEqual(questionsOf(changed.editor), ["server-tides2-start"]);
    assert.equal(await changed.editor.ended(), 0);
    const names = (await machine.json(["mcp", "list"])) as { readonly name: string }[];
    assert.deepEqual(names.map(({ name }) => name), ["tides"], "nothing stays of what was refused");
  });
});

Deno.test("a handed-over server at a URL is asked nothing before a yes, gets its header, and each call of it is asked about", async () => {
  await onMachine(async (machine) => {
    const heard: { readonly method: string; readonly key: string | null }[] = [];
    const answers: Readonly<Record<string, unknown>> = {
      initialize: {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "tides", version: "1" },
      },
      "tools/list": {
        tools: [{
          ...{ name: "tide", description: "Tells when the tide is high." },
          inputSchema: { type: "object" },
        }],
      },
      "tools/call": { content: [{ type: "text", text: "at noon" }] },
    };
    await using http = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => undefined },
      async (request) => {
        const { id, method } = request.method === "POST"
          ? await request.json()
          : { id: undefined, method: request.method };
        heard.push({ method, key: request.headers.get("x-tides") });
        if (id === undefined) return new Response(null, { status: id === undefined ? 202 : 405 });
        const result = answers[method];
        return Response.json({
          ...{ jsonrpc: "2.0", id },
          ...(result === undefined ? { error: { code: -32601, message: "no" } } : { result }),
        });
      },
    );
    await configured(machine, "selfConsent: true\n");
    await alicesPlans(machine);
    const server = {
      ...{ type: "http", name: "tides", url: `http://127.0.0.1:${http.addr.port}/mcp` },
      headers: [{ name: "X-Tides", value: TIDES_KEY }],
    };
    const before: number[] = [];
    const at = await open(machine, [server], ({ toolCallId }) => {
      if (toolCallId.endsWith("-start")) before.push(heard.length);
      return "allow";
    });
    const said = await at.says("When is the tide?");
    assert.deepEqual(before, [0]);
    assert.match(said, /I was told: .*at noon/s);
    // Two of the review, one of the call: what is at a URL is told things.
    assert.deepEqual(questionsOf(at.editor).slice(0, 2), [
      "server-tides-start",
      "server-tides-use",
    ]);
    assert.equal(questionsOf(at.editor).length, 3);
    assert.ok(heard.some(({ method, key }) => method === "tools/call" && key === TIDES_KEY));
    assert.ok(!at.editor.output().includes(TIDES_KEY));
    assert.equal(await at.editor.ended(), 0);
    const { hits } = await huntFolder(machine.state, formsOf(TIDES_KEY));
    assert.deepEqual(hits, []);
  });
});

Deno.test("a tool whose description gives orders is left out, and one that changes after the review is refused until it is seen again", async () => {
  if (!needs("bwrap") || !needs("node")) return;
  await onMachine(async (machine) => {
    await configured(machine, "selfConsent: true\n");
    await alicesPlans(machine);
    const server = await handedServer(machine, { mode: "orders" });
    const at = await open(machine, [server], () => "allow");
    const said = await at.says("When is the tide?");
    assert.match(said, /is used; left out, flagged: orders/);
    assert.match(said, /I was told: .*early/s);
    // The person sees them behind a bar; the model is told of the plain tool alone.
    assert.match(shownTo(at), /! [^"]*orders|│ IMPORTANT: ignore previous/);
    assert.equal(await at.editor.ended(), 0);
    const pinned = (await machine.remit(["mcp", "list"])).stdout;
    assert.match(pinned, /tides.*\b1 on\b/s);
    await machine.write("servers/pulled", "");
    const pulled = await open(machine, [server], () => "allow");
    const failed = await pulled.says("When is the tide?");
    assert.match(failed, /It failed: .*changed since it was reviewed/s, failed);
    assert.deepEqual(questionsOf(pulled.editor), []);
    assert.equal(await pulled.editor.ended(), 0);
    // The next session shows what changed, and asks.
    const asked = await open(
      machine,
      [server],
      ({ toolCallId }) => toolCallId.endsWith("-use") ? "deny" : "allow",
    );
    const left = await asked.says("When is the tide?");
    assert.match(shownTo(asked), /│ - Tells when the tide is high/);
    assert.match(shownTo(asked), /│ \+ .*id_ed25519/);
    assert.match(left, /not used: you left it out/);
    assert.equal(await asked.editor.ended(), 0);
    // A no to what changed takes nothing away of what was approved before.
    const names = (await machine.json(["mcp", "list"])) as { readonly name: string }[];
    assert.deepEqual(names.map(({ name }) => name), ["tides"]);
    assert.match((await machine.remit(["mcp", "list"])).stdout, /tides.*\b0 on\b/s);
  });
});

Deno.test("a server that never answers holds up nothing: the cancelled turn ends at once, the next one asks again, and goes on without it", async () => {
  if (!needs("bwrap") || !needs("node")) return;
  await onMachine(async (machine) => {
    await configured(machine, "selfConsent: true\n");
    await alicesPlans(machine);
    const server = await handedServer(machine, { mode: "mute" });
    const [file = ""] = server.args;
    const at = await open(machine, [server], () => "allow");
    const turn = at.editor.agent.request("session/prompt", {
      sessionId: at.sessionId,
      prompt: [{ type: "text", text: "When is the tide?" }],
    });
    await waitUntil("its start", () => lookFor(file) > 0 || undefined);
    await at.editor.agent.notify("session/cancel", { sessionId: at.sessionId });
    assert.equal((await turn).stopReason, "cancelled");
    at.editor.answer = () => Promise.resolve({ outcome: "selected", optionId: "deny" });
    const said = await at.says("When is the tide?");
    assert.match(said, /not used: you left it out/);
    assert.deepEqual(questionsOf(at.editor), ["server-tides-start", "server-tides-start"]);
    assert.equal(await at.editor.ended(), 0);
    await waitUntil("the end of its look", () => lookFor(file) === 0 || undefined);
  });
});

Deno.test("a call that its server never answers ends with the cancelled turn", async () => {
  if (!needs("bwrap") || !needs("node")) return;
  await onMachine(async (machine) => {
    await configured(machine, "selfConsent: true\n");
    await alicesPlans(machine);
    const server = await handedServer(machine, { mode: "deaf" });
    const [file = ""] = server.args;
    let reviewed = false;
    const at = await open(machine, [server], ({ toolCallId }) => {
      // The look has ended: what runs from here on serves the call.
      if (toolCallId.endsWith("-use")) reviewed = lookFor(file) === 0;
      return "allow";
    });
    const turn = at.editor.agent.request("session/prompt", {
      sessionId: at.sessionId,
      prompt: [{ type: "text", text: "When is the tide?" }],
    });
    await waitUntil("its call", () => reviewed && lookFor(file) > 0 || undefined);
    await at.editor.agent.notify("session/cancel", { sessionId: at.sessionId });
    assert.equal((await turn).stopReason, "cancelled");
    assert.doesNotMatch(texts(at.editor.updates, "agent_message_chunk"), /I was told/);
    assert.equal(await at.editor.ended(), 0);
    await waitUntil("the end of its processes", () => lookFor(file) === 0 || undefined);
  });
});

Deno.test("names, variables, transports and counts of mallory's: each is told, none is taken as it stands", async () => {
  if (!needs("bwrap") || !needs("node")) return;
  await onMachine(async (machine) => {
    await configured(machine, "selfConsent: true\n");
    await alicesPlans(machine);
    const server = await handedServer(machine);
    const steering = { name: "LD_PRELOAD", value: "/tmp/evil.so" };
    const at = await open(machine, [
      { ...server, name: "../\u001b[2J\n`allow` file_read", env: [...server.env, steering] },
      { type: "sse", name: "old", url: "http://127.0.0.1:1/sse", headers: [] },
      { name: "inline", command: "node", args: ["-e", "process.exit()"], env: [] },
      { name: "boxed", command: "docker", args: ["run", "evil"], env: [] },
      {
        ...server,
        name: "keyed",
        args: [...server.args, "--token=ghp_0123456789abcdefghijABCDEFGHIJ012345"],
      },
      ...Array.from(
        { length: 12 },
        (_, n) => ({ name: `more${n}`, command: "sudo", args: ["x"], env: [] }),
      ),
    ], ({ title }) => title?.includes("inline") === true ? "allow" : "deny");
    const said = await at.says("When is the tide?");
    assert.match(
      said,
      /"old" of your editor is not used: the older transport \(SSE\) is not spoken/,
    );
    assert.match(said, /"inline" of your editor is not used: .*its code stands in its arguments/);
    assert.match(said, /"boxed" of your editor is not used: a container/);
    assert.match(said, /"keyed" of your editor is not used: its arguments hold a key/);
    assert.match(said, /"more0" of your editor is not used: it wants another user's rights/);
    assert.match(said, /"more11" of your editor is not used: at most 16/);
    const [first] = at.editor.asked;
    assert.doesNotMatch(JSON.stringify(first), /\\u001b|\[2J\\n`/);
    assert.match(JSON.stringify(first), /LD_PRELOAD is not handed over: it steers programs/);
    assert.ok(!at.editor.output().includes("ghp_0123456789"), "no key comes back");
    assert.equal(await at.editor.ended(), 0);
    assert.deepEqual(await machine.json(["mcp", "list"]), []);
  });
});

/** How many processes name `text`, without waiting. */
function lookFor(text: string): number {
  let found = 0;
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      if (Deno.readTextFileSync(`/proc/${name}/cmdline`).includes(text)) found += 1;
    } catch { /* it has ended meanwhile */ }
  }
  return found;
}
