/** Colour × label × clearance of a sink, in a whole kernel with real requests. */
import assert from "node:assert/strict";
import { Colour, EffectClass, Label } from "../../../contracts/authority/mod.ts";
import { NO_POLICY, type PlacedRule } from "../../../contracts/policy/mod.ts";
import { besiege, type Siege } from "../../fake/siege.ts";
import { calling } from "../_calls.ts";

/** A sink of this clearance on this machine, and the requests that reached it. */
interface Sink {
  readonly clearance: Label;
  readonly origin: string;
  readonly seen: string[];
}

async function withSinks(f: (sinks: readonly Sink[]) => Promise<void>): Promise<void> {
  const servers = Label.options.map((clearance) => {
    const seen: string[] = [];
    const server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => undefined },
      (request) => {
        seen.push(request.method);
        return new Response("thanks");
      },
    );
    return { server, sink: { clearance, origin: `http://127.0.0.1:${server.addr.port}`, seen } };
  });
  try {
    await f(servers.map(({ sink }) => sink));
  } finally {
    await Promise.all(servers.map(({ server }) => server.shutdown()));
  }
}

type Ruling = "ok" | "consent" | "stepUp" | "forbidden";

/** The table, written down a second time. */
function expected(
  { colour, label, clearance, method }: {
    readonly colour: Colour;
    readonly label: Label;
    readonly clearance: Label;
    readonly method: string;
  },
): Ruling {
  const order: readonly Label[] = ["public", "internal", "secret"];
  if (order.indexOf(label) > order.indexOf(clearance)) {
    return colour === "RED" ? "forbidden" : colour === "YELLOW" ? "stepUp" : "consent";
  }
  const trusted = method === "GET" ? colour !== "RED" : colour === "BLUE";
  return trusted ? "ok" : "consent";
}

/** What became of reading a file of this colour and label and then sending. */
async function came(
  siege: Siege,
  { colour, label, origin, method }: {
    readonly colour: Colour;
    readonly label: Label;
    readonly origin: string;
    readonly method: string;
  },
): Promise<Ruling> {
  const send = method === "GET"
    ? { url: `${origin}/?q=note` }
    : { url: `${origin}/`, method, body: "note" };
  const task = await siege.run({
    program: calling([["file_read", { path: "desk/notes/plan.md" }], ["http_fetch", send]]),
    mounts: [siege.mount({ colour, label })],
  });
  await task.end;
  const log = await siege.ask("log", { task: task.id, from: 0 }) as {
    event: string;
    body: Record<string, unknown>;
  }[];
  const asked = log.find(({ event }) => event === "questionAsked");
  if (asked !== undefined) return asked.body["kind"] === "stepUp" ? "stepUp" : "consent";
  const outcomes = log.filter(({ event }) => event === "outcome" || event === "refused");
  assert.equal(outcomes.length, 2, JSON.stringify(outcomes));
  return outcomes[1]?.event === "refused" ? "forbidden" : "ok";
}

Deno.test("what a process read decides what it may send where, in every combination", async () => {
  await withSinks(async (sinks) => {
    const rule: PlacedRule = {
      effect: EffectClass.options.filter((effect) => effect.startsWith("outbound")),
      destination: sinks.map(({ origin }) => origin),
      mode: "auto",
      at: "remit.yaml:1",
    };
    const clearance = Object.fromEntries(
      sinks.map(({ origin, clearance }) => [origin, clearance]),
    );
    const policy = { ...NO_POLICY, rules: [rule], clearance };
    await besiege(async (siege) => {
      for (const sink of sinks) {
        let sent = 0;
        for (const colour of Colour.options) {
          for (const label of Label.options) {
            for (const method of ["GET", "POST"]) {
              const of = { colour, label, method, clearance: sink.clearance };
              const wanted = expected(of);
              assert.equal(
                await came(siege, { ...of, origin: sink.origin }),
                wanted,
                JSON.stringify(of),
              );
              if (wanted === "ok") sent += 1;
            }
          }
        }
        // Nothing that was asked about or refused has left.
        assert.equal(sink.seen.length, sent, sink.clearance);
      }
    }, { config: { policy } });
  });
});
