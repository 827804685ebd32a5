/** A server with one of everything, over stdio. With the argument `old` it speaks only 2025-11-25. @module */
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { makeEcho } from "./echo_server.ts";

if (Deno.args[0] === "old") await makeEcho().connect(new StdioServerTransport());
else serveStdio(makeEcho);
