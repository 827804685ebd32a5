import assert from "node:assert/strict";
import { Fault, type Json, toJson } from "../../contracts/base/mod.ts";
import {
  Exchange,
  type ExchangeEvent,
  ExchangeId,
  InboxId,
  PeerName,
} from "../../contracts/exchange/mod.ts";
import { makePeerWatches } from "./watches.ts";

const [X, Y] = ["1", "2"].map((digit) => ExchangeId.parse(`x${digit.repeat(24)}`));
assert.ok(X !== undefined && Y !== undefined);
const alice = PeerName.parse("alice");

function standing(id: ExchangeId, version = 1): Exchange {
  return Exchange.parse({
    ...{ id, context: "c1", peer: alice, agent: "sailor", state: "working" },
    ...{ entry: InboxId.parse(`m${"1".repeat(12)}`), history: [], artifacts: [], pushes: [] },
    ...{ version, createdAt: 1, updatedAt: 1 },
  });
}

/** Watches over a kernel whose answers are given by hand, in the order of asking. */
function kernel() {
  const asked: (readonly [string, Json])[] = [];
  const answers: PromiseWithResolvers<Json>[] = [];
  const watches = makePeerWatches((op, body) => {
    asked.push([op, body]);
    if (op === "peerUnwatch") return Promise.resolve(null);
    const answer = Promise.withResolvers<Json>();
    answers.push(answer);
    return answer.promise;
  });
  return {
    watches,
    answer: (exchange: Exchange) => answers.shift()?.resolve(toJson(exchange)),
    refuse: () => answers.shift()?.reject(new Fault("notFound", "Cannot find it")),
    ended: () => asked.filter(([op]) => op === "peerUnwatch").map(([, body]) => body),
    words: (exchange: ExchangeId, text: string) =>
      watches.hear({ exchange, event: { kind: "progress", text } }),
  };
}

function reader(id: string) {
  const events: ExchangeEvent[] = [];
  return { events, id, progress: true, tell: (event: ExchangeEvent) => void events.push(event) };
}

Deno.test("a stream that alice left while its message was being sent is watched by nobody", async () => {
  const { watches, answer, ended, words } = kernel();
  const alices = reader("w1");
  const sent = watches.send(alices, { peer: "alice" });
  watches.end("w1");
  assert.deepEqual(ended(), []);
  answer(standing(X));
  await sent;
  assert.deepEqual(ended(), [{ exchange: X }]);
  words(X, "nobody hears it");
  assert.deepEqual(alices.events, []);
});

Deno.test("whatever mallory's exchanges tell meanwhile, alice's new stream has what her own began with", async () => {
  const { watches, answer, words } = kernel();
  const alices = reader("w1");
  const sent = watches.send(alices, { peer: "alice" });
  for (let i = 0; i < 3_000; i++) words(Y, `flood ${i}`);
  words(X, "first words");
  answer(standing(X));
  await sent;
  assert.deepEqual(alices.events, [{ kind: "progress", text: "first words" }]);
});

Deno.test("alice who sends again as her first stream ends keeps the kernel's stream", async () => {
  const { watches, answer, ended } = kernel();
  const first = watches.send(reader("w1"), { peer: "alice" });
  answer(standing(X));
  await first;
  // The same message again: which exchange it goes on in is known with the answer.
  const again = watches.send(reader("w2"), { peer: "alice" });
  watches.end("w1");
  assert.deepEqual(ended(), [], "the stream may be hers again already");
  answer(standing(X));
  await again;
  assert.deepEqual(ended(), []);
  watches.end("w2");
  assert.deepEqual(ended(), [{ exchange: X }]);
});

Deno.test("a stream that could not begin keeps none that everybody left", async () => {
  const { watches, answer, refuse, ended } = kernel();
  const first = watches.begin(reader("w1"), { peer: alice, exchange: X });
  answer(standing(X));
  await first;
  const bobs = watches.begin(reader("w2"), { peer: PeerName.parse("bob"), exchange: X });
  watches.end("w1");
  assert.deepEqual(ended(), []);
  refuse();
  await assert.rejects(bobs, { code: "notFound" });
  assert.deepEqual(ended(), [{ exchange: X }]);
});

Deno.test("a stream's name that is taken is taken from nobody, whatever becomes of who asks for it", async () => {
  const { watches, answer, words } = kernel();
  const alices = reader("w1");
  const first = watches.begin(alices, { peer: alice, exchange: X });
  await assert.rejects(
    watches.begin(reader("w1"), { peer: alice, exchange: Y }),
    { code: "conflict" },
  );
  answer(standing(X));
  await first;
  words(X, "hers");
  assert.equal(alices.events.length, 1);
});
