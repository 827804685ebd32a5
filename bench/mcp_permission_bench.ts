/** What a permission costs that is decided live, against the same access under flags. @module */
import { bareStdio } from "./mcp/bare.ts";
import { toldRow } from "./mcp/rows.ts";
import { ownServer } from "./mcp/trees.ts";
import { makeMcpBench } from "./mcp/world.ts";
import type { Row } from "./row.ts";

const TIMES = 2_000;
const ROUNDS = 5;

/** A stdio server without a package: `look` asks for the same file `times` times, and says how many microseconds each took. */
const LOOKING = `
const enc = new TextEncoder(), dec = new TextDecoder();
const say = (o) => Deno.stdout.writeSync(enc.encode(JSON.stringify({ jsonrpc: "2.0", ...o }) + "\\n"));
const inputSchema = { type: "object", properties: { path: { type: "string" }, times: { type: "integer" } } };
const annotations = { readOnlyHint: true };
const tools = [{ name: "look", description: "Looks.", inputSchema, annotations }];
const look = ({ path, times }) => {
  const from = performance.now();
  for (let i = 0; i < times; i++) Deno.statSync(path);
  return String((performance.now() - from) / times * 1000);
};
const serve = ({ id, method, params }) => {
  if (id === undefined) return;
  if (method === "initialize") {
    return say({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "looking", version: "1.0.0" } } });
  }
  if (method === "tools/list") return say({ id, result: { tools } });
  if (method !== "tools/call") return say({ id, error: { code: -32601, message: "no" } });
  try {
    say({ id, result: { content: [{ type: "text", text: look(params.arguments) }] } });
  } catch (error) {
    say({ id, result: { isError: true, content: [{ type: "text", text: String(error) }] } });
  }
};
let rest = "";
const chunk = new Uint8Array(65536);
for (;;) {
  const n = await Deno.stdin.read(chunk);
  if (n === null) Deno.exit(0);
  rest += dec.decode(chunk.subarray(0, n), { stream: true });
  for (let i; (i = rest.indexOf("\\n")) >= 0;) {
    const line = rest.slice(0, i);
    rest = rest.slice(i + 1);
    serve(JSON.parse(line));
  }
}
`;

/** Rows for `deno task bench`. */
export async function mcpPermissionBench(): Promise<Row[]> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "bench-mcp-" }));
  const path = `${folder}/a.txt`;
  await Deno.writeTextFile(path, "one line of text\n");
  const { launch, bare } = await ownServer("looking", LOOKING);
  const flags = bare.map((word) => word === "-A" ? `--allow-read=${folder}` : word);
  await using bench = await makeMcpBench();
  await using client = await bareStdio(flags);
  const args = { path, times: TIMES };
  try {
    const server = await bench.import("looking", launch, { read: [folder] });
    const plan = { chains: [{ tool: "mcp_looking_look", args }], warm: 1, count: 1 };
    const live: number[] = [], held: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      held.push(Number(await client.call("look", args)));
      live.push(Number((await bench.run([server], plan)).said[0]));
    }
    return [
      toldRow("imported server, a stat whose permission is decided live, against flags", "µs", {
        ...{ ours: live, bare: held },
      }),
    ];
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
