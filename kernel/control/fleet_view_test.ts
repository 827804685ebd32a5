/** What a hostile gateway gets out of the operation that it may ask: views, and nothing of this machine. */
import assert from "node:assert/strict";
import { Fault } from "../../contracts/base/mod.ts";
import type { TaskRequest } from "../../contracts/task/mod.ts";
import { SessionId } from "../../contracts/authority/mod.ts";
import { parseControlRequest } from "./control_ops.ts";
import { makeView, type ViewHandlers } from "./fleet_view.ts";
import { VIEW_OPS, ViewBody } from "./fleet_ops.ts";

const WHO = { by: "carol", profile: "guest" } as const;
const request = (more: object = {}): object => ({
  request: "Say hello",
  session: "s000000000001",
  ingress: { channel: "terminal", principal: "root", colour: "BLUE", label: "public" },
  profile: "operator",
  mounts: [],
  folder: "/root",
  model: { ref: "scripted:x", config: "{}" },
  limits: {},
  onQuestion: "deny",
  phase: "work",
  interactive: true,
  ...more,
});

/** Handlers that remember what they were asked. */
function world(log: readonly object[] = []) {
  const asked: [string, unknown][] = [];
  const own = Object.fromEntries(
    VIEW_OPS.map((op) => [op, (body: unknown) => {
      asked.push([op, body]);
      return op === "log" ? log : undefined;
    }]),
  ) as unknown as ViewHandlers;
  const view = makeView(own, {
    fleet: undefined,
    session: () => SessionId.parse("snew000000001"),
  });
  return { asked, view: (body: object) => view(ViewBody.parse(body)) };
}
const refused = (code: string) => (error: unknown): boolean =>
  error instanceof Fault && error.code === code;

Deno.test("a request over a gateway is nobody's own words, with the rights of its token, and is queued", async () => {
  const { asked, view } = world();
  await view({ op: "fleet", body: { kind: "run", request: request() }, ...WHO });
  const [, body] = asked[0] ?? [];
  const { request: made } = body as { readonly request: TaskRequest };
  assert.deepEqual(made.ingress, {
    ...{ channel: "http", principal: "token-carol", colour: "YELLOW", label: "internal" },
  });
  assert.deepEqual([made.profile, made.onQuestion, made.interactive], ["guest", "queue", false]);
  assert.equal(made.folder, undefined);
  // A token of less than the request asks for, and a request for less than the token has.
  await view({
    ...{ op: "fleet", by: "carol", profile: "operator" },
    body: { kind: "run", request: request({ profile: "anonymous" }) },
  });
  assert.equal((asked[1]?.[1] as { request: TaskRequest }).request.profile, "anonymous");
});

const FOLDER = {
  name: "root",
  dir: "/root",
  mode: "ro",
  colour: "YELLOW",
  label: "internal",
  marks: [],
};
for (
  const [what, more] of [
    ["a folder of this machine", { mounts: [FOLDER] }],
    ["a wiki of this machine", { wikis: ["/root/wiki"] }],
  ] as const
) {
  Deno.test(`a request with ${what} is refused`, async () => {
    const { asked, view } = world();
    const body = { kind: "run", request: request(more) };
    await assert.rejects(async () => await view({ op: "fleet", body, ...WHO }), refused("refused"));
    assert.equal(asked.length, 0);
  });
}

Deno.test("the database's address is handed to no gateway", async () => {
  const { asked, view } = world();
  const body = { kind: "enroll", name: "mallory" };
  await assert.rejects(async () => await view({ op: "fleet", body, ...WHO }), refused("refused"));
  assert.equal(asked.length, 0);
});

Deno.test("what is no view is not there: no secret, no signal, no end", () => {
  for (
    const op of [
      ...[
        "run",
        "kill",
        "stop",
        "lend",
        "secrets",
        "mcpLend",
        "delegate",
        "revoke",
        "purge",
        "undo",
      ],
      ...["auditExport", "auditRepair", "release", "deliver", "view", "hello", "__proto__"],
    ]
  ) {
    assert.throws(
      () => parseControlRequest("view", { op, body: null, ...WHO }),
      refused("invalidInput"),
      op,
    );
  }
  assert.throws(
    () => parseControlRequest("view", { op: "tasks", body: {}, by: "a b", profile: "operator" }),
    refused("invalidInput"),
  );
});

Deno.test("a view's body is parsed as the operation's own", async () => {
  const { asked, view } = world();
  await assert.rejects(
    async () => await view({ op: "log", body: { task: "t1", from: -1 }, ...WHO }),
    refused("invalidInput"),
  );
  assert.equal(asked.length, 0);
});

