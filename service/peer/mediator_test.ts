import assert from "node:assert/strict";
import { TaskId } from "../../contracts/authority/mod.ts";
import { Fault, type Json, toJson } from "../../contracts/base/mod.ts";
import { Exchange, ExchangeId, InboxId, PeerName, PeerSend } from "../../contracts/exchange/mod.ts";
import { TaskRequest } from "../../contracts/task/mod.ts";
import { SERVE_PORT_LIMITS } from "../../contracts/wire/mod.ts";
import { fitting, makePeerMediator, mayPush } from "./mediator.ts";
import type { SettledGiven } from "../../cli/service/setting.ts";
import type { KnownPeer } from "./credential.ts";
import { makePeerWatches } from "./watches.ts";

const exchange = (history: number, artifacts: number) => ({
  ...{ id: "x", state: "completed", history: ["h".repeat(history)] },
  artifacts: ["\u{20ac}".repeat(artifacts)],
});

Deno.test("an exchange goes whole, and past the bound first its history stays behind, then its artifacts", () => {
  const small = exchange(10, 10);
  assert.deepEqual(fitting(toJson(small)), small);
  assert.deepEqual(fitting(toJson(exchange(4_000_000, 10))), { ...exchange(0, 10), history: [] });
  const huge = fitting(toJson(exchange(4_000_000, 4_000_000)));
  assert.deepEqual(huge, { id: "x", state: "completed", history: [], artifacts: [] });
});

Deno.test("what fits is less than a frame of the gateway's pipe, whatever its characters are", () => {
  const most = JSON.stringify(fitting(toJson(exchange(10, 3_499_000))));
  assert.ok(most.length > 3_000_000);
  const { frameBytes = 0 } = SERVE_PORT_LIMITS;
  assert.ok(new TextEncoder().encode(most).length < frameBytes);
});

const X = ExchangeId.parse(`x${"1".repeat(24)}`);
const EXCHANGE: Exchange = {
  ...{ id: X, context: "c1", peer: PeerName.parse("alice"), agent: "sailor", state: "working" },
  ...{ entry: InboxId.parse(`m${"1".repeat(12)}`), history: [], artifacts: [], pushes: [] },
  ...{ version: 3, createdAt: 1, updatedAt: 1 },
};
const SAY = { id: "m1", parts: [{ kind: "text", text: "hi" }], extensions: [], references: [] };
const PEERS: Readonly<Record<string, KnownPeer>> = {
  alice: {
    name: PeerName.parse("alice"),
    config: { agent: "sailor", accept: "auto", push: ["https://a.example"], clearance: "internal" },
  },
  bob: { name: PeerName.parse("bob"), config: {} },
};

const ARTIFACT = {
  ...{ append: false, last: true },
  artifact: { id: "p1", name: "n", description: "", parts: [{ kind: "text", text: "t" }] },
};

/** A mediator over a kernel that answers everything with one exchange, or with `fault`. */
function mediator(fault?: Fault, exchange: Exchange = EXCHANGE) {
  const asked: (readonly [string, Json])[] = [];
  const told: Json[] = [];
  const noted: string[] = [];
  const began: (readonly [string, unknown])[] = [];
  const state = { ending: false, during: (): void => undefined };
  const ask = (op: string, body: Json): Promise<Json> => {
    asked.push([op, body]);
    state.during();
    return fault === undefined ? Promise.resolve(toJson(exchange)) : Promise.reject(fault);
  };
  const watches = makePeerWatches(ask);
  const settled: Pick<SettledGiven, "request"> = {
    request: (text, { session, interactive, ...ingress }) =>
      TaskRequest.parse({
        ...{ request: text, session, interactive, ingress, profile: "guest", mounts: [] },
        ...{ model: { ref: "m", config: "" }, limits: {}, onQuestion: "queue", phase: "work" },
      }),
  };
  const made = makePeerMediator({
    ...{ ask, watches, now: () => 7, note: (text) => void noted.push(text) },
    whose: (token) => Promise.resolve(token === null ? undefined : PEERS[token]),
    settled: () => settled as SettledGiven,
    card: (peer) => ({ card: peer?.name ?? "public" }),
    tell: (_op, body) => void told.push(body),
    takesMore() {
      if (state.ending) throw new Fault("unavailable", "Cannot begin: the service is ending");
    },
    id: (prefix) => `${prefix}${"0".repeat(12)}`,
    began: (task, link) => void began.push([task, link]),
  });
  const serve = async (op: string, body: Json): Promise<Json> => await made.ask(op, body) ?? "none";
  return { made, serve, asked, told, noted, watches, state, began };
}
const isFault = (code: string) => (error: unknown): boolean =>
  error instanceof Fault && error.code === code;

