/** What the kit checks of the two bindings, and what JSON-RPC, HTTP and the specification want beside it. */
import assert from "node:assert/strict";
import { type Binding, BINDINGS, type Loose, makeWorld, message } from "./_a2a_world.ts";

const JSON_TYPE = { "content-type": "application/json", "a2a-version": "1.0" };
const post = (
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = JSON_TYPE,
) => ({ method: "POST", headers, body });
const call = (method: string, params: Loose = {}, id: Loose = 1): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params });
const code = async (response: Response): Promise<number> => (await response.json()).error?.code;

Deno.test("JSONRPC-FMT-001 JSONRPC-FMT-002 answers are JSON-RPC 2.0 with the request's id", async () => {
  const world = makeWorld();
  for (const id of [1, 0, -7, "a", "", null]) {
    const response = await world.raw("/a2a", post(call("ListTasks", {}, id)));
    assert.match(response.headers.get("content-type") ?? "", /^application\/json/);
    const { jsonrpc, id: again, result, ...rest } = await response.json();
    assert.deepEqual([jsonrpc, again, rest], ["2.0", id, {}]);
    assert.deepEqual(result.tasks, []);
  }
});

Deno.test("JSONRPC-ERR-001 what is no request of JSON-RPC is refused by its code, and nothing is done", async () => {
  const world = makeWorld();
  const cases: readonly (readonly [string, number])[] = [
    ["", -32_700],
    ["{", -32_700],
    ['{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "ListTasks"}', -32_700],
    ['{"jsonrpc": "2.0", "id": 1e999, "method": "ListTasks"}', -32_700],
    ["[]", -32_600],
    [`[${call("ListTasks")}, ${call("ListTasks")}]`, -32_600],
    ["null", -32_600],
    ['"ListTasks"', -32_600],
    ['{"jsonrpc": "1.0", "id": 1, "method": "ListTasks"}', -32_600],
    ['{"id": 1, "method": "ListTasks"}', -32_600],
    ['{"jsonrpc": "2.0", "method": "ListTasks"}', -32_600],
    ['{"jsonrpc": "2.0", "id": 1}', -32_600],
    ['{"jsonrpc": "2.0", "id": 1, "method": ""}', -32_600],
    ['{"jsonrpc": "2.0", "id": 1, "method": 5}', -32_600],
    ['{"jsonrpc": "2.0", "id": 1.5, "method": "ListTasks"}', -32_600],
    ['{"jsonrpc": "2.0", "id": {}, "method": "ListTasks"}', -32_600],
    [`{"jsonrpc": "2.0", "id": "${"x".repeat(300)}", "method": "ListTasks"}`, -32_600],
    [call("tasks/list"), -32_601],
    [call("toString"), -32_601],
    [call("__proto__"), -32_601],
    [call("ListTasks", []), -32_602],
    [call("ListTasks", "x"), -32_602],
    [call("GetTask", {}), -32_602],
    [call("GetTask", { id: 5 }), -32_602],
    [call("ListTasks", { pageSize: 0 }), -32_602],
    [call("ListTasks", { pageSize: 101 }), -32_602],
    [call("ListTasks", { status: "done" }), -32_602],
    [call("ListTasks", { tenant: "acme" }), -32_602],
    [call("ListTasks", { contextId: "a", context_id: "b" }), -32_602],
    [call("SendMessage", {}), -32_602],
    [call("SendMessage", message("x", { parts: [] })), -32_602],
    [call("SendMessage", message("x", { role: "ROLE_AGENT" })), -32_602],
    [call("SendMessage", message("x", { messageId: "" })), -32_602],
    [call("SendMessage", message("x", { parts: [{ text: "a", url: "https://b" }] })), -32_602],
    [call("SendMessage", message("x", { parts: [{ raw: "not base64!" }] })), -32_602],
    [call("SendMessage", message("x", { parts: [{ kind: "text" }] })), -32_005],
  ];
  for (const [body, wanted] of cases) {
    const response = await world.raw("/a2a", post(body));
    assert.equal(await code(response), wanted, body.slice(0, 80));
  }
  assert.equal(world.starter.asked["a2aSend"], undefined);
  assert.equal(world.starter.asked["a2aList"], undefined);
});