/** A request's model as a kernel gets it, and the whole request. */
async function made(more: object, profile: "guest" | "operator" = "guest"): Promise<TaskRequest> {
  const { asked, view } = world();
  const body = { kind: "run", request: request(more) };
  await view({ op: "fleet", body, by: "carol", profile });
  return (asked[0]?.[1] as { readonly request: TaskRequest }).request;
}
const remote = (more: object = {}, ref = "anthropic:cleared") => ({
  ref,
  config: JSON.stringify({
    ...{ model: "m", url: "https://evil.example/v1", price: { input: 0, output: 0 } },
    ...{ noWait: true, rates: { requestsPerMinute: 1e6 }, secret: "anthropic", ...more },
  }),
});

Deno.test("no model of a token's request is free, unpaced, paid for by a kernel's key, or known by a cleared name", async () => {
  const guard = { name: "g", before: ["*"], sees: "call", raises: "consent", unanswered: "raise" };
  const { model, guards } = await made({
    model: {
      ...remote(),
      escalate: { after: 1, to: remote() },
      summarizer: remote(),
      others: [remote()],
    },
    guards: [{ ...guard, model: remote() }],
  });
  const all = [model, model.escalate?.to, model.summarizer, model.others?.[0], guards?.[0]?.model];
  for (const choice of all) {
    assert.equal(choice?.ref, "anthropic:m@https://evil.example/v1");
    assert.deepEqual(JSON.parse(choice?.config ?? ""), {
      model: "m",
      url: "https://evil.example/v1",
    });
  }
  const { model: own } = await made({ model: remote() }, "operator");
  assert.equal(own.ref, "anthropic:m@https://evil.example/v1");
  assert.equal(JSON.parse(own.config).secret, "anthropic");
});

for (
  const url of [
    ...["http://127.0.0.1:11434", "http://localhost./v1", "http://10.1.2.3", "http://2130706433"],
    ...["http://169.254.169.254", "http://192.168.0.1", "http://[::1]", "http://[::ffff:10.0.0.1]"],
    ...["http://[fd00::1]", "http://[2002:a00:1::]", "http://intranet/v1", "http://db.internal"],
  ]
) {
  Deno.test(`a token may not have a kernel ask ${url}; an operator's may`, async () => {
    await assert.rejects(made({ model: remote({ url }) }), refused("refused"));
    await made({ model: remote({ url }) }, "operator");
  });
}
Deno.test("public addresses are a token's to name; a configuration that is none is not", async () => {
  for (const url of ["https://1.1.1.1", "https://[2606:4700::1]", "https://api.openai.com/v1"]) {
    await made({ model: remote({ url }) });
  }
  for (const config of ["{", "{}", '{"url":"x"}']) {
    await assert.rejects(
      made({ model: { ref: "openai:x", config } }),
      refused("invalidInput"),
    );
  }
  await assert.rejects(made({ model: { ref: "other:x", config: "{}" } }), refused("refused"));
});

Deno.test("a request over a gateway has a session of its own, and no more than the usual limits", async () => {
  const agent = { name: "a", labels: {}, persona: "", env: {}, limits: { money: 1e6 } };
  const { session, limits, agents } = await made({
    limits: { money: 1e6, iterations: 3, callsByEffect: { destructive: 1e9, odd: 1e9 } },
    agents: [agent],
  });
  assert.equal(session, "snew000000001");
  assert.deepEqual(limits, {
    ...{ money: 1, iterations: 3 },
    callsByEffect: { outboundWrite: 50, outboundRead: 200, destructive: 20, odd: 500 },
  });
  assert.equal(agents?.[0]?.limits.money, 1);
  for (
    const more of [
      { program: "remit:planned" },
      { agent: { ...agent, program: "lal" } },
      { agents: [{ ...agent, program: "planned" }] },
    ]
  ) await assert.rejects(made(more), refused("refused"));
});

Deno.test("a log over a gateway has no private parts but for an operator's token, also without a fleet", async () => {
  const event = { kind: "event", n: 0, at: 1, event: "asked", body: { pid: 1 } };
  const log = [{ ...event, private: { text: "the password is 1234" } }];
  const { view } = world(log);
  const asked = { op: "log", body: { task: "t000000000001", from: 0 } };
  assert.deepEqual(await view({ ...asked, ...WHO }), [event]);
  assert.deepEqual(await view({ ...asked, by: "carol", profile: "operator" }), log);
});