Deno.test("alice's message goes to the agent, with the profile and clearance, that remit.yaml names", async () => {
  const { serve, asked } = mediator();
  await serve("a2aSend", { token: "alice", message: SAY, context: "c9" });
  const [op, body] = asked[0] ?? [];
  const sent = PeerSend.parse(body);
  assert.equal(op, "peerSend");
  assert.equal(sent.peer, "alice");
  assert.deepEqual([sent.agent, sent.accept, sent.clearance], ["sailor", "auto", "internal"]);
  assert.deepEqual([sent.message.role, sent.message.at], ["peer", 7]);
  assert.deepEqual(sent.request.ingress, {
    ...{ channel: "a2a", principal: "peer:alice", colour: "RED", label: "public" },
  });
  assert.deepEqual([sent.request.profile, sent.request.interactive, sent.request.onQuestion], [
    ...["guest", true, "queue"],
  ]);
});

Deno.test("where remit.yaml says nothing a person decides, and the peer is told what is public", async () => {
  const { serve, asked } = mediator();
  await serve("a2aSend", { token: "bob", message: SAY });
  const sent = PeerSend.parse(asked[0]?.[1]);
  assert.deepEqual([sent.accept, sent.clearance, sent.agent], ["ask", "public", "agent"]);
});

Deno.test("mallory, through a hostile gateway, names herself alice and gets nothing", async () => {
  const { serve, asked } = mediator();
  const forged: readonly (readonly [string, Json])[] = [
    ["a2aSend", { token: "bob", peer: "alice", message: SAY }],
    ["a2aSend", { token: "bob", message: { ...SAY, role: "agent" } }],
    ["a2aSend", { token: "bob", message: SAY, request: {} }],
    ["a2aGet", { token: "bob", peer: "alice", exchange: X }],
    ["a2aList", { token: "bob", query: { peer: "alice", size: 5 } }],
    ["a2aGet", { token: "bob", exchange: "../x" }],
  ];
  for (const [op, body] of forged) {
    await assert.rejects(serve(op, body), isFault("invalidInput"), op);
  }
  for (
    const op of ["a2aSend", "a2aAdmit", "a2aGet", "a2aCancel", "a2aWatch", "a2aPush", "a2aList"]
  ) {
    const body = {
      a2aSend: { message: SAY },
      a2aAdmit: {},
      a2aList: { query: { size: 5 } },
      a2aWatch: { exchange: X, watch: "w", progress: true },
      a2aPush: { exchange: X, op: { kind: "list" } },
    }[op] ?? { exchange: X };
    for (const token of [null, "mallory", ""]) {
      await assert.rejects(serve(op, { token, ...body }), isFault("denied"), op);
    }
  }
  assert.deepEqual(asked, []);
  await serve("a2aGet", { token: "bob", exchange: X });
  assert.deepEqual(asked, [["peerGet", { peer: "bob", exchange: X }]]);
});

Deno.test("deliveries go where remit.yaml says, and nowhere else", async () => {
  const { serve, asked } = mediator();
  const set = (token: string, url: string) =>
    serve("a2aPush", { token, exchange: X, op: { kind: "set", config: { id: "p", url } } });
  await set("alice", "https://a.example/hook");
  assert.equal(asked.length, 1);
  for (
    const url of [
      ...["https://b.example/", "http://a.example/", "https://a.example:8443/"],
      ...["https://a.example@b.example/", "https://u:p@a.example/", "http://127.0.0.1/"],
      "https://a.example.b.example/",
    ]
  ) await assert.rejects(set("alice", url), isFault("refused"), url);
  await assert.rejects(set("bob", "https://a.example/"), isFault("refused"));
  const push = { id: "p", url: "https://b.example/" };
  await assert.rejects(
    serve("a2aSend", { token: "alice", message: SAY, push }),
    isFault("refused"),
  );
  assert.equal(asked.length, 1);
  assert.throws(() => mayPush({ url: "https://" }, ["https://a.example"]), isFault("refused"));
});

Deno.test("a peer learns no word of ours from a refusal, and the operator learns what failed", async () => {
  const secret = "Cannot read /home/carol/.config: broken";
  for (const [code, told] of [["storeCorrupt", "unavailable"], ["notFound", "notFound"]] as const) {
    const { serve, noted } = mediator(new Fault(code, secret));
    await assert.rejects(
      serve("a2aGet", { token: "bob", exchange: X }),
      (error: unknown) =>
        error instanceof Fault && error.code === told && !error.message.includes("carol"),
    );
    assert.equal(noted.length, told === "unavailable" ? 1 : 0);
  }
});

