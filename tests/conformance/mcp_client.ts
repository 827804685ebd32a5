/**
 * What the official conformance suite of MCP starts as the client: the real bridge process, and a relay that plays the
 * kernel, the command line's OAuth and the person.
 *
 *     deno run -A npm:@modelcontextprotocol/conformance@0.2.0-alpha.11 client \\
 *       --command "deno run -A tests/conformance/mcp_client.ts" --requirements 2025-11-25
 *
 * @module
 */
import type { McpElicit, McpElicited } from "../../contracts/wire/wire_mcp.ts";
import type { McpToolWords } from "../../contracts/exchange/mcp.ts";
import { type BridgeProcess, startBridge } from "../../bridges/mcp/_fixture/bridge_process.ts";

type Schema = Readonly<Record<string, unknown>>;

const scenario = Deno.env.get("MCP_CONFORMANCE_SCENARIO") ?? "";
const context = JSON.parse(Deno.env.get("MCP_CONFORMANCE_CONTEXT") ?? "{}") as {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: Schema }[];
  readonly client_id?: string;
  readonly client_secret?: string;
};
const url = Deno.args.at(-1) ?? "";
/** The suite names the revision that it wants only where a scenario has two. */
const old = (Deno.env.get("MCP_CONFORMANCE_PROTOCOL_VERSION") ?? "2026").startsWith("2025");

function say(...words: readonly unknown[]): void {
  const text = words.map((each) => typeof each === "string" ? each : JSON.stringify(each)).join(
    " ",
  );
  Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
}

/** The person accepts every form, and leaves what has a default as it stands. */
function person({ schema }: McpElicit): McpElicited {
  const { properties = {} } = JSON.parse(schema ?? "{}") as {
    properties?: Record<string, Schema>;
  };
  const content = Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [name, field["default"] ?? sample(field)]),
  );
  return { action: "accept", content: JSON.stringify(content) };
}

function sample(schema: Schema): unknown {
  if (Array.isArray(schema["enum"])) return schema["enum"][0];
  switch (schema["type"]) {
    case "number":
    case "integer":
      return 3;
    case "boolean":
      return true;
    case "array":
      return [];
    case "object":
      return {};
    default:
      return "text";
  }
}

function argumentsOf({ inputSchema }: McpToolWords): Schema {
  const properties = (inputSchema["properties"] ?? {}) as Readonly<Record<string, Schema>>;
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, sample(schema)]),
  );
}

/** Uses everything that the server offers. */
async function useAll(bridge: BridgeProcess): Promise<void> {
  const first = await bridge.words();
  // As a person would who reads what is missing.
  const words = await logins?.stepUp() ? await bridge.words() : first;
  const focal = words.tools.find(({ name }) => name === "json_schema_2020_12_tool");
  const calls = context.toolCalls ?? words.tools.map((tool) => ({
    name: tool.name,
    arguments: tool.name === "json_schema_echo" && focal !== undefined
      ? { schema: focal.inputSchema }
      : argumentsOf(tool),
  }));
  for (const call of calls) {
    const use = () => bridge.call(call.name, call.arguments).catch((error: Error) => error.message);
    let said = await use();
    if (await logins?.stepUp()) said = await use();
    say(call.name, JSON.stringify(said));
  }
  const deadlineMs = 10_000;
  for (const [index, { uri }] of words.resources.entries()) {
    await bridge.ask("read", { id: `r${index}`, uri, deadlineMs }).catch(() => undefined);
  }
  for (const [index, { name, arguments: named }] of words.prompts.entries()) {
    const args = Object.fromEntries(named.map((argument) => [argument.name, "text"]));
    await bridge.ask("prompt", { id: `p${index}`, name, args, deadlineMs }).catch(() => undefined);
  }
  say(words.left, bridge.odd());
}

const { client_id: id, client_secret: secret } = context;
const logins = scenario.startsWith("auth/")
  // The others start faster without it.
  ? await (await import("./_oauth.ts")).makeLogins(url, {
    ...(id === undefined ? {} : { id }),
    ...(secret === undefined ? {} : { secret }),
  })
  : undefined;
/** Built once for all scenarios, which the suite starts at the same time. */
const program = Deno.env.get("REMIT_BRIDGE_PROGRAM");
const start = () =>
  startBridge({ url }, {
    elicit: person,
    ...(logins === undefined ? {} : { headers: logins.headers, onHttpAnswer: logins.hear }),
  }, program === undefined ? {} : { program });
/** Opens a bridge and uses it; tells why it did not open. */
async function used(): Promise<unknown> {
  await using bridge = await start();
  try {
    say(scenario, await bridge.open(old ? { old } : {}));
  } catch (error) {
    return error;
  }
  await useAll(bridge);
  await bridge.ask("close", null);
}
const refused = await used();
if (refused !== undefined && (await logins?.stepUp() !== true || await used() !== undefined)) {
  throw refused;
}
