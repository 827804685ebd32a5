import assert from "node:assert/strict";
import { Exchange, type ExchangeEvent } from "../../../contracts/exchange/exchange.ts";
import { makeTeller } from "./stream_events.ts";

const piece = (id: string, ...texts: string[]) => ({
  ...{ id, name: id, description: "" },
  parts: texts.map((text) => ({ kind: "text" as const, text })),
});
const at = (version: number, more: Partial<Exchange> = {}): Exchange =>
  Exchange.parse({
    ...{ id: `x${"0".repeat(24)}`, context: "c", peer: "alice", agent: "a", state: "working" },
    ...{ entry: "m000000000001", history: [], artifacts: [], pushes: [], version },
    ...{ createdAt: 1, updatedAt: version },
    ...more,
  });
const state = (exchange: Exchange): ExchangeEvent => ({
  ...{ kind: "state", version: exchange.version, exchange },
});
const told = (events: ReturnType<ReturnType<typeof makeTeller>["next"]>): readonly string[] =>
  events.map(({ payload }) =>
    payload?.$case === "artifactUpdate"
      ? `${payload.value.append ? "+" : ""}${payload.value.artifact?.artifactId}:${
        payload.value.artifact?.parts.map(({ content }) => content?.value).join()
      }`
      : `${payload?.$case === "statusUpdate" ? payload.value.status?.state : payload?.$case}`
  );

Deno.test("a state that comes twice, or late, is told once", () => {
  const teller = makeTeller(at(3));
  const done = at(5, { state: "completed" });
  assert.deepEqual(told(teller.next(state(at(2, { state: "submitted" })))), []);
  assert.deepEqual(told(teller.next(state(at(3)))), []);
  assert.equal(teller.settled(), false);
  assert.deepEqual(told(teller.next(state(done))), ["3"]);
  assert.equal(teller.settled(), true);
  assert.deepEqual(told(teller.next(state(done))), []);
  assert.deepEqual(told(teller.next(state(at(4)))), []);
});

Deno.test("what happened between an answer and the watch is told from the snapshot, artifacts first", () => {
  const teller = makeTeller(at(1));
  const snapshot = at(4, { state: "completed", artifacts: [piece("a", "one", "two")] });
  assert.deepEqual(told(teller.next(state(snapshot))), ["a:one,two", "3"]);
  const late: ExchangeEvent = {
    ...{ kind: "artifact", version: 2, artifact: piece("a", "one"), append: false, last: false },
  };
  assert.deepEqual(told(teller.next(late)), [], "its snapshot had it");
});

Deno.test("pieces that were told are not told again with the state that holds them", () => {
  const teller = makeTeller(at(1, { artifacts: [piece("old", "x")] }));
  const first: ExchangeEvent = {
    ...{ kind: "artifact", version: 2, artifact: piece("a", "one"), append: false, last: false },
  };
  const more: ExchangeEvent = {
    ...{ kind: "artifact", version: 3, artifact: piece("a", "two"), append: true, last: true },
  };
  assert.deepEqual(told(teller.next(first)), ["a:one"]);
  assert.deepEqual(told(teller.next(more)), ["+a:two"]);
  const whole = [piece("old", "x"), piece("a", "one", "two"), piece("b", "three")];
  assert.deepEqual(told(teller.next(state(at(4, { artifacts: whole })))), ["b:three"]);
});

Deno.test("a state without its artifacts, too large to carry, takes nothing back", () => {
  const teller = makeTeller(at(1, { artifacts: [piece("a", "one")] }));
  assert.deepEqual(told(teller.next(state(at(2)))), []);
  const whole = at(3, { state: "completed", artifacts: [piece("a", "one", "two")] });
  assert.deepEqual(told(teller.next(state(whole))), ["+a:two", "3"]);
});

Deno.test("words that change in the same state are told", () => {
  const says = (id: string) => ({
    ...{ id, role: "agent" as const, parts: [{ kind: "text" as const, text: id }] },
    ...{ extensions: [], references: [], at: 1 },
  });
  const teller = makeTeller(at(1));
  assert.deepEqual(told(teller.next(state(at(2, { status: says("a") })))), ["2"]);
  assert.deepEqual(told(teller.next(state(at(3, { status: says("a") })))), []);
  assert.deepEqual(told(teller.next(state(at(4, { status: says("b") })))), ["2"]);
  assert.equal(teller.settled(), false);
});