Deno.test("JSONRPC-ERR-002 JSONRPC-ERR-003 JSONRPC-SSE-002 HTTP_JSON-ERR-001 HTTP_JSON-ERR-002 HTTP_JSON-STATUS-001 each refusal has its code, status and reason", async () => {
  const world = makeWorld();
  const over =
    (await world.ask("JSONRPC", "SendMessage", message("tck-complete-task"))).value.task.id;
  const none = { taskId: "none", url: "https://example.com/" };
  const cases: readonly (readonly [string, Loose, string, number, number, string])[] = [
    ["GetTask", { id: "none" }, "TASK_NOT_FOUND", -32_001, 404, "NOT_FOUND"],
    ["CancelTask", { id: over }, "TASK_NOT_CANCELABLE", -32_002, 409, "FAILED_PRECONDITION"],
    [
      "CreateTaskPushNotificationConfig",
      none,
      "PUSH_NOTIFICATION_NOT_SUPPORTED",
      -32_003,
      400,
      "UNIMPLEMENTED",
    ],
    [
      "SendMessage",
      message("x", { taskId: over }),
      "UNSUPPORTED_OPERATION",
      -32_004,
      400,
      "UNIMPLEMENTED",
    ],
    [
      "SendMessage",
      message("x", { parts: [{}] }),
      "CONTENT_TYPE_NOT_SUPPORTED",
      -32_005,
      415,
      "INVALID_ARGUMENT",
    ],
    [
      "GetTask",
      { id: over, historyLength: -1 },
      "INVALID_PARAMS",
      -32_602,
      400,
      "INVALID_ARGUMENT",
    ],
  ];
  for (const [method, params, reason, rpc, status, name] of cases) {
    const by = reason.startsWith("PUSH") ? { token: "bob" } : {};
    const one = await world.ask("JSONRPC", method, params, by);
    assert.deepEqual([one.status, one.error?.code], [200, rpc], method);
    const [info] = one.body.error.data;
    assert.deepEqual([info["@type"], info.domain, info.reason], [
      ...["type.googleapis.com/google.rpc.ErrorInfo", "a2a-protocol.org", reason],
    ]);
    const two = await world.ask("HTTP+JSON", method, params, by);
    assert.match(two.headers.get("content-type") ?? "", /^application\/json/);
    assert.deepEqual([two.status, two.error?.code, two.body.error.status], [status, status, name]);
    assert.deepEqual(two.body.error.details, [info]);
    assert.equal(two.error?.message, one.error?.message, "BIND-EQUIV-003");
  }
});

Deno.test("VER-SERVER-002 VER-SERVER-003 VER-CLIENT-002 another version than 1.0 is refused, also the one of no header", async () => {
  const world = makeWorld();
  for (const binding of BINDINGS) {
    for (const version of ["99.0", "0.3", "", "1", "1.1", "1.0; x"]) {
      const { status, error } = await world.ask(binding, "ListTasks", {}, {
        headers: { "a2a-version": version },
      });
      assert.equal(error?.reason, "VERSION_NOT_SUPPORTED", version);
      assert.equal(status, binding === "JSONRPC" ? 200 : 400);
    }
    const { value } = await world.ask(binding, "ListTasks", {}, {
      headers: { "a2a-version": "1.0.7" },
    });
    assert.deepEqual(value.tasks, []);
  }
  const inQuery = await world.raw("/a2a/v1/tasks?A2A-Version=1.0");
  assert.equal(inQuery.status, 200);
});

Deno.test("JSONRPC-SVC-002 HTTP_JSON-SVC-002 extensions that are spoken are named again, and no other", async () => {
  const world = makeWorld();
  const ONCE = "urn:remit:a2a:once";
  for (const binding of BINDINGS) {
    const echoed = async (asked: string): Promise<string | null> =>
      (await world.ask(binding, "ListTasks", {}, { headers: { "a2a-extensions": asked } }))
        .headers.get("a2a-extensions");
    assert.equal(await echoed(`https://example.com/ext/v1, ${ONCE}`), ONCE);
    assert.equal(await echoed("https://example.com/ext/v1,https://example.com/ext/v2"), null);
    const { error } = await world.ask(binding, "ListTasks", {}, {
      headers: { "a2a-extensions": "x".repeat(5_000) },
    });
    assert.equal(error?.reason, "INVALID_PARAMS");
  }
});

Deno.test("HTTP_JSON-SVC-001 a body of another media type is refused in both bindings", async () => {
  const world = makeWorld();
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""]) {
    const headers = { "a2a-version": "1.0", "content-type": type };
    const rpc = await world.raw("/a2a", post(call("ListTasks"), headers));
    assert.equal(await code(rpc), -32_005, type);
    const rest = await world.raw(
      "/a2a/v1/message:send",
      post(JSON.stringify(message("x")), headers),
    );
    assert.deepEqual([rest.status, await code(rest)], [415, 415], type);
  }
  const own = { ...JSON_TYPE, "content-type": "application/a2a+json; charset=utf-8" };
  const taken = await world.raw("/a2a/v1/message:send", post(JSON.stringify(message("x")), own));
  assert.equal(taken.status, 200);
  assert.equal(await code(await world.raw("/a2a", post(call("ListTasks"), own))), -32_005);
});

