/** `mcp login NAME`: logs a person in at a remote server, for a running kernel, too. @module */
import { EXIT, Fault, present } from "../../../contracts/base/mod.ts";
import type { McpOAuth } from "../../../contracts/exchange/mod.ts";
import { displayText } from "../../../text/mod.ts";
import { type Command, commandText, printJson, printLines } from "../../command.ts";
import { importedOf, lendMcp } from "../../../bridges/mcp/registry/handover.ts";
import { familyOf, type LockedServer, nounOf } from "../../../bridges/mcp/registry/lock.ts";
import {
  logIn,
  type LoginParts,
  type LoginPlan,
} from "../../../bridges/mcp/registry/login/login.ts";
import { isScope } from "../../../bridges/mcp/registry/login/discover.ts";
import { loginUrl, noLogin } from "../../../bridges/mcp/registry/login/net.ts";
import { keepMcpOAuth } from "../../../bridges/mcp/registry/secrets.ts";
import { lockOf, registryOf, serverName } from "../work.ts";
import { flag, has } from "../../arguments/parse_arguments.ts";
import { preparePlaces } from "../../../launch/disk/places.ts";
import type { Basic } from "../../powers.ts";

/** The flags of a login; with `yes` nothing is asked. */
type LoginFlags = Pick<LoginParts, "given" | "issuer" | "scope" | "port"> & {
  readonly yes: boolean;
};

function invalid(why: string): Fault {
  return noLogin(why, "invalidInput");
}

async function clientSecret(
  { powers }: Command<Basic | "keyboard" | "readInput">,
): Promise<string> {
  const typed = powers.keyboard === undefined
    ? (await powers.readInput()).split("\n")[0]
    : await powers.keyboard.line("  the app's secret (not shown) › ", { echo: false });
  const secret = (typed ?? "").trim();
  if (/^[\x21-\x7e]{1,4096}$/.test(secret)) return secret;
  throw invalid("no secret was given; type it, or pipe it in");
}

async function readChoice(
  command: Command<Basic | "keyboard" | "readInput">,
  server: URL,
): Promise<LoginFlags> {
  const { parsed } = command;
  const [id, document] = [flag(parsed, "client-id"), flag(parsed, "client-document")];
  const [issuer, scope] = [flag(parsed, "issuer"), flag(parsed, "scope")];
  const port = flag(parsed, "port");
  if (id !== undefined && !/^[\x21-\x7e]{1,2048}$/.test(id)) {
    throw invalid("that is no client's id");
  }
  if (id !== undefined && document !== undefined) {
    throw invalid("a client has an id or the address of a description, not both");
  }
  if (has(parsed, "client-secret") && id === undefined) {
    throw invalid("a secret belongs to an app: give its --client-id");
  }
  if (scope?.split(" ").every(isScope) === false) throw invalid("those are no scopes");
  if (port !== undefined && !(/^[0-9]{1,5}$/.test(port) && Number(port) <= 65_535)) {
    throw invalid(`"${port}" is no port`);
  }
  const described = document === undefined
    ? undefined
    : loginUrl(document, "the app's description", server).href;
  const secret = has(parsed, "client-secret") ? await clientSecret(command) : undefined;
  return {
    given: present<LoginParts["given"]>({ id, secret, document: described }),
    ...present<Pick<LoginParts, "issuer" | "scope" | "port">>({
      ...{ issuer, scope, port: port === undefined ? undefined : Number(port) },
    }),
    yes: has(parsed, "yes"),
  };
}

/** The URL of a server that has a login. Throws `refused` for a program of this machine. */
function addressOf(server: LockedServer): URL {
  const { name, launch } = server;
  if (launch.kind === "http") {
    // A peer's card is public; its endpoint is what asks for a login.
    const url = launch.a2a?.endpoint ?? launch.url;
    return loginUrl(url, `${nounOf(server)} "${name}"`, new URL(url));
  }
  throw noLogin(`MCP server "${name}" is a program of this machine; only one at a URL has a login`);
}

