import assert from "node:assert/strict";
import { PeerSaid } from "../../../contracts/exchange/exchange.ts";
import { hostilePeer, plainCard, task } from "../_fixture/hostile_peer.ts";
import { faultOf, openPeer, said } from "../_fixture/peer_bridge.ts";
import { sdkPeer } from "../_fixture/sdk_peer.ts";

for (const streaming of [true, false]) {
  Deno.test(`alice's message to the SDK's own server comes back with its artifact (streaming: ${streaming})`, async () => {
    await using peer = sdkPeer({ streaming });
    await using bridge = await openPeer(peer.url);
    assert.equal(bridge.ready.protocol, "A2A 1.0 JSONRPC");
    const words = await bridge.words();
    assert.deepEqual(words.peer, {
      card: `${peer.url}/.well-known/agent-card.json`,
      ...{ endpoint: `${peer.url}/a2a`, binding: "JSONRPC", keys: [] },
    });
    assert.deepEqual(words.tools.map(({ name, title }) => [name, title]), [["echo", "Echo"]]);

    const answer = await bridge.send({
      ...{ message: "hello", data: { quay: "north" }, files: [{ name: "a.txt", text: "ebb" }] },
    });
    assert.equal(answer.isError, false);
    assert.match(
      said(answer),
      /^\[peer "desk": \{"task":"[^"]+","context":"c0{24}","state":"completed"/,
    );
    assert.match(said(answer), /echo: hello \| \{"quay":"north"\} \| ebb/);
    assert.match(said(answer), /Done/);

    // The peer asks: the answer goes on with its task.
    const asked = await bridge.send({ message: "ask" }, { key: "1".repeat(64) });
    const { task, state } = JSON.parse(asked.structured ?? "{}");
    assert.equal(state, "inputRequired");
    // What it asks, and said before, is the inbox's; what it said at the end is the result.
    assert.doesNotMatch(said(asked), /Which quay\?|I am on it/);
    const heard = bridge.process.told.filter(({ op }) => op === "said").map(({ body }) => body);
    assert.deepEqual(
      heard.slice(-2).map((each) => {
        const { kind, body, task: of } = PeerSaid.parse(each);
        return [kind, body, of];
      }),
      // Without a stream only what stands at a look is heard.
      [...streaming ? [["status", "I am on it", task]] : [], ["question", "Which quay?", task]]
        .slice(-2),
    );
    assert.match(said(asked), new RegExp(`answer with the same tool and "task":"${task}"`));
    const next = await bridge.send({ message: "north", task }, { key: "2".repeat(64) });
    assert.equal(JSON.parse(next.structured ?? "{}").task, task);
    assert.match(said(next), /echo: north/);

    const failed = await bridge.send({ message: "fail" }, { key: "3".repeat(64) });
    assert.equal(failed.isError, true);
    assert.match(said(failed), /I cannot/);

    const bytes = await bridge.send({ message: "bytes" }, { key: "4".repeat(64) });
    assert.deepEqual(bytes.parts.filter(({ kind }) => kind === "blob"), [
      { kind: "blob", what: "resource", mimeType: "image/png", data: "iVBORw==" },
    ]);
    const kept = await bridge.artifact(JSON.parse(bytes.structured ?? "{}").task, "a1");
    assert.equal(kept.parts.filter(({ kind }) => kind === "blob").length, 2);
    assert.deepEqual(
      bridge.process.told.filter(({ op }) => op === "odd"),
      [],
    );
  });
}

Deno.test("alice's task that takes its time goes on: she is told its name, waits for it and cancels it", async () => {
  await using peer = sdkPeer();
  await using bridge = await openPeer(peer.url);
  const slow = await bridge.send({ message: "slow" }, { waitMs: 5_000 });
  const { task, state } = JSON.parse(slow.structured ?? "{}");
  assert.equal(state, "working");
  assert.match(said(slow), /the task goes on at the peer; a2a_desk_task with/);
  assert.deepEqual(peer.cancelled, []);
  const quick = await bridge.send({ message: "slow", wait: false }, { key: "1".repeat(64) });
  assert.match(said(quick), /the task goes on/);
  const looked = await bridge.task({ task, do: "get" });
  assert.equal(JSON.parse(looked.structured ?? "{}").state, "working");
  assert.match(said(await bridge.task({ task, do: "wait" }, 4_000)), /goes on at the peer/);
  const ended = await bridge.task({ task, do: "cancel" });
  assert.deepEqual([JSON.parse(ended.structured ?? "{}").state, ended.isError], ["canceled", true]);
  assert.deepEqual(peer.cancelled, [task]);
});

Deno.test("alice gives a call up: her task at the peer is cancelled, and the same call made again is the same message", async () => {
  await using peer = sdkPeer();
  await using bridge = await openPeer(peer.url);
  const call = bridge.send({ message: "slow" }, { id: "x" });
  const cancelled = peer.cancellation();
  await bridge.process.until(({ op }) => op === "progress");
  bridge.process.tell("cancel", { id: "x" });
  await assert.rejects(call, { code: "cancelled" });
  await cancelled;
  assert.equal(peer.cancelled.length, 1);
  const [first] = peer.messages;
  await bridge.send({ message: "hello" });
  assert.deepEqual(
    peer.messages.map(({ messageId, contextId }) => [messageId, contextId]),
    [[first?.messageId, first?.contextId], [`r${"0".repeat(40)}`, `c${"0".repeat(24)}`]],
  );
});

Deno.test("alice speaks HTTP+JSON where the card names no other binding: send, stream, look, cancel", async () => {
  for (const streaming of [true, false]) {
    await using peer = hostilePeer({
      card: (url) =>
        plainCard(url, {
          supportedInterfaces: [{
            ...{ url: `${url}/v1`, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" },
          }],
          capabilities: { streaming },
        }),
      answer({ method, path }) {
        const working = task("t1", "WORKING"), done = task("t1", "COMPLETED");
        if (path === "/v1/message:send") return Response.json({ task: working });
        if (path === "/v1/tasks/t1" && method === "GET") return Response.json(done);
        if (path === "/v1/tasks/t1:cancel") return Response.json(task("t1", "CANCELED"));
        const events = [{ task: working }, {
          statusUpdate: { taskId: "t1", contextId: "c", status: done["status"] },
        }];
        return path === "/v1/message:stream"
          ? new Response(events.map((each) => `data: ${JSON.stringify(each)}\n\n`).join(""), {
            headers: { "content-type": "text/event-stream" },
          })
          : Response.json(
            { error: { code: 404, status: "NOT_FOUND", message: "no", details: [] } },
            {
              status: 404,
            },
          );
      },
    });
    await using bridge = await openPeer(peer.url);
    assert.equal(bridge.ready.protocol, "A2A 1.0 HTTP+JSON");
    const answer = await bridge.send({ message: "hello" });
    assert.equal(JSON.parse(answer.structured ?? "{}").state, "completed");
    const ended = await bridge.task({ task: "t1", do: "cancel" });
    assert.equal(JSON.parse(ended.structured ?? "{}").state, "canceled");
    assert.match(await faultOf(bridge.task({ task: "t2", do: "get" })), /^upstream/);
    assert.deepEqual(peer.seen.at(1)?.line, `POST /v1/message:${streaming ? "stream" : "send"}`);
  }
});