Deno.test("whoever watches gets the exchange as it stands and then what follows, once, until it goes", async () => {
  const { made, serve, told, watches, asked, state } = mediator();
  const event = (version: number): Json =>
    toJson({
      exchange: X,
      event: { kind: "state", version, exchange: { ...EXCHANGE, version } },
    });
  // What happens while the exchange is read comes after it.
  state.during = () => [event(3), event(4)].forEach(watches.hear);
  await serve("a2aWatch", { token: "alice", exchange: X, watch: "w1", progress: true });
  state.during = () => undefined;
  watches.hear(event(5));
  watches.hear(toJson({ exchange: X, event: { kind: "progress", text: "thinking" } }));
  const versions = told.map((each) => Object(each).event.version);
  assert.deepEqual(versions, [4, 5]);
  assert.equal(made.tell("a2aUnwatch", { watch: "w1" }), true);
  watches.hear(event(6));
  assert.equal(told.length, 2);
  assert.deepEqual(asked.at(-1), ["peerUnwatch", { exchange: X }]);
});

Deno.test("whoever sends and watches in one misses nothing of its exchange, and hears of no other", async () => {
  const { made, serve, told, watches, asked, state } = mediator();
  const event = (exchange: string, version: number): Json =>
    toJson({ exchange, event: { kind: "artifact", version, ...ARTIFACT } });
  const other = X.replace(/.$/, (last) => last === "0" ? "1" : "0");
  // Before the answer nobody here knows which exchange it is.
  state.during = () => [event(other, 4), event(X, 3), event(X, 4)].forEach(watches.hear);
  const body = { token: "alice", message: SAY, watch: { id: "w1", progress: true } };
  const stood = await serve("a2aSend", body);
  state.during = () => undefined;
  assert.equal(Object(stood).id, X);
  // remit.yaml gives this peer no progress, so the kernel is not asked for it.
  assert.deepEqual(PeerSend.parse(asked[0]?.[1]).watch, { progress: false });
  [event(other, 5), event(X, 5)].forEach(watches.hear);
  assert.deepEqual(told.map((each) => Object(each).event.version), [4, 5]);
  made.tell("a2aUnwatch", { watch: "w1" });
  assert.deepEqual(asked.at(-1), ["peerUnwatch", { exchange: X }]);
});

Deno.test("while the service ends nothing new begins, and what there is can be read", async () => {
  const { serve, state } = mediator();
  state.ending = true;
  await assert.rejects(serve("a2aSend", { token: "bob", message: SAY }), isFault("unavailable"));
  await serve("a2aGet", { token: "bob", exchange: X });
});

Deno.test("a peer's traceparent is a link of the task that its message became, and of nothing else", async () => {
  const [traceId, spanId] = ["a".repeat(32), "b".repeat(16)];
  const trace = `00-${traceId}-${spanId}-01`;
  const task = TaskId.parse("t000000000001");
  const { serve, began, asked } = mediator(undefined, { ...EXCHANGE, task });
  await serve("a2aSend", { token: "alice", message: SAY, trace });
  await serve("a2aSend", {
    token: "alice",
    message: SAY,
    trace,
    watch: { id: "w", progress: true },
  });
  assert.deepEqual(began, [[task, { traceId, spanId }], [task, { traceId, spanId }]]);
  assert.ok(!JSON.stringify(asked).includes(traceId), "the kernel is not told of it");
  for (const none of ["x", `01-${traceId}-${spanId}-01`, `00-${"0".repeat(32)}-${spanId}-01`]) {
    await serve("a2aSend", { token: "alice", message: SAY, trace: none });
  }
  await serve("a2aSend", { token: "alice", message: SAY, exchange: X, trace });
  assert.equal(began.length, 2);
  const waits = mediator();
  await waits.serve("a2aSend", { token: "bob", message: SAY, trace });
  assert.deepEqual(waits.began, []);
});

Deno.test("a gateway that goes, or leaves a stream, while a message is being sent leaves no watch behind", async () => {
  for (const how of ["goes", "leaves"]) {
    const { made, serve, asked, state, told, watches } = mediator();
    state.during = () => {
      if (how === "goes") made.close();
      else made.tell("a2aUnwatch", { watch: "w1" });
    };
    const watch = { id: "w1", progress: false };
    await serve("a2aSend", { token: "alice", message: SAY, watch });
    assert.deepEqual(asked.map(([op]) => op), ["peerSend", "peerUnwatch"], how);
    watches.hear({ exchange: X, event: { kind: "artifact", version: 4, ...ARTIFACT } });
    assert.deepEqual(told, [], how);
    state.during = () => undefined;
    await serve("a2aSend", { token: "alice", message: SAY, watch });
    await assert.rejects(
      serve("a2aWatch", { token: "alice", exchange: X, watch: "w1", progress: false }),
      isFault("conflict"),
    );
    watches.hear({ exchange: X, event: { kind: "artifact", version: 5, ...ARTIFACT } });
    assert.equal(told.length, 1, how);
  }
});
