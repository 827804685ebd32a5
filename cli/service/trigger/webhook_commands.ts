/** `remit webhook list|secret|test`: the paths that others may call, and their secrets. @module */
import { EXIT, Fault } from "../../../contracts/mod.ts";
import { displayText } from "../../../text/mod.ts";
import { type Command, commandText, printJson, printLines } from "../../command.ts";
import { flag, has } from "../../arguments/parse_arguments.ts";
import { preparePlaces } from "../../disk/places.ts";
import { openSecretKeep } from "../../secret/keep.ts";
import { parseSecretValue } from "../../secret/rules.ts";
import { tableLines } from "../../terminal/table.ts";
import { HOOK_PLACE } from "../../secret/hook_secret.ts";
import { signHook } from "./hook_signature.ts";
import { hookPath } from "./hooks.ts";
import { entryOf, serviceConfig } from "./schedule_commands.ts";

const LISTEN = "127.0.0.1:7433";

function keepOf({ hands, places }: Command): ReturnType<typeof openSecretKeep> {
  preparePlaces(hands.disk, places, hands.around.uid);
  return openSecretKeep(hands.disk, places);
}

function baseUrl(command: Command): string {
  const { serve } = serviceConfig(command);
  return (serve.url ?? `http://${serve.listen ?? LISTEN}`).replace(/\/+$/, "");
}

/** `webhook list`. */
export function webhookList(command: Command): Promise<number> {
  const keep = keepOf(command);
  const url = baseUrl(command);
  const rows = Object.entries(serviceConfig(command).webhooks).map(([name, config]) => ({
    name,
    url: `${url}${hookPath(name, config)}`,
    secret: config.secret,
    kept: keep.loadHook(config.secret) !== undefined,
    profile: config.profile ?? "guest",
  }));
  if (command.json) printJson(command, rows);
  else if (rows.length === 0) {
    command.hands.screen.say(
      "There are no webhooks; docs/service.md says how remit.yaml names one.",
    );
  } else {
    const cells = rows.map(({ name, url, secret, kept, profile }) => [
      ...[name, displayText(url, { max: 300 }), secret, kept ? "kept" : "MISSING", profile],
    ]);
    const heads = ["NAME", "URL", "SECRET", "", "PROFILE"];
    printLines(command, tableLines(heads, cells, command.hands.screen.outWidth ?? 2_000));
  }
  return Promise.resolve(EXIT.success);
}

/** `webhook secret NAME [--make]`: keeps a typed or piped secret, or makes one and shows it this once. */
export async function webhookSecret(command: Command): Promise<number> {
  const { hands, parsed } = command;
  const hook = parsed.args[0] ?? "";
  const { secret: name } = entryOf(serviceConfig(command).webhooks, hook, "webhook");
  const keep = keepOf(command);
  if (keep.list().some((each) => each.name === name && each.origin !== HOOK_PLACE.origin)) {
    throw new Fault(
      "alreadyExists",
      `Cannot keep the secret of webhook "${hook}": "${name}" is kept for something else; name another in remit.yaml`,
    );
  }
  const made = has(parsed, "make") ? hands.serve.secret() : undefined;
  const typed = made ??
    (hands.keyboard === undefined
      ? await hands.readInput()
      : await hands.keyboard.line("  value (not shown) › ", { echo: false }));
  if (typed === undefined) throw new Fault("cancelled", "Cannot read the value: cancelled");
  const done = keep.set({ ...HOOK_PLACE, name, value: parseSecretValue(typed) });
  if (made !== undefined) hands.screen.out(`${made}\n`);
  const word = `${done} ${name}: it checks deliveries of ${hook} and is sent nowhere`;
  if (made !== undefined) {
    hands.screen.say(`${word}; give the other side what stands above: it is not shown again`);
  } else if (command.json) printJson(command, { name, done });
  else printLines(command, [word]);
  hands.screen.say("A service that runs now learns of it at SIGHUP, or when it starts next.");
  return EXIT.success;
}

const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** `webhook test NAME [--body TEXT] [--url URL]`: prints a line for a shell that delivers, signed. */
export function webhookTest(command: Command): Promise<number> {
  const { hands, parsed } = command;
  const hook = parsed.args[0] ?? "";
  const config = entryOf(serviceConfig(command).webhooks, hook, "webhook");
  const secret = keepOf(command).loadHook(config.secret);
  if (secret === undefined) {
    throw new Fault(
      "notFound",
      `Cannot sign for webhook "${hook}": there is no secret "${config.secret}"; keep one with "${
        commandText(command, `webhook secret ${hook} --make`)
      }"`,
    );
  }
  const body = flag(parsed, "body") ?? JSON.stringify({ test: true });
  const seconds = Math.floor(hands.around.now() / 1_000);
  const headers = {
    "content-type": "application/json",
    [config.delivery ?? "x-github-delivery"]: hands.around.id("test-"),
    ...signHook(body, { config, secret, seconds }),
  };
  const url = `${flag(parsed, "url") ?? baseUrl(command)}${hookPath(hook, config)}`;
  const words = [
    "curl -sS -i",
    ...Object.entries(headers).map(([name, value]) => `-H ${shellQuoted(`${name}: ${value}`)}`),
    `--data-binary ${shellQuoted(body)}`,
    shellQuoted(url),
  ];
  if (command.json) printJson(command, { url, headers, body });
  // A line to be run: quoted for a shell, and safe to show, because what is odd in it is refused.
  else printLines(command, [plainLine(words.join(" "))]);
  if (config.timestamp !== undefined) hands.screen.say("It holds for five minutes.");
  return Promise.resolve(EXIT.success);
}

function plainLine(line: string): string {
  if (displayText(line, { max: 100_000 }) === line) return line;
  throw new Fault(
    "invalidInput",
    "Cannot print that delivery: its body has characters that no terminal should be shown; use --json",
  );
}
