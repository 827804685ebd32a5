/**
 * mallory's server was granted one host, and alice gave it so many bytes a day. It sends in small pieces over many
 * connections, is killed in between, and so is the kernel: what arrives stays within alice's budget.
 */
import assert from "node:assert/strict";
import { Question } from "../../../contracts/authority/mod.ts";
import { NO_POLICY } from "../../../contracts/policy/mod.ts";
import { type McpSiege, withMcp } from "../../fake/mcp_siege.ts";
import { EVAL_SERVER } from "../../../kernel/_fixture/mcp_world.ts";
import { calling, cameOf } from "../_calls.ts";
import { attack, noServerLeft } from "../_mcp.ts";

const BUDGET = 30_000;

/** What of a request's body arrived at mallory's. */
function startMallory() {
  let bytes = 0, requests = 0;
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => undefined },
    async (request) => {
      requests += 1;
      bytes += (await request.bytes()).length + request.url.length;
      return new Response("thanks");
    },
  );
  return {
    host: `127.0.0.1:${server.addr.port}`,
    bytes: () => bytes,
    requests: () => requests,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Sends `piece` bytes at a time, `most` times or until it is refused. Says how often it got through. */
function sending(host: string, piece: number, most: number): string {
  return `let through = 0, why = "";
for (; through < ${most}; through++) {
  const answer = await fetch("http://${host}/", { method: "POST", body: "s".repeat(${piece}) })
    .catch((error) => ({ ok: false, text: () => String(error) }));
  if (!answer.ok) { why = await answer.text(); break; }
}
return through + " " + why;`;
}

async function counted(siege: McpSiege): Promise<number> {
  const [standing] = await siege.ask("budgets", null) as { spent: number; of: string }[];
  assert.equal(standing?.of, "egressBytes");
  return standing.spent;
}

attack(
  "mallory's server sends in small pieces, is killed, and so is the kernel: its bytes of the day stay alice's budget",
  async () => {
    await using mallory = startMallory();
    await withMcp(async (siege) => {
      const server = await siege.server(EVAL_SERVER, { grants: { net: [mallory.host] } });
      const send = async (piece: number, most: number): Promise<string> => {
        const code = sending(mallory.host, piece, most);
        const program = calling([["mcp_hostile_look", { code }]]);
        const task = await siege.run({ program, mcp: [server], limits: {} });
        await task.end;
        // Alice lets it call its host.
        const [question] = Question.array().parse(await siege.ask("questions", { task: task.id }));
        if (question !== undefined) await siege.answer(question.id, "allow");
        const [came] = await cameOf(question === undefined ? task : await siege.watch(task.id));
        assert.ok(came !== undefined);
        return `${came.outcome} ${came.content} ${came.error ?? ""}`;
      };
      const through = await send(100, 5);
      assert.equal(mallory.requests(), 5, through);
      const first = await counted(siege);
      assert.ok(first >= mallory.bytes(), `${first} counted of ${mallory.bytes()}`);
      assert.ok(first <= 2 * 5 * (256 + 600) + 4_096, `${first} counted`);
      // Its own end frees nothing that was counted, and no server is given a budget of its own.
      await siege.restart();
      assert.equal(await counted(siege), first);
      assert.match(await send(100, 10_000), /the budget of 30 kB of egress a day is used up/);
      const spent = await counted(siege);
      assert.ok(spent <= BUDGET, `${spent} counted`);
      assert.ok(mallory.bytes() <= BUDGET, `${mallory.bytes()} arrived`);
      assert.ok(BUDGET - spent < 1_000, `${BUDGET - spent} were left and not given`);
      const before = mallory.requests();
      await send(1, 50);
      await siege.restart();
      await send(1, 50);
      assert.ok(mallory.requests() - before <= 2, "nothing more arrives");
      await noServerLeft(siege.pid);
    }, { policy: { ...NO_POLICY, budgets: [{ per: "day", egressBytes: BUDGET }] } });
  },
);
