import assert from "node:assert/strict";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import type { JsonObject } from "../../../contracts/base/json.ts";
import { type ServePrompt, type ServeResult } from "../../../contracts/wire/wire_serve.ts";
import { ToolDescriptor } from "../../../contracts/tool/tool.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import { makeRounds } from "./consent.ts";
import { makeMcpServer } from "./server.ts";
import type { CallLife, HostSession } from "./session.ts";

const TOLD = { colour: "RED", label: "internal", task: "t000000000001" } as const;

const tool = (name: string, category: ToolDescriptor["category"]): ToolDescriptor =>
  ToolDescriptor.parse({
    ...{ name, category, description: `The tool ${name}.`, interfaceId: "x", methodName: "y" },
    ...{ paramSchema: '{"type":"object"}', permission: "auto" },
  });

const PROMPT: ServePrompt = {
  name: "find",
  title: "Find",
  description: "Finds.",
  arguments: [{ name: "what", description: "What.", required: true }],
  text: "Find {{what}} and {{other}}.",
};

type Doing = (
  asked: { readonly call: string; readonly tool: string; readonly args: JsonObject },
  life: CallLife,
) => Promise<ServeResult> | ServeResult;

interface Played extends HostSession {
  readonly answers: unknown[];
  change(): void;
}

function session(doing: Doing, wiki = false): Played {
  const listeners = new Set<() => void>();
  const answers: unknown[] = [];
  return {
    answers,
    info: { profile: "guest", selfConsent: true, wiki, agents: ["tidy"], prompts: [PROMPT] },
    tools: () =>
      Promise.resolve([
        tool("file_read", "read"),
        tool("file_write", "stage"),
        tool("wipe", "destroy"),
        tool("get", "network"),
      ]),
    call: async (asked, life) => await doing(asked, life),
    task: ({ request }) => Promise.resolve({ ...TOLD, outcome: "ok", content: `did ${request}` }),
    answer: (said) => Promise.resolve(void answers.push(said)),
    onTools(listener): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    change: () => listeners.forEach((listener) => listener()),
  };
}

async function connected(
  played: HostSession,
  f: (client: Client) => Promise<void>,
  answer?: () => {
    readonly action: "accept" | "decline";
    readonly content?: Record<string, boolean>;
  },
): Promise<void> {
  let calls = 0;
  const server = makeMcpServer(played, {
    ...{ version: "1", waitMs: 45_000, nextCall: () => `call-${++calls}` },
    rounds: makeRounds(new Uint8Array(32)),
  });
  const client = new Client({ name: "host", version: "1" }, {
    capabilities: answer === undefined ? {} : { elicitation: { form: {} } },
  });
  if (answer !== undefined) client.setRequestHandler("elicitation/create", () => answer());
  const [near, far] = InMemoryTransport.createLinkedPair();
  await server.connect(far);
  await client.connect(near);
  try {
    await f(client);
  } finally {
    await client.close();
  }
}

const ok = (content: string): ServeResult => ({ ...TOLD, outcome: "ok", content });

Deno.test("annotations are computed from what a tool can do", async () => {
  await connected(session(() => ok("")), async (client) => {
    const { tools } = await client.listTools();
    const hints = tools.map(({ name, annotations: a }) => [
      name,
      a?.readOnlyHint,
      a?.destructiveHint,
      a?.openWorldHint,
    ]);
    assert.deepEqual(hints, [
      ["file_read", true, false, false],
      ["file_write", false, false, false],
      ["wipe", false, true, false],
      ["get", false, true, true],
      ["run_task", false, false, true],
    ]);
  });
});

Deno.test("an object is structured content, other text is not, and a refusal is an error with the gate's own sentence", async () => {
  const results: ServeResult[] = [
    ok('{"a":1}'),
    ok("[1]"),
    ok("{not json"),
    { ...TOLD, outcome: "refusedByPolicy", content: "", error: 'Cannot call "x": no' },
  ];
  await connected(session(() => results.shift() ?? ok("")), async (client) => {
    const call = () => client.callTool({ name: "file_read", arguments: {} });
    assert.deepEqual((await call()).structuredContent, { a: 1 });
    assert.equal((await call()).structuredContent, undefined);
    assert.equal((await call()).structuredContent, undefined);
    const refused = await call();
    assert.equal(refused.isError, true);
    assert.deepEqual(refused.content, [{
      type: "text",
      text: 'refusedByPolicy: Cannot call "x": no',
    }]);
  });
});

Deno.test("a fault is a refusal, and a bug tells a host nothing of itself", async () => {
  const faults = [
    new Fault("rateLimited", "Cannot call: too many"),
    new TypeError("at /secret/path.ts"),
  ];
  await connected(session(() => Promise.reject(faults.shift())), async (client) => {
    const refused = await client.callTool({ name: "file_read", arguments: {} });
    assert.deepEqual(refused.content, [{ type: "text", text: "Cannot call: too many" }]);
    await assert.rejects(client.callTool({ name: "file_read", arguments: {} }));
  });
});