Deno.test("HTTP_JSON-SVC-003 who accepts A2A's own media type alone is answered in it", async () => {
  const world = makeWorld();
  const type = async (accept: string): Promise<string | null> =>
    (await world.raw("/a2a/v1/tasks", { headers: { "a2a-version": "1.0", accept } }))
      .headers.get("content-type");
  assert.equal(await type("application/a2a+json"), "application/a2a+json");
  for (const accept of ["*/*", "application/json", "application/json, application/a2a+json"]) {
    assert.equal(await type(accept), "application/json");
  }
});

Deno.test("HTTP_JSON-URL-001 HTTP_JSON-URL-002 each operation has its path and method, and other methods are named", async () => {
  const world = makeWorld();
  const headers = { "a2a-version": "1.0" };
  const cases: readonly (readonly [string, string, number, string | null])[] = [
    ["GET", "/a2a/v1/message:send", 405, "POST"],
    ["PUT", "/a2a/v1/tasks", 405, "GET"],
    ["DELETE", "/a2a/v1/tasks/x", 405, "GET"],
    ["GET", "/a2a/v1/tasks/x:cancel", 405, "POST"],
    ["PATCH", "/a2a/v1/tasks/x/pushNotificationConfigs/y", 405, "GET, DELETE"],
    ["GET", "/a2a/v1/", 404, null],
    ["GET", "/a2a/v1/nothing", 404, null],
    ["GET", "/a2a/v1/acme/tasks", 404, null],
    ["GET", "/a2a/v1/tasks/a/b", 404, null],
    ["GET", "/a2a/v1/tasks/%ff", 404, null],
    ["GET", "/a2a/v1/tasks/%2e%2e%2fx", 404, null],
    ["GET", "/a2a", 405, "POST"],
  ];
  for (const [method, path, status, allow] of cases) {
    const response = await world.raw(path, { method, headers });
    assert.deepEqual([response.status, response.headers.get("allow")], [status, allow], path);
    await response.body?.cancel();
  }
  assert.equal((await world.raw("/elsewhere", { headers })).status, 404);
});

Deno.test("HTTP_JSON-QP-001 parameters of a query are camel case, once each, and checked", async () => {
  const world = makeWorld();
  const ask = async (query: string): Promise<number> => {
    const response = await world.raw(`/a2a/v1/tasks?${query}`, {
      headers: { "a2a-version": "1.0" },
    });
    await response.body?.cancel();
    return response.status;
  };
  for (
    const query of [
      ...["pageSize=5", "includeArtifacts=true", "status=TASK_STATE_WORKING", "status=working"],
      ...[
        "historyLength=0",
        "unknown=1",
        "pageToken=",
        "statusTimestampAfter=2026-01-01T00:00:00Z",
      ],
    ]
  ) {
    assert.equal(await ask(query), 200, query);
  }
  for (
    const query of [
      ...["pageSize=x", "pageSize=0", "pageSize=1e2", "pageSize=1&pageSize=2", "status=none"],
      ...["includeArtifacts=1", "historyLength=-1", "tenant=acme", "statusTimestampAfter=now"],
    ]
  ) {
    assert.equal(await ask(query), 400, query);
  }
});

Deno.test("BIND-EQUIV-001 BIND-EQUIV-002 both bindings tell the same task", async () => {
  const world = makeWorld();
  const { value } = await world.ask("JSONRPC", "SendMessage", message("tck-artifact-data"));
  const told = async (binding: Binding): Promise<Loose> =>
    (await world.ask(binding, "GetTask", { id: value.task.id })).value;
  assert.deepEqual(await told("HTTP+JSON"), await told("JSONRPC"));
});

Deno.test("JSONRPC-SVC-001 names of fields are read as the proto writes them, too", async () => {
  const world = makeWorld();
  const { value } = await world.ask("JSONRPC", "SendMessage", {
    message: {
      ...{ message_id: "tck-complete-task-snake", role: "ROLE_USER", context_id: "snake" },
      parts: [{ text: "a", media_type: "text/markdown", metadata: { some_key: 1 } }],
      metadata: { other_key: { inner_key: 2 } },
    },
    configuration: { history_length: 1 },
  });
  const { contextId, history } = value.task;
  assert.equal(contextId, "snake");
  assert.equal(history[0].parts[0].mediaType, "text/markdown");
  assert.deepEqual(history[0].metadata, { other_key: { inner_key: 2 } });
});

Deno.test("CORE-ERR-002 output modes that the agent does not have are refused before anything is done", async () => {
  const world = makeWorld();
  for (const binding of BINDINGS) {
    const ask = (acceptedOutputModes: string[]) =>
      world.ask(binding, "SendMessage", {
        ...message("tck-complete-task"),
        configuration: { acceptedOutputModes },
      });
    assert.equal((await ask(["audio/ogg"])).error?.reason, "CONTENT_TYPE_NOT_SUPPORTED");
    for (
      const modes of [["text/plain"], ["*/*"], ["text/*"], ["audio/ogg", "application/json"], []]
    ) {
      assert.equal((await ask(modes)).error, undefined, modes.join());
    }
  }
});
