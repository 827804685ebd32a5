/** The official SDK's client without anything around it: the baseline of rows about imported servers. @module */
import {
  Client,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

/** A client with its server. */
export interface BareClient extends AsyncDisposable {
  /** Of a server that it started. */
  readonly pid: number | undefined;
  list(): Promise<void>;
  /** Throws unless the tool succeeds; resolves with the first text of the result. */
  call(tool: string, args: Record<string, unknown>): Promise<string>;
}

/** Starts a server with all rights of this process, and shakes hands. */
export async function bareStdio(line: readonly string[]): Promise<BareClient> {
  const [command = "", ...args] = line;
  const transport = new StdioClientTransport({ command, args, stderr: "ignore" });
  return await connected(transport, () => transport.pid ?? undefined);
}

/** Shakes hands with a server at a URL. */
export async function bareHttp(url: string): Promise<BareClient> {
  return await connected(new StreamableHTTPClientTransport(new URL(url)), () => undefined);
}

async function connected(
  transport: Transport,
  pid: () => number | undefined,
): Promise<BareClient> {
  const client = new Client({ name: "bench", version: "1.0.0" }, {
    versionNegotiation: { mode: "auto" },
  });
  await client.connect(transport);
  return {
    pid: pid(),
    list: async () => void await client.listTools(),
    async call(name, args): Promise<string> {
      const { content, isError } = await client.callTool({ name, arguments: args });
      const [part] = content;
      if (isError === true) throw new Error(`Cannot call ${name}: ${JSON.stringify(part)}`);
      return part?.type === "text" ? part.text : "";
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}
