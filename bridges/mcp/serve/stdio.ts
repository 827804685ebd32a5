/** Serves one host over its pipe. @module */
import type { Server } from "@modelcontextprotocol/server";
import { serveStdio, type StdioServerHandle } from "@modelcontextprotocol/server/stdio";
import { makeTextTransport } from "./text_transport.ts";

/** A host that is served. */
export interface StdioHost {
  /** Takes a piece of what the host wrote. */
  feed(text: string): void;
  close(): Promise<void>;
}

/** What a host is served with. */
export interface StdioParts {
  /** Makes the server of one connection, not connected yet. */
  makeServer(): Server;
  /** Takes whole lines to the host. */
  write(text: string): void;
  /** The connection is over. */
  onEnd(): void;
  /** What went wrong beside the protocol, for the operator's log. */
  note(text: string): void;
}

/** Serves it: the SDK's entry chooses the revision by the host's first words. */
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
