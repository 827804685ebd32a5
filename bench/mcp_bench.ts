/**
 * One gated call of an imported tool, as its agent sees it (worker, gate, commit, bridge, server, and back), against the
 * official SDK's client on the same server, started bare.
 * @module
 */
import { httpEcho } from "../bridges/mcp/_fixture/servers.ts";
import type { ImportedServer } from "../contracts/exchange/mod.ts";
import { type BareClient, bareHttp, bareStdio } from "./mcp/bare.ts";
import { floorStdio } from "./mcp/floor.ts";
import { ratioRow, toldRow } from "./mcp/rows.ts";
import { bundled, npmServer, ownServer } from "./mcp/trees.ts";
import { makeMcpBench, type McpBench } from "./mcp/world.ts";
import type { Row } from "./row.ts";
import { timed } from "./world.ts";

const ROUNDS = 5;
const WARM = 40;
const COUNT = 80;
const MAX = 1.3;
const FLOOR = "the same processes and one commit with nothing decided (decision 0022)";

/** What is called, on both sides. */
interface Called {
  readonly tool: string;
  readonly args: Record<string, unknown>;
}

/** Rows for `deno task bench`. */
export async function mcpCallBench(): Promise<Row[]> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "bench-mcp-" }));
  await Deno.writeTextFile(`${folder}/a.txt`, "one line of text\n".repeat(40));
  await using bench = await makeMcpBench();
  try {
    return [
      ...await stdioEcho(bench),
      await everything(bench),
      await filesystem(bench, folder),
      await overHttp(bench),
    ];
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function stdioEcho(bench: McpBench): Promise<Row[]> {
  const { launch, bare } = await ownServer("echo", await bundled("bridges/mcp/_fixture/echo.ts"));
  const server = await bench.import("echo", launch);
  await using client = await bareStdio(bare);
  const called = { tool: "echo", args: { text: "hello" } };
  await using floor = await floorStdio(bare);
  return [
    await compared("stdio, echo", { bench, server, client, called }),
    await compared("stdio, echo", { bench, server, client: floor, called }, true),
  ];
}

async function everything(bench: McpBench): Promise<Row> {
  const { launch, bare } = await npmServer(
    "@modelcontextprotocol/server-everything",
    "mcp-server-everything",
  );
  const server = await bench.import("everything", launch);
  await using client = await bareStdio(bare);
  const called = { tool: "echo", args: { message: "hello" } };
  return await compared("stdio, server-everything's echo", { bench, server, client, called });
}

async function filesystem(bench: McpBench, folder: string): Promise<Row> {
  const { launch, bare } = await npmServer(
    "@modelcontextprotocol/server-filesystem",
    "mcp-server-filesystem",
  );
  const server = await bench.import("files", { ...launch, args: [folder] }, { read: [folder] });
  await using client = await bareStdio([...bare, folder]);
  const called = { tool: "read_text_file", args: { path: `${folder}/a.txt` } };
  return await compared("stdio, server-filesystem's read_text_file, permissions live", {
    ...{ bench, server, client, called },
  });
}

async function overHttp(bench: McpBench): Promise<Row> {
  await using running = await httpEcho(false);
  if (!("url" in running.server)) throw new TypeError("Cannot bench: the server has no URL");
  const { url } = running.server;
  const server = await bench.import("remote", { kind: "http", url });
  await using client = await bareHttp(url);
  const called = { tool: "echo", args: { text: "hello" } };
  return await compared("HTTP, echo", { bench, server, client, called });
}

async function compared(
  what: string,
  { bench, server, client, called: { tool, args } }: {
    readonly bench: McpBench;
    readonly server: ImportedServer;
    readonly client: Pick<BareClient, "call">;
    readonly called: Called;
  },
  floor = false,
): Promise<Row> {
  const ours: number[] = [], bare: number[] = [];
  const chain = { tool: `mcp_${server.name}_${tool}`, args };
  for (let i = 0; i < WARM; i++) await client.call(tool, args);
  // In turns, so that both meet the same machine.
  for (let round = 0; round < ROUNDS; round++) {
    for (let i = 0; i < COUNT; i++) bare.push(await timed(() => client.call(tool, args)));
    const { took } = await bench.run([server], { chains: [chain], warm: WARM, count: COUNT });
    ours.push(...took.flat());
  }
  const name = `imported tool, a gated call over ${what}, against`;
  return floor
    ? toldRow(`${name} ${FLOOR}`, "ms", { ours, bare })
    : ratioRow(`${name} the bare SDK`, "ms", { ours, bare }, MAX);
}
