/** Serves one host over its pipe. Wired in service/gateway/main.ts. @module */
import {
  type JSONRPCMessage,
  parseJSONRPCMessage,
  serializeMessage,
  type Server,
  type Transport,
} from "@modelcontextprotocol/server";
import { serveStdio, type StdioServerHandle } from "@modelcontextprotocol/server/stdio";

interface StdioHost {
  /** Takes a piece of the host's output. */
  feed(text: string): void;
  close(): Promise<void>;
}

interface StdioParts {
  /** Makes the unconnected server of a connection. */
  makeServer(): Server;
  /** Writes whole lines to the host. */
  write(text: string): void;
  /** Called when the connection is over. */
  onEnd(): void;
  /** Notes an error for the operator's log. */
  note(text: string): void;
}

/** Serves a host; the SDK chooses the revision by the host's first message. */
export function serveOverStdio(parts: StdioParts): StdioHost {
  const transport = makeTextTransport(parts.write);
  const handle: StdioServerHandle = serveStdio(() => parts.makeServer(), {
    transport,
    onerror: (error) => parts.note(error.message),
  });
  return Object.freeze<StdioHost>({
    feed: (text) => transport.feed(text),
    async close(): Promise<void> {
      await handle.close();
      parts.onEnd();
    },
  });
}

/** UTF-16 units of a host's line, at most. */
export const MAX_LINE = 4 * 1_048_576;

/** A transport of JSON lines over a pipe that the caller holds. */
interface TextTransport extends Transport {
  /** Takes a piece of the host's output. */
  feed(text: string): void;
  /** Ends the transport: the host is gone. */
  end(): void;
}

/** Makes a transport; `write` takes whole lines. A line that is no message goes to `onerror`. */
export function makeTextTransport(write: (text: string) => void): TextTransport {
  let rest = "";
  let open = true;
  const transport: TextTransport = {
    start: () => Promise.resolve(),
    send(message: JSONRPCMessage): Promise<void> {
      if (open) write(serializeMessage(message));
      return Promise.resolve();
    },
    close(): Promise<void> {
      transport.end();
      return Promise.resolve();
    },
    end(): void {
      if (!open) return;
      open = false;
      transport.onclose?.();
    },
    feed(text: string): void {
      if (!open) return;
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) take(line);
      if (rest.length <= MAX_LINE) return;
      transport.onerror?.(
        new Error(`Cannot read a message: it is longer than ${MAX_LINE} characters`),
      );
      transport.end();
    },
  };
  const take = (line: string): void => {
    if (line.trim() === "") return;
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(JSON.parse(line));
    } catch (error) {
      transport.onerror?.(error instanceof Error ? error : new Error("Cannot read a message"));
      // The id of a request that does not parse is unknown: answer without one.
      write(`${PARSE_ERROR}\n`);
      return;
    }
    transport.onmessage?.(message);
  };
  return transport;
}

const PARSE_ERROR = JSON.stringify({
  jsonrpc: "2.0",
  id: null,
  error: { code: -32_700, message: "Parse error" },
});