Deno.test("progress goes to the request that asked for it, and a call without a token neither hears nor waits", async () => {
  const waits: number[] = [];
  const doing: Doing = ({ tool: name }, life) => {
    waits.push(life.waitMs);
    life.onProgress(`of ${name}`);
    return ok("");
  };
  await connected(session(doing), async (client) => {
    const heard: (string | undefined)[] = [];
    await Promise.all([
      client.callTool({ name: "file_read", arguments: {} }, {
        onprogress: ({ message }) => void heard.push(message),
      }),
      client.callTool({ name: "file_write", arguments: {} }),
      // A token of somebody else's request leads nowhere.
      client.callTool({ name: "get", arguments: {}, _meta: { progressToken: "forged" } }),
    ]);
    assert.deepEqual(heard, ["of file_read"]);
    assert.deepEqual(waits, [45_000, 0, 45_000]);
  });
});

Deno.test("a host that gives a call up ends it", async () => {
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const doing: Doing = (_asked, { signal }) =>
    new Promise((resolve) => {
      begun.resolve();
      signal.addEventListener("abort", () => {
        ended.resolve();
        resolve(ok(""));
      });
    });
  await connected(session(doing), async (client) => {
    const abort = new AbortController();
    const call = client.callTool({ name: "file_read", arguments: {} }, { signal: abort.signal });
    await begun.promise;
    abort.abort();
    await assert.rejects(call);
    await ended.promise;
  });
});

const WAITING: ServeResult = {
  ...{ ...TOLD, outcome: "waiting", content: "" },
  waiting: {
    ...{ question: "q000000000001", kind: "consent", summary: "write notes/x", elicit: true },
    where: "remit answer q000000000001 allow",
  } as NonNullable<ServeResult["waiting"]>,
};

Deno.test("consent is asked through a form, for that very question, and what is no clear yes is a no", async () => {
  for (
    const [said, allow] of [
      [{ action: "accept", content: { allow: true } }, true],
      [{ action: "accept", content: { allow: false } }, false],
      [{ action: "decline" }, false],
    ] as const
  ) {
    let rounds = 0;
    const played = session(() => ++rounds === 1 ? WAITING : ok("done"));
    await connected(played, async (client) => {
      const done = await client.callTool({ name: "file_write", arguments: {} });
      assert.deepEqual(done.content, [{ type: "text", text: "done" }]);
      assert.deepEqual(played.answers, [{ call: "call-1", question: "q000000000001", allow }]);
    }, () => said);
  }
});

Deno.test("a host without forms is told what waits and where, and no answer is made up", async () => {
  const played = session(() => WAITING);
  await connected(played, async (client) => {
    const { content, isError } = await client.callTool({ name: "file_write", arguments: {} });
    assert.equal(isError, true);
    assert.match(JSON.stringify(content), /q000000000001.*remit answer q000000000001 allow/);
    assert.deepEqual(played.answers, []);
  });
});

Deno.test("a changed table is told, run_task takes what its schema says, and a prompt is filled once", async () => {
  const played = session(() => ok(""));
  await connected(played, async (client) => {
    const changed = Promise.withResolvers<void>();
    client.setNotificationHandler("notifications/tools/list_changed", () => changed.resolve());
    played.change();
    await changed.promise;
    const run = (args: Record<string, unknown>) =>
      client.callTool({ name: "run_task", arguments: args });
    assert.match(JSON.stringify((await run({ request: "tidy" })).content), /did tidy/);
    for (const args of [{}, { request: "" }, { request: "x", profile: "operator" }]) {
      assert.equal((await run(args)).isError, true);
    }
    const { messages } = await client.getPrompt({ name: "find", arguments: { what: "{{other}}" } });
    assert.deepEqual(messages[0]?.content, { type: "text", text: "Find {{other}} and ." });
    await assert.rejects(client.getPrompt({ name: "find", arguments: {} }), /missing/);
    await assert.rejects(client.getPrompt({ name: "__proto__", arguments: {} }), /no such prompt/);
  });
});

Deno.test("without a wiki there are no resources; with one, only its pages are", async () => {
  await connected(session(() => ok("")), (client) => {
    assert.equal(client.getServerCapabilities()?.resources, undefined);
    return Promise.resolve();
  });
  const asked: JsonObject[] = [];
  const doing: Doing = ({ tool: name, args }) => {
    asked.push(args);
    return name === "wiki_index"
      ? ok(
        'lamp-oil [topic] "Lamp \\"oil\\"" (YELLOW, internal) Oil for lamps.\n../x [topic] "Bad" (RED, internal) no',
      )
      : ok(
        "pages/lamp-oil.md lines 1-2 of 2, version 1, sha256:00 (YELLOW, internal)\n1│ # Lamp oil\n2│ 1│ kept",
      );
  };
  await connected(session(doing, true), async (client) => {
    const { resources } = await client.listResources();
    assert.deepEqual(resources.map(({ uri, title }) => [uri, title]), [[
      "wiki://page/lamp-oil",
      'Lamp "oil"',
    ]]);
    const { contents } = await client.readResource({ uri: "wiki://page/lamp-oil" });
    assert.equal(Object(contents[0]).text, "# Lamp oil\n1│ kept");
    asked.length = 0;
    for (
      const uri of [
        "wiki://page/..%2Fx",
        "wiki://page/../x",
        "wiki://page/%E0%A4%A",
        "file:///x",
        "wiki://page/a%00",
      ]
    ) {
      await assert.rejects(client.readResource({ uri }), /not found/i, uri);
    }
    assert.deepEqual(asked, [], "nothing of it came to the gate");
  });
});
