/** `remit mcp login`, as help and parsing read it. @module */
import { type CommandSpec, simple } from "../../arguments/command_spec.ts";

/** Its row. */
export const MCP_LOGIN: CommandSpec = simple(
  "mcp login",
  "NAME",
  [1, 1],
  "log in at a server at a URL, with your browser; its tokens are kept as secrets",
  [
    "remit mcp login tickets",
    `remit mcp login tickets --scope "tickets:read"`,
    "remit mcp login tickets --client-id 0oa1b2c3 --port 8765",
  ],
  [
    { name: "scope", value: "SCOPES", help: "ask for these, separated by spaces, and no others" },
    { name: "issuer", value: "URL", help: "which authorization server, where it names several" },
    { name: "client-id", value: "ID", help: "the id of an app that you registered there" },
    { name: "client-secret", help: "that app has a secret: it is typed, or piped in" },
    { name: "client-document", value: "URL", help: "the address of a description of the app" },
    { name: "port", value: "N", help: "the port on 127.0.0.1 that the browser is sent back to" },
    { name: "yes", short: "y", help: "go on without being asked; what it asks for is still shown" },
  ],
);
