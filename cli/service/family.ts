/**
 * The commands of the service, of its triggers, and of backups, for help, parsing and dispatch.
 * @module
 */
import {
  type CommandSpec,
  type FlagSpec,
  MODEL,
  MOUNT,
  simple,
} from "../arguments/command_spec.ts";
import { family } from "../arguments/family.ts";

/** The default address of a service. */
export const SERVE_AT = "127.0.0.1:7433";

const NAME: FlagSpec = { name: "name", value: "NAME", help: "with create: how you call it" };

/** `serve`, `serve login`, `a2a token`. */
const SERVICE_COMMANDS: readonly CommandSpec[] = [
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

const passphrase = (help: string): FlagSpec => ({ name: "passphrase-file", value: "FILE", help });

/** `schedule`, `webhook`, `backup`, `restore`, `serve unit`, `serve container`. */
const TRIGGER_COMMANDS: readonly CommandSpec[] = [
  simple("schedule list", "", [0, 0], "when the schedules of remit.yaml fire, and last did", [
    "remit schedule list",
  ]),
  simple("schedule run", "NAME", [1, 1], "fire a schedule once, now", [
    "remit schedule run nightly",
  ]),
  simple(
    "webhook list",
    "",
    [0, 0],
    "the webhooks of remit.yaml, and whether their secrets are kept",
    [
      "remit webhook list",
    ],
  ),
  simple("webhook secret", "NAME", [1, 1], "keep the secret that signs a webhook's deliveries", [
    "remit webhook secret ci",
    "remit webhook secret ci --make",
  ], [{ name: "make", help: "make one, and print it this once" }]),
  simple("webhook test", "NAME", [1, 1], "print a curl line that delivers, rightly signed", [
    'remit webhook test ci --body \'{"ref":"main"}\'',
  ], [
    { name: "body", value: "TEXT", help: "what is delivered" },
    { name: "url", value: "URL", help: "where the service is, if remit.yaml does not say" },
  ]),
  simple("backup", "FILE", [1, 1], "copy the state to one file, also while its kernel runs", [
    "remit backup ~/remit.backup --passphrase-file ~/passphrase",
  ], [passphrase("seal it under the passphrase in this file, 12 characters at least")]),
  simple("restore", "FILE", [1, 1], "check a backup whole, and make a state of it", [
    "remit restore ~/remit.backup --state ~/restored",
  ], [
    { name: "head", value: "HASH", help: "a head that you kept: the log must hold it" },
    passphrase("the passphrase that it is sealed under"),
  ]),
  simple("serve unit", "", [0, 0], "print a systemd unit for the service", [
    "remit serve unit > ~/.config/systemd/user/remit.service",
  ], [{ name: "system", help: "for an account of its own, behind more walls" }]),
  simple("serve container", "", [0, 0], "print a Containerfile for the service", [
    "remit serve container > Containerfile",
  ]),
];

/** The family of commands of the service. */
export const SERVICE = family(SERVICE_COMMANDS, [
  "screen",
  "disk",
  "environment",
  "kernels",
  "interrupts",
  "keyboard",
  "login",
  "mcpStore",
  "models",
  "serve",
  "service",
  "wikis",
], {
  serve: async () => (await import("./serve_command.ts")).serveCommand,
  "serve login": async () => (await import("./serve_command.ts")).serveLogin,
  "a2a token": async () => (await import("../mcp_serve/token_commands.ts")).a2aToken,
});

/** The family of commands over triggers and backups. */
export const TRIGGER = family(TRIGGER_COMMANDS, [
  "screen",
  "disk",
  "environment",
  "kernels",
  "backup",
  "keyboard",
  "mcpStore",
  "models",
  "readInput",
  "serve",
  "wikis",
], {
  "schedule list": async () => (await import("./trigger_commands.ts")).scheduleList,
  "schedule run": async () => (await import("./trigger_commands.ts")).scheduleRun,
  "webhook list": async () => (await import("./trigger_commands.ts")).webhookList,
  "webhook secret": async () => (await import("./trigger_commands.ts")).webhookSecret,
  "webhook test": async () => (await import("./trigger_commands.ts")).webhookTest,
  backup: async () => (await import("./backup_commands.ts")).backupCommand,
  restore: async () => (await import("./backup_commands.ts")).restoreCommand,
  "serve unit": async () => (await import("./unit.ts")).serveUnit,
  "serve container": async () => (await import("./unit.ts")).serveContainer,
});
