/**
 * From nothing to a server's first answer: its tree checked, its walls, its bridge, the handshake, all that it says of
 * itself held against the review, one call; against the bare start of the same server with the SDK's client, which lists
 * the tools and makes the same call.
 * @module
 */
import type { ImportedServer } from "../contracts/exchange/mod.ts";
import { bareStdio } from "./mcp/bare.ts";
import { ratioRow, toldRow } from "./mcp/rows.ts";
import { npmServer } from "./mcp/trees.ts";
import { makeMcpBench, type McpBench } from "./mcp/world.ts";
import type { Row } from "./row.ts";
import { timed } from "./world.ts";

const ROUNDS = 9;

/** Rows for `deno task bench`. */
export async function mcpStartBench(): Promise<Row[]> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "bench-mcp-" }));
  await using bench = await makeMcpBench();
  try {
    const { launch, bare } = await npmServer(
      "@modelcontextprotocol/server-filesystem",
      "mcp-server-filesystem",
    );
    const server = await bench.import("files", { ...launch, args: [folder] }, { read: [folder] });
    const chain = { tool: "mcp_files_list_allowed_directories", args: {} };
    const start = () => firstCall(bench, server, chain);
    const cold = await start();
    const ours: number[] = [], theirs: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      theirs.push(await timed(() => bareStart([...bare, folder])));
      ours.push(await start());
    }
    return [
      ratioRow(
        "imported server-filesystem, start to its first answer, against a bare start",
        "ms",
        { ours, bare: theirs },
        1.3,
      ),
      toldRow("the same, the first of a kernel: all files of its tree are read", "ms", {
        ...{ ours: [cold], bare: theirs },
      }),
    ];
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function firstCall(
  bench: McpBench,
  server: ImportedServer,
  chain: { readonly tool: string; readonly args: object },
): Promise<number> {
  const { first } = await bench.run([server], { chains: [chain], warm: 1, count: 0 });
  return first[0] ?? NaN;
}

async function bareStart(line: readonly string[]): Promise<void> {
  await using client = await bareStdio(line);
  await client.list();
  await client.call("list_allowed_directories", {});
}
