/** The commands of the service, as help and parsing read them. @module */
import {
  type CommandSpec,
  type FlagSpec,
  MODEL,
  MOUNT,
  simple,
} from "../arguments/command_spec.ts";

/** Where it serves, where nobody says. */
export const SERVE_AT = "127.0.0.1:7433";

const NAME: FlagSpec = { name: "name", value: "NAME", help: "with create: how you call it" };

/** `serve`, `serve login`, `a2a token`. */
export const SERVICE_COMMANDS: readonly CommandSpec[] = [
  simple(
    "serve",
    "[HOST:PORT]",
    [0, 1],
    "be a service: A2A peers, MCP hosts, webhooks, schedules, the page",
    ["remit serve", "remit serve 127.0.0.1:7433 --json"],
    [
      MOUNT,
      MODEL,
      { name: "once-ready", help: "end as soon as it is ready: checks configuration and start" },
      { name: "retention-dry-run", help: "say what serve.retentionDays would erase now, and end" },
    ],
  ),
  simple("serve login", "", [0, 0], "print an address that logs your browser in at the page", [
    "remit serve login",
  ]),
  simple("a2a token", "create|list|revoke [PEER|ID]", [1, 2], "tokens that peers show", [
    "remit a2a token create alice --name laptop",
    "remit a2a token revoke laptop",
  ], [NAME]),
];
