import assert from "node:assert/strict";
import { Fault } from "../../../contracts/base/fault.ts";
import type { Json } from "../../../contracts/base/json.ts";
import { PeerHolder, PeerSay } from "../../../contracts/wire/wire_a2a.ts";
import { makeA2aServer } from "./server.ts";

const TRACE = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;

/** What the starter is asked when a message comes with this header, over this path. */
async function asked(path: string, trace: string | undefined): Promise<PeerSay> {
  const asks: Json[] = [];
  const server = makeA2aServer({
    port: {
      ask(op, body): Promise<Json> {
        if (op === "a2aSend") asks.push(body);
        return Promise.reject(new Fault("unavailable", "Cannot send: it is ending"));
      },
      tell: () => undefined,
    },
    ...{ after: () => () => undefined, note: () => undefined, randomId: () => "id" },
  });
  const message = { messageId: "m1", role: "ROLE_USER", parts: [{ text: "hi" }] };
  const params = { message, configuration: { returnImmediately: true } };
  const text = JSON.stringify(
    path === "/a2a" ? { jsonrpc: "2.0", id: 1, method: "SendMessage", params } : params,
  );
  const request = new Request(`http://a${path}`, {
    method: "POST",
    headers: {
      ...{ "content-type": "application/json", "a2a-version": "1.0" },
      ...(trace === undefined ? {} : { traceparent: trace }),
    },
    body: text,
  });
  await server.fetch(request, new TextEncoder().encode(text), {
    token: "alice",
    holder: PeerHolder.parse({ peer: "alice", perMinute: 1, progress: false, push: false }),
  });
  await server.close();
  return PeerSay.parse(asks[0]);
}

Deno.test("alice's traceparent goes with her message, in both bindings; a long one does not", async () => {
  for (const path of ["/a2a", "/a2a/v1/message:send"]) {
    assert.equal((await asked(path, TRACE)).trace, TRACE);
    assert.equal((await asked(path, undefined)).trace, undefined);
    assert.equal((await asked(path, "x".repeat(129))).trace, undefined);
  }
});
