/** What a hostile gateway gets out of the operation that it may ask: views, and nothing of this machine. */
import assert from "node:assert/strict";
import { Fault } from "../../contracts/base/mod.ts";
import type { TaskRequest } from "../../contracts/task/mod.ts";
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
function world() {
  const asked: [string, unknown][] = [];
  const own = Object.fromEntries(
    VIEW_OPS.map((op) => [op, (body: unknown) => void asked.push([op, body])]),
  ) as unknown as ViewHandlers;
  const view = makeView(own, undefined);
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
