/**
 * The commands of the service, of what starts tasks of itself, and of keeping a state, as help and
 * parsing read them.
 * @module
 */
import {
  type CommandSpec,
  type FlagSpec,
  MODEL,
  MOUNT,
  simple,
} from "../arguments/command_spec.ts";

/** The default address of a service. */
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

const passphrase = (help: string): FlagSpec => ({ name: "passphrase-file", value: "FILE", help });

/** `schedule`, `webhook`, `backup`, `restore`, `serve unit`, `serve container`. */
export const TRIGGER_COMMANDS: readonly CommandSpec[] = [
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
