/**
 * mallory is a peer, and the worker of her task is hers altogether: it starts children, which do what she says. A real
 * kernel, real processes. Each claim says what a child would have got for her that her task has not.
 */
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { SessionId } from "../../../contracts/authority/mod.ts";
import {
  Exchange,
  type ExchangeEvent,
  type ExchangeId,
  PeerName,
  type PeerSend,
} from "../../../contracts/exchange/mod.ts";
import { besiege, gone, runs, type Siege } from "../../fake/siege.ts";
import { waitUntil } from "../../fake/wait_until.ts";

const SECRET = "call the supplier";
const CALL =
  `const call = async (name, args) => ports.call((await ports.advertise()).id, { id: "c" + n++, name, arguments: JSON.stringify(args) });`;

/** Root by what the message says, children by their request, which is one word. */
const PROGRAM = `({ async turn(ports, message) { let n = 0; ${CALL}
  const tools = (await ports.advertise()).tools.map(({ name }) => name);
  const told = {};
  const spawn = (name, tools, limits, request) =>
    ports.spawn({ persona: "You are the operator.", request, tools, limits }).then(
      ({ pid }) => { told[name] = "spawned"; return pid; }, (e) => { told[name] = e.code; });
  const said = (value) => ({ stop: "answered", text: JSON.stringify(value) });
  const wants = (word) => message.content.includes("| " + word);
  switch (message.provenance.origin === "agent" ? message.content.split("\\n").at(-1) : "") {
    case "rest": return said(tools);
    case "read": return said((await call("file_read", { path: "desk/notes/plan.md" })).content);
    case "spend": {
      let spent = 0;
      while (spent < 99 && (await call("file_list", { path: "desk" })).outcome === "ok") spent += 1;
      return said(spent);
    }
    case "hold": return await new Promise(() => undefined);
    case "write": return said((await call("file_write", { path: "desk/notes/plan.md", content: "x" })).outcome);
    case "tell": {
      const { content } = await call("file_read", { path: "desk/notes/plan.md" });
      for (const [tool, args] of [["peer_status", { text: content }], ["peer_answer", { text: content }],
        ["peer_ask", { question: content }], ["peer_artifact", { name: "a.md", text: content }]])
        told[tool] = (await call(tool, args)).outcome;
      return said(told);
    }
  }
  if (wants("MORE")) {
    const all = await spawn("what it has", tools, {}, "rest");
    const of = JSON.parse((await ports.wait(all)).text);
    told.more = of.filter((name) => !tools.includes(name));
    for (const name of ["file_delete", "http_fetch", "exec", "shell", "spawn", "peerSend"])
      if (!tools.includes(name)) await spawn(name, [name], {}, "rest");
    await spawn("more calls", tools, { toolCalls: 50 }, "rest");
    await spawn("more time", tools, { wallClockMs: 1e8 }, "rest");
    const writer = await spawn("a writer", tools, {}, "write");
    told.exit = (await ports.wait(writer)).exit;
    for (let i = 0; i < 9; i++) await spawn("and more of them", tools, {}, "rest");
    return said(told);
  }
  if (wants("SPEND")) {
    let spent = 0;
    for (let i = 0; i < 3; i++) {
      const { text } = await ports.wait(await spawn("s", ["file_list"], {}, "spend"));
      spent += JSON.parse(text);
    }
    return said(spent);
  }
  if (wants("LAUNDER")) return said((await ports.wait(await spawn("r", ["file_read"], {}, "read"))).text);
  if (wants("TELL")) {
    const { text } = await ports.wait(await spawn("t", tools, {}, "tell"));
    return said(text);
  }
  for (let i = 0; i < 2; i++) await spawn("h" + i, tools, {}, "hold");
  return wants("LEAVE") ? said("left") : await new Promise(() => undefined);
} })`;

/** Exit code of a process that waits for a person. */
const WAITS = 75;
const CALLS = 20;

let sent = 0;

async function send(siege: Siege, word: string): Promise<Exchange> {
  const asked: PeerSend = {
    peer: PeerName.parse("mallory"),
    agent: "agent",
    message: {
      ...{ id: `m${++sent}`, role: "peer", parts: [{ kind: "text", text: word }] },
      ...{ extensions: [], references: [], at: Date.now() },
    },
    accept: "auto",
    request: {
      ...{ request: "A peer says:", session: SessionId.parse("s000000000000") },
      ingress: { channel: "a2a", principal: "peer:mallory", colour: "RED", label: "public" },
      ...{ profile: "guest", mounts: [siege.mount({ mode: "rw" })] },
      limits: { children: 4, depth: 1, toolCalls: CALLS, wallClockMs: 20_000 },
      model: {
        ref: "scripted:s.yaml",
        config: JSON.stringify({ file: "s.yaml", text: "scenario: s\nturns:\n  - say: Well.\n" }),
      },
      ...{ onQuestion: "queue", phase: "work", interactive: true, program: PROGRAM },
    },
    clearance: "public",
    most: { open: 16, perDay: 200 },
  };
  return Exchange.parse(await siege.ask("peerSend", asked));
}

