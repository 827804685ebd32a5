/** What attacks on the MCP server's gateway share: a folder that is served, and requests that no client makes. @module */
import { onMachine } from "../fake/remit.ts";
import type { Service } from "../fake/service.ts";
import { atAddress, tokenOf } from "./_served.ts";

/** The request that opens a session. */
export const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "mallory", version: "1" },
  },
};

/** What every test has: a folder that is served, alice's token and mallory's. */
export async function served(
  f: (at: {
    readonly served: Service;
    readonly alice: string;
    readonly mallory: string;
    readonly machine: Parameters<Parameters<typeof onMachine>[0]>[0];
  }) => Promise<void>,
): Promise<void> {
  await onMachine(async (machine) => {
    await machine.write("notes/plan.md", "call the supplier\n");
    const alice = await tokenOf(machine, "guest", "alice");
    const mallory = await tokenOf(machine, "anonymous", "mallory");
    const at = await atAddress(machine, ["--mount", `notes=${machine.dir}/notes`]);
    try {
      await f({ served: at, alice, mallory, machine });
    } finally {
      at.kill("SIGTERM");
      await at.ended;
    }
  });
}

/** Posts a message as a client does, with more headers. */
export function post(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  return fetch(url, {
    method: "POST",
    body: typeof body === "string" ? body : JSON.stringify(body),
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
  });
}

/** The header that shows a token. */
export const bearer = (token: string): Record<string, string> => ({
  authorization: `Bearer ${token}`,
});

/** The head of the answer to raw bytes: what no fetch would send. */
export async function raw(
  url: string,
  text: string,
  more?: ReadableStream<Uint8Array>,
): Promise<string> {
  const { hostname, port } = new URL(url);
  using conn = await Deno.connect({ hostname, port: Number(port) });
  const write = async (bytes: Uint8Array): Promise<void> => {
    for (let at = 0; at < bytes.length;) at += await conn.write(bytes.subarray(at));
  };
  await write(new TextEncoder().encode(text));
  try {
    for await (const chunk of more ?? []) await write(chunk);
  } catch (error) {
    // It was refused before its end.
    if (
      !(error instanceof Deno.errors.BrokenPipe || error instanceof Deno.errors.ConnectionReset)
    ) {
      throw error;
    }
  }
  const bytes = new Uint8Array(65_536);
  const length = await conn.read(bytes) ?? 0;
  return new TextDecoder().decode(bytes.subarray(0, length));
}
