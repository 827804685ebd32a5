/** Remit as an MCP server on a person's machine, over a pipe and at an address, with real processes. */
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Machine } from "../fake/remit.ts";
import { type Service, startServing } from "../fake/service.ts";

/** What a client is made with. */
export interface ClientWish {
  /** `auto` speaks 2026-07-28, `legacy` 2025-11-25. */
  readonly mode?: "auto" | "legacy";
  /** What the host's person says to a form; absent: the host has no forms. */
  readonly answer?: (
    message: string,
  ) => "accept" | "decline" | "cancel" | { readonly allow: boolean };
}

function client({ mode = "legacy", answer }: ClientWish): Client {
  const made = new Client({ name: "test", version: "1" }, {
    versionNegotiation: { mode },
    capabilities: answer === undefined ? {} : { elicitation: { form: {} } },
  });
  if (answer !== undefined) {
    made.setRequestHandler("elicitation/create", ({ params }) => {
      const said = answer(params.message);
      return typeof said === "string"
        ? { action: said, ...(said === "accept" ? { content: { allow: true } } : {}) }
        : { action: "accept" as const, content: { ...said } };
    });
  }
  return made;
}

/** Starts `remit mcp serve` as a host does, and connects. `close` ends it. */
export async function overPipe(
  machine: Machine,
  args: readonly string[],
  wish: ClientWish = {},
): Promise<Client> {
  const [command = "", ...words] = machine.command(["mcp", "serve", ...args]);
  const made = client(wish);
  const transport = new StdioClientTransport({
    command,
    args: words,
    env: { ...machine.env },
    cwd: machine.dir,
    stderr: "pipe",
  });
  await made.connect(transport, { timeout: 600_000 });
  return made;
}

/** Starts `remit mcp serve --http` on a free port. */
export function atAddress(machine: Machine, args: readonly string[]): Promise<Service> {
  return startServing(machine, ["mcp", "serve", "--http", "0", ...args]);
}

export async function tokenOf(
  machine: Machine,
  profile = "guest",
  name = profile,
): Promise<string> {
  const made = await machine.json(["mcp", "token", "create", "--profile", profile, "--name", name]);
  return String(Object(made).token);
}

/** Connects to an address with a token. */
export async function connect(
  { url }: Pick<Service, "url">,
  token: string,
  wish: ClientWish = {},
): Promise<{ readonly client: Client; readonly transport: StreamableHTTPClientTransport }> {
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  const made = client(wish);
  await made.connect(transport, { timeout: 600_000 });
  return { client: made, transport };
}

/** Text of a result. */
export function textOf(result: { readonly content?: unknown }): string {
  const parts: unknown = result.content;
  return Array.isArray(parts)
    ? parts.map((each) => String(Object(each).text ?? "")).join("\n")
    : "";
}
