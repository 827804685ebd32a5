import assert from "node:assert/strict";
import { Fault, type Json, toJson } from "../../contracts/base/mod.ts";
import type { ServeHolder } from "../../contracts/wire/mod.ts";
import {
  makeMediator,
  MAX_SESSIONS,
  mayHave,
  type MediatedSession,
  type Mediator,
} from "./mediator.ts";

const ALICE: ServeHolder = { holder: "alice", profile: "guest" };
const HOST = { token: "right", client: { name: "host", version: "1" } };

function mediator(): {
  readonly mediator: Mediator;
  readonly opened: ServeHolder[];
  readonly did: string[];
} {
  const opened: ServeHolder[] = [];
  const did: string[] = [];
  let ids = 0;
  const made = makeMediator({
    holderOf: (token) => token === "right" ? ALICE : undefined,
    open(id, holder): Promise<MediatedSession> {
      opened.push(holder);
      return Promise.resolve({
        info: { session: id },
        tools: () => Promise.resolve([]),
        call: ({ tool }) =>
          Promise.resolve({
            ...{ outcome: "ok", content: tool, colour: "RED", label: "public", task: "t1" },
          }),
        task: () => Promise.reject(new Fault("notFound", "Cannot")),
        answer: () => Promise.reject(new Fault("refused", "Cannot")),
        cancel: (call) => Promise.resolve(void did.push(`cancel ${call}`)),
        close: () => Promise.resolve(void did.push(`close ${id}`)),
      });
    },
    id: () => `session-number-${++ids}`,
    send: (text) => void did.push(`send ${text}`),
    note: (text) => void did.push(`note ${text}`),
  });
  return { mediator: made, opened, did };
}

const code = async (work: () => Json | Promise<Json>): Promise<string> => {
  try {
    await work();
    return "nothing";
  } catch (error) {
    if (error instanceof Fault) return error.code;
    throw error;
  }
};

Deno.test("a hostile gateway gets no session without a token, and none but its own", async () => {
  const { mediator: port, opened } = mediator();
  for (const token of ["wrong", null, ""]) {
    assert.equal(await code(() => port.ask("session", toJson({ ...HOST, token }))), "denied");
  }
  assert.equal(await code(() => port.ask("admit", { token: "wrong" })), "denied");
  for (const session of ["session-number-1", "", "alice"]) {
    assert.equal(await code(() => port.ask("tools", { session })), "gone");
  }
  assert.deepEqual(opened, []);
});

Deno.test("what a gateway asks is parsed whole: it names no profile, no folder, no other op", async () => {
  const { mediator: port } = mediator();
  const hostile: readonly (readonly [string, unknown, string])[] = [
    ["session", { ...HOST, profile: "operator" }, "invalidInput"],
    ["session", { ...HOST, client: { name: "x".repeat(10_000), version: "1" } }, "invalidInput"],
    ["call", { session: "a", call: "c", tool: "../x", args: {}, waitMs: 0 }, "invalidInput"],
    ["call", { session: "a", call: "c", tool: "x", args: {}, waitMs: 1e12 }, "invalidInput"],
    ["answer", { session: "a", call: "c", question: "q", allow: true }, "invalidInput"],
    ["run", {}, "badFrame"],
    ["__proto__", {}, "badFrame"],
  ];
  for (const [op, body, want] of hostile) {
    assert.equal(await code(() => port.ask(op, toJson(body))), want, op);
  }
  assert.throws(() => port.tell("kill", {}), (error: unknown) => error instanceof Fault);
});

Deno.test("sessions are bounded, ended once, and all ended at the end", async () => {
  const { mediator: port, did } = mediator();
  for (let n = 0; n < MAX_SESSIONS; n++) await port.ask("session", toJson(HOST));
  assert.equal(await code(() => port.ask("session", toJson(HOST))), "rateLimited");
  await port.ask("sessionEnd", { session: "session-number-1" });
  await port.ask("sessionEnd", { session: "session-number-1" });
  assert.deepEqual(did, ["close session-number-1"]);
  await port.ask("session", toJson(HOST));
  await port.close();
  assert.equal(did.length, MAX_SESSIONS + 1);
  assert.equal(await code(() => port.ask("session", toJson(HOST))), "gone");
});

Deno.test("the operator's profile is never had over an address beyond this machine", () => {
  assert.equal(mayHave("operator", undefined), true);
  assert.equal(mayHave("operator", { hostname: "127.0.0.1" }), true);
  for (const hostname of ["0.0.0.0", "::", "192.168.1.2", "example.org"]) {
    assert.equal(mayHave("operator", { hostname }), false, hostname);
    assert.equal(mayHave("guest", { hostname }), true);
  }
});
