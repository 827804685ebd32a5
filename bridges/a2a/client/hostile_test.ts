/** mallory's peer, on a real socket, against a bridge in its real process. */
import assert from "node:assert/strict";
import { PeerSaid } from "../../../contracts/exchange/exchange.ts";
import { peerTaskIn } from "../../../contracts/exchange/peer_words.ts";
import {
  type Asked,
  events,
  type HostilePeer,
  hostilePeer,
  plainCard,
  result,
  task,
} from "../_fixture/hostile_peer.ts";
import { faultOf, openPeer, said } from "../_fixture/peer_bridge.ts";

const STREAMING = { capabilities: { streaming: true } };

/** A peer with a streaming card whose messages are answered so. */
function peerThat(
  answer: (asked: Asked) => Response | Promise<Response>,
  streaming = true,
): HostilePeer {
  return hostilePeer({ card: (url) => plainCard(url, streaming ? STREAMING : {}), answer });
}

Deno.test("mallory's card is too long, too deep, no JSON, of another protocol or names another origin: each is refused with its reason", async () => {
  const cards: readonly (readonly [(url: string) => string | object | Response, RegExp])[] = [
    [(url) => plainCard(url, { description: "x".repeat(300_000) }), /longer than 262144/],
    [() => `{"name":"m","x":${"[".repeat(200)}${"]".repeat(200)}}`, /too large|does not parse/],
    [() => "<html>", /is no JSON|does not parse/],
    [() => `{"name":"m","name":"n"}`, /is no JSON|does not parse/],
    [() => ({ name: "m", protocolVersion: "0.3.0", url: "http://x/" }), /one of protocol 0.3.0/],
    [() => ({ name: "m", supportedInterfaces: [] }), /names no interface/],
    [() => plainCard("http://192.0.2.1"), /both must be one origin/],
    [
      (url) =>
        plainCard(url, {
          supportedInterfaces: [{ url, protocolBinding: "GRPC", protocolVersion: "1.0" }],
        }),
      /offers GRPC 1.0/,
    ],
    [
      (url) => plainCard(url, { capabilities: { extensions: [{ uri: "urn:x", required: true }] } }),
      /requires the extension urn:x/,
    ],
    [() => new Response("", { status: 500 }), /answers 500/],
    [() => new Response("", { status: 404 }), /there is none at/],
    [() => Response.redirect("http://169.254.169.254/latest/meta-data/"), /leads elsewhere/],
  ];
  for (const [card, expected] of cards) {
    await using peer = hostilePeer({ card });
    assert.match(await faultOf(openPeer(peer.url)), expected);
  }
});