function planLines(server: URL, { auth, scope, resource, others }: LoginPlan): readonly string[] {
  const shown = (text: string): string => displayText(text, { max: 300 });
  const elsewhere = [auth.authorize, auth.token].map(({ origin }) => origin)
    .filter((origin) => origin !== new URL(auth.issuer).origin);
  return [
    `  server:     ${shown(server.href)}`,
    `  log in at:  ${shown(auth.issuer)}`,
    ...[...new Set(elsewhere)].map((origin) =>
      `              and ${shown(origin)}, which it names`
    ),
    ...others.map((other) => `              (it also names ${shown(other)}: --issuer)`),
    `  a token for ${shown(resource)}`,
    scope === undefined
      ? "  that may do what the server decides: it names no scopes"
      : `  that may:   ${
        scope.split(" ").map((each) => displayText(each, { max: 100 })).join(", ")
      }`,
  ];
}

async function agreed(
  command: Command<Basic | "keyboard">,
  choice: LoginFlags,
  lines: readonly string[],
): Promise<boolean> {
  const { screen, keyboard } = command.powers;
  for (const line of lines) screen.say(line);
  if (choice.yes) return true;
  if (keyboard === undefined) {
    throw noLogin("nobody is there to agree to it; say --yes if you do", "needsApproval");
  }
  return /^(?:y|yes)$/i.test(
    ((await keyboard.line("  go on? y, or Enter for no › ")) ?? "").trim(),
  );
}

/**
 * Logs a person in at a server of remit.lock and keeps the tokens. Throws `refused` and others; no
 * message holds a token.
 */
async function loginMcp(
  command: Command<Basic | "interrupts" | "keyboard" | "login" | "mcpStore">,
  server: LockedServer,
  choice: LoginFlags,
): Promise<McpOAuth> {
  const { powers } = command;
  const { screen, keyboard, login } = powers;
  const url = addressOf(server);
  const ending = new AbortController();
  const stopListening = powers.interrupts.listen(() =>
    ending.abort(noLogin("you ended it", "cancelled"))
  );
  const service = await login.start();
  try {
    const oauth = await logIn({
      ...choice,
      ...{ link: service.link, powers: login, server: url, signal: ending.signal },
      now: () => powers.environment.now(),
      agree: (plan) => agreed(command, choice, planLines(url, plan)),
      show(address): void {
        screen.say("  Open this address in your browser; it waits for five minutes:");
        screen.say("");
        screen.say(displayText(address, { max: 16_384 }));
        screen.say("");
      },
      ...(keyboard === undefined ? {} : {
        pasted: (signal: AbortSignal) =>
          keyboard.line("  (Is that browser elsewhere? Paste where it ended.) › ", { signal }),
      }),
    });
    keepMcpOAuth(registryOf(command), server.name, oauth);
    return oauth;
  } finally {
    stopListening();
    await service.close();
  }
}

/** `mcp login`. */
export async function mcpLogin(
  command: Command<Basic | "interrupts" | "keyboard" | "login" | "mcpStore" | "readInput">,
): Promise<number> {
  const { powers, places } = command;
  const server = lockOf(command).need(serverName(command));
  preparePlaces(powers.disk, places, powers.environment.uid);
  const choice = await readChoice(command, addressOf(server));
  const { scope, expiresAt, refreshToken } = await loginMcp(command, server, choice);
  const link = await powers.kernels(places).find();
  if (link !== undefined) {
    try {
      await lendMcp(registryOf(command), link, [importedOf(server)]);
    } finally {
      link.close();
    }
  }
  const renews = refreshToken !== undefined;
  if (command.json) {
    const { name } = server;
    printJson(command, {
      server: name,
      scope: scope ?? null,
      expiresAt: expiresAt ?? null,
      renews,
    });
    return EXIT.success;
  }
  const may = scope === undefined ? "" : `; it may: ${displayText(scope, { max: 500 })}`;
  printLines(command, [`logged in at ${server.name}${may}`]);
  if (!renews && expiresAt !== undefined) {
    const minutes = Math.round((expiresAt - powers.environment.now()) / 60_000);
    powers.screen.say(
      `  The token ends in ${minutes} minutes and cannot be renewed: log in again then.`,
    );
  }
  if (server.state === "added") {
    powers.screen.say(
      `  next: ${commandText(command, `${familyOf(server)} review ${server.name}`)}`,
    );
  }
  return EXIT.success;
}