const over = ({ state }: Exchange): boolean => ["completed", "failed", "canceled"].includes(state);
const words = ({ status }: Exchange): string =>
  (status?.parts ?? []).map((part) => part.kind === "text" ? part.text : "").join("");

/** The exchange at its end, and every event of it. */
async function ended(siege: Siege, id: ExchangeId): Promise<{ last: Exchange; all: string }> {
  const link = await siege.connect();
  let all = "";
  try {
    const last = await new Promise<Exchange>((resolve, reject) => {
      link.onTell((_op, body) => {
        const { event } = body as unknown as { event: ExchangeEvent };
        all += JSON.stringify(event);
        if (event.kind === "state" && over(event.exchange)) resolve(event.exchange);
      });
      link.ask("peerWatch", { exchange: id, progress: true }).then((answer) => {
        const stood = Exchange.parse(answer);
        all += JSON.stringify(stood);
        if (over(stood)) resolve(stood);
      }, reject);
    });
    return { last, all };
  } finally {
    link.close();
  }
}

Deno.test("children of mallory's task get her no tool, no budget, no colour, no word and no time of their own", async (t) => {
  await besiege(async (siege) => {
    type Row = Readonly<Record<string, unknown>>;
    const ps = async (): Promise<readonly Row[]> => (await siege.ask("ps", null)) as readonly Row[];

    const asked = async (): Promise<readonly Row[]> =>
      (await siege.ask("questions", {})) as readonly Row[];

    let first: Exchange["task"];

    await t.step(
      "a child would have tools, calls, time and children that the task has not",
      async () => {
        const { last } = await ended(siege, (await send(siege, "MORE")).id);
        first = last.task;
        const over = "budgetExhausted";
        deepEqual(JSON.parse(words(last)), {
          ...{ "what it has": "spawned", more: [], "a writer": "spawned", exit: WAITS },
          ...{ exec: "refused", shell: "refused", spawn: "refused", peerSend: "refused" },
          ...{ "more calls": over, "more time": over, "and more of them": over },
        });
      },
    );

    await t.step("a child's writing would be the operator's", async () => {
      const of = async (event: string): Promise<readonly Row[]> => {
        const log = (await siege.ask("log", { task: first ?? "", from: 0 })) as readonly Row[];
        return log.filter((row) => row["event"] === event).map(({ body }) => Object(body));
      };
      const closed = await waitUntil("the question ends with its task", async () => {
        const found = await of("questionAnswered");
        return found.length === 0 ? undefined : found;
      });
      deepEqual(closed.map(({ state }) => state), ["lapsed"]);
      const [question, ...more] = await of("questionAsked");
      deepEqual([question?.["tool"], question?.["colour"], more], ["file_write", "RED", []]);
      deepEqual(await asked(), [], "nobody is asked for a task that has ended");
      equal(await Deno.readTextFile(`${siege.desk}/notes/plan.md`), `${SECRET}\n`);
    });

    await t.step("three children would make three times as many calls", async () => {
      const { last } = await ended(siege, (await send(siege, "SPEND")).id);
      match(words(last), /^withheld: internal/, "names of files are internal");
      const { answer } = Object(await siege.ask("task", { task: last.task }));
      equal(Number(answer), CALLS, "of all of them together");
    });

    for (
      const [word, claim] of [
        ["LAUNDER", "what a child read would be told by its parent as words of nobody"],
        ["TELL", "what a child read it would tell her itself, in every way there is"],
      ] as const
    ) {
      await t.step(claim, async () => {
        const { last, all } = await ended(siege, (await send(siege, word)).id);
        match(words(last), /^withheld: internal/);
        ok(!all.includes(SECRET) && !JSON.stringify(last).includes(SECRET));
      });
    }

    await t.step(
      "children that never end would outlive the task, whether she cancels or leaves",
      async () => {
        const { id } = await send(siege, "HOLD");
        const rows = await waitUntil("the children", async () => {
          const found = await ps();
          return found.length === 3 && found.every(({ os }) => Object(os).length > 0)
            ? found
            : undefined;
        });
        deepEqual(
          rows.map(({ colour, label }) => `${colour} ${label}`),
          Array(3).fill("RED public"),
        );
        const pids = rows.flatMap(({ os }) => os as readonly number[]);
        ok(pids.every(runs), "they are processes of this machine");
        await siege.ask("peerCancel", { peer: "mallory", exchange: id });
        equal((await ended(siege, id)).last.state, "canceled");
        await gone(pids);
        const left = await ended(siege, (await send(siege, "LEAVE")).id);
        equal(words(left.last), '"left"');
        deepEqual(await ps(), []);
      },
    );
  });
});