Deno.test("mallory's skills called __proto__, twice the same or of a wrong form do no harm: what is left out is said", async () => {
  await using peer = hostilePeer({
    card: (url) =>
      JSON.stringify(plainCard(url)).replace(
        /"skills":\[/,
        '"skills":[{"id":"__proto__","name":"p","__proto__":{"x":1}},{"id":""},7,{"id":5},',
      ),
  });
  await using bridge = await openPeer(peer.url);
  const { tools, left } = await bridge.words();
  assert.deepEqual(tools.map(({ name }) => name), ["__proto__", "echo"]);
  assert.equal(left.length, 3);
  assert.match(left.join("\n"), /id is missing/);
});

Deno.test("mallory answers for another task: an answer is refused, an event is left out and told", async () => {
  await using peer = peerThat((asked) => {
    if (asked.rpc.method === "GetTask") return result(asked, task("other", "COMPLETED"));
    return events(asked, [
      { task: task("t1", "WORKING") },
      { statusUpdate: { taskId: "other", contextId: "c", status: { state: "TASK_STATE_FAILED" } } },
      {
        artifactUpdate: {
          ...{ taskId: "other", contextId: "c" },
          artifact: { artifactId: "x", parts: [{ text: "stolen" }] },
        },
      },
      { statusUpdate: { taskId: "t1", contextId: "c", status: { state: "TASK_STATE_COMPLETED" } } },
    ]);
  });
  await using bridge = await openPeer(peer.url);
  const answer = await bridge.send({ message: "hello" });
  assert.equal(JSON.parse(answer.structured ?? "").state, "completed");
  assert.doesNotMatch(said(answer), /stolen/);
  assert.match(bridge.process.odd().join("\n"), /another task/);
  assert.match(await faultOf(bridge.task({ task: "t1", do: "get" })), /^upstream: .*another task/);
  const foreign = await faultOf(bridge.send({ message: "go on", task: "t9" }));
  assert.match(foreign, /^upstream: .*another task|about another task/);
});

Deno.test("a stream that ends without a word: the task is fetched before it is said to be completed", async () => {
  const says = (text: string) => ({ messageId: "m", parts: [{ text }] });
  const ways: readonly (readonly [object, RegExp])[] = [
    [{
      status: {
        state: "TASK_STATE_COMPLETED",
        message: { ...says("of its state"), role: "ROLE_AGENT" },
      },
    }, /of its state/],
    [{ artifacts: [{ artifactId: "a", parts: [{ text: "of an artifact" }] }] }, /of an artifact/],
    [{
      history: [
        { ...says("of the past"), role: "ROLE_AGENT" },
        { ...says("our own"), role: "ROLE_USER" },
      ],
    }, /of the past/],
  ];
  for (const [more, words] of ways) {
    const asked: string[] = [];
    await using peer = peerThat((each) => {
      asked.push(each.rpc.method ?? "");
      if (each.rpc.method === "GetTask") return result(each, task("t1", "COMPLETED", more));
      return events(each, [
        { task: task("t1", "WORKING") },
        {
          statusUpdate: { taskId: "t1", contextId: "c", status: { state: "TASK_STATE_COMPLETED" } },
        },
      ]);
    });
    await using bridge = await openPeer(peer.url);
    const answer = await bridge.send({ message: "hello" });
    assert.equal(JSON.parse(answer.structured ?? "").state, "completed");
    assert.match(said(answer), words, bridge.process.odd().join());
    assert.doesNotMatch(said(answer), /our own/);
    assert.deepEqual(asked, ["SendStreamingMessage", "GetTask"]);
  }
});

Deno.test("mallory's status updates never end: at most a hundred are told, and the call ends with how to go on", async () => {
  await using peer = peerThat((asked) => {
    if (asked.rpc.method !== "SendStreamingMessage") return result(asked, task("t1", "WORKING"));
    return events(
      asked,
      (async function* () {
        yield { task: task("t1", "WORKING") };
        for (let n = 0;; n++) {
          // TIMER: a flood first, then one that leaves the machine to the others.
          if (n > 1_000) await new Promise((resolve) => setTimeout(resolve, 20));
          const message = {
            messageId: `m${n}`,
            role: "ROLE_AGENT",
            parts: [{ text: `again ${n}` }],
          };
          yield {
            statusUpdate: {
              ...{ taskId: "t1", contextId: "c" },
              status: { state: "TASK_STATE_WORKING", message },
            },
          };
        }
      })(),
    );
  });
  await using bridge = await openPeer(peer.url);
  const answer = await bridge.send({ message: "hello" }, { waitMs: 10_000 });
  assert.match(said(answer), /the task goes on at the peer/);
  const told = bridge.process.told.filter(({ op }) => op === "progress");
  assert.equal(told.length, 100);
  // Of these so many go to the inbox, each once, and none is in the result.
  assert.equal(bridge.process.told.filter(({ op }) => op === "said").length, 64);
  assert.doesNotMatch(said(answer), /again/);
});

Deno.test("mallory repeats a message, writes a long one and one of parts that are no text: each is told once, short, as words", async () => {
  const message = (messageId: string, ...parts: readonly object[]) => ({
    statusUpdate: {
      ...{ taskId: "t1", contextId: "c" },
      status: { state: "TASK_STATE_WORKING", message: { messageId, role: "ROLE_AGENT", parts } },
    },
  });
  await using peer = peerThat((asked) =>
    events(asked, [
      { task: task("t1", "WORKING") },
      ...Array.from({ length: 9 }, () => message("m1", { text: "the same" })),
      message("m2", { text: "x".repeat(100_000) }),
      message("", { url: "http://169.254.169.254/" }, { data: { a: 1 } }, { raw: "AAAA" }),
      message("m4", { text: "" }),
      {
        artifactUpdate: {
          ...{ taskId: "t1", contextId: "c", lastChunk: true },
          artifact: { artifactId: "a1", name: "notes", parts: [{ text: "STOLEN" }] },
        },
      },
    ])
  );
  await using bridge = await openPeer(peer.url);
  const answer = await bridge.send({ message: "hello" }).catch(() => undefined);
  const heard = bridge.process.told.filter(({ op }) => op === "said")
    .map(({ body }) => PeerSaid.parse(body));
  assert.equal(answer, undefined, "its task was never to be found again");
  assert.deepEqual(heard.map(({ kind, body, artifacts }) => [kind, body.length, artifacts]), [
    ["status", 8, []],
    ["status", 4_096, []],
    ["status", heard[2]?.body.length, []],
    ["artifactReady", '"a1" "notes"'.length, ["a1"]],
  ]);
  assert.match(
    heard[2]?.body ?? "",
    /^⟨link "http:.*not followed⟩\n\{"a":1\}\n⟨3 bytes, left out⟩$/,
  );
});

Deno.test("mallory's peer dies while alice waits: she is told the name of her task there, and not where she named it", async () => {
  let dead = false;
  await using peer = peerThat((asked) => {
    if (dead) return new Response("", { status: 502 });
    dead = true;
    return events(asked, [{ task: task("t-77", "WORKING") }]);
  });
  await using bridge = await openPeer(peer.url);
  assert.match(
    await faultOf(bridge.send({ message: "hello" })),
    /^upstream: .*its task "t-77" may go on there: a2a_desk_task, or `remit a2a watch desk` with/,
  );
  assert.doesNotMatch(await faultOf(bridge.task({ task: "t-77", do: "get" })), /may go on/);
  const [first] = bridge.process.told.filter(({ op }) => op === "progress");
  const { progress, message } = Object(first?.body);
  assert.equal(peerTaskIn(`${progress} ${message}`), "t-77");
});

Deno.test("mallory's stream never says a word: the call ends in time, and says that nothing is known", async () => {
  await using peer = peerThat((asked) =>
    events(
      asked,
      (async function* () {
        yield* [];
        await new Promise<void>(() => {});
      })(),
    )
  );
  await using bridge = await openPeer(peer.url);
  assert.match(await faultOf(bridge.send({ message: "hello" }, { waitMs: 300 })), /^timedOut/);
});

Deno.test("mallory's answer is a bomb: one that is too long is refused, thousands of artifacts are cut, and links are not followed", async () => {
  const huge = "x".repeat(17 * 1_048_576);
  await using peer = peerThat((asked) => {
    const { message } = asked.rpc.params as { message: { parts: { text: string }[] } };
    const artifacts = message.parts[0]?.text === "long"
      ? [{ artifactId: "a", parts: [{ text: huge }] }]
      : [
        { artifactId: "link", parts: [{ url: "http://169.254.169.254/", mediaType: "a/b" }] },
        ...Array.from({ length: 3_000 }, (_, n) => ({
          ...{ artifactId: `a${n}`, name: "bomb" },
          parts: Array.from({ length: 8 }, () => ({ text: `part ${n}` })),
        })),
      ];
    return result(asked, { task: task("t1", "COMPLETED", { artifacts }) });
  }, false);
  await using bridge = await openPeer(peer.url);
  assert.match(await faultOf(bridge.send({ message: "long" })), /^tooLarge/);
  const answer = await bridge.send({ message: "many" });
  assert.ok(answer.parts.length <= 1_000 && answer.cutBytes > 0);
  assert.deepEqual(answer.parts.filter(({ kind }) => kind === "link"), [
    { kind: "link", uri: "http://169.254.169.254/", name: "", mimeType: "a/b" },
  ]);
  assert.ok(peer.seen.every(({ line }) => /agent-card|\/a2a$/.test(line)));
});

Deno.test("mallory answers with no protocol at all: each is a plain fault, and the next message is served", async () => {
  const answers: readonly (readonly [(asked: Asked) => Response, RegExp])[] = [
    [
      () => new Response("", { status: 302, headers: { location: "http://10.0.0.1/" } }),
      /leads elsewhere/,
    ],
    [() => new Response("", { status: 401 }), /remit a2a login desk/],
    [
      () => new Response("{", { headers: { "content-type": "application/json" } }),
      /does not parse/,
    ],
    [() => new Response("hello", { status: 200 }), /upstream/],
    [
      (asked) =>
        Response.json({
          jsonrpc: "2.0",
          id: 99,
          result: { task: task("t", "COMPLETED") },
          x: asked.path,
        }),
      /ID mismatch/,
    ],
    [
      (asked) =>
        Response.json({
          jsonrpc: "2.0",
          id: asked.rpc.id,
          error: { code: -32001, message: "no such task" },
        }),
      /no such task/,
    ],
    [(asked) => result(asked, {}), /payload/],
    [
      (asked) =>
        result(asked, { task: { id: "x".repeat(500), status: { state: "TASK_STATE_COMPLETED" } } }),
      /another task/,
    ],
    [(asked) => result(asked, { task: task("t1", "COMPLETED") }), /no fault/],
  ];
  let n = 0;
  await using peer = peerThat(
    (asked) => answers[n]?.[0](asked) ?? new Response("", { status: 500 }),
    false,
  );
  await using bridge = await openPeer(peer.url);
  for (; n < answers.length; n++) {
    assert.match(await faultOf(bridge.send({ message: "hello" })), answers[n]?.[1] ?? /never/);
  }
});
