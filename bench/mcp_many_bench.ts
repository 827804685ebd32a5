/** Twenty imported servers at once: their calls, and the memory of each with its bridge. @module */
import { type BareClient, bareStdio } from "./mcp/bare.ts";
import { ratioRow, toldRow } from "./mcp/rows.ts";
import { npmServer } from "./mcp/trees.ts";
import { type Chain, makeMcpBench } from "./mcp/world.ts";
import { type Memory, memoryOf } from "./_memory.ts";
import type { Row } from "./row.ts";
import { timed } from "./world.ts";

const SERVERS = 20;
const CALLS = 50;
const ROUNDS = 3;
const ARGS = { message: "hello" };

/** Rows for `deno task bench`. */
export async function mcpManyBench(): Promise<Row[]> {
  const { launch, bare } = await npmServer(
    "@modelcontextprotocol/server-everything",
    "mcp-server-everything",
  );
  await using bench = await makeMcpBench();
  const names = Array.from({ length: SERVERS }, (_, n) => `s${n}`);
  const servers = await bench.importAs(names, launch);
  const chains: Chain[] = servers.map(({ name }) => ({ tool: `mcp_${name}_echo`, args: ARGS }));

  const starts: number[] = [];
  await using all = new AsyncDisposableStack();
  const clients: BareClient[] = [];
  starts.push(
    await timed(async () => {
      clients.push(...await Promise.all(servers.map(() => bareStdio(bare))));
      await Promise.all(clients.map((client) => client.call("echo", ARGS)));
    }),
  );
  for (const client of clients) all.use(client);

  const ours: number[] = [], theirs: number[] = [], ourStarts: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    theirs.push(await timed(() => Promise.all(clients.map(chainOf))));
    const { wall, first } = await bench.run(servers, { chains, warm: 5, count: CALLS });
    ours.push(wall);
    ourStarts.push(Math.max(...first));
  }
  const bareMemory: Memory[] = [];
  for (const { pid } of clients) if (pid !== undefined) bareMemory.push(await memoryOf([pid]));
  await all.disposeAsync();
  const [hosted, bridges] = await bench.staying(servers, chains, async (pids) => [
    await memoryOf(pids.filter((_, n) => n % 2 === 0)),
    await memoryOf(pids.filter((_, n) => n % 2 === 1)),
  ]);
  const pss = bareMemory.reduce((sum, each) => sum + each.pss, 0) / bareMemory.length;
  return [
    ratioRow(
      `imported servers, ${SERVERS} of them with ${CALLS} calls each, all at once, against bare clients`,
      "ms",
      { ours, bare: theirs },
      1.3,
    ),
    toldRow(`imported servers, ${SERVERS} started at once, to the first answer of the last`, "ms", {
      ...{ ours: ourStarts, bare: starts },
    }),
    toldRow(`imported server-everything, proportional memory among ${SERVERS}`, "MB", {
      ...{ ours: [hosted.pss / SERVERS], bare: [pss] },
    }),
    toldRow(`the same with its bridge`, "MB", {
      ...{ ours: [(hosted.pss + bridges.pss) / SERVERS], bare: [pss] },
    }),
  ];
}

async function chainOf(client: BareClient): Promise<void> {
  for (let i = 0; i < CALLS; i++) await client.call("echo", ARGS);
}
