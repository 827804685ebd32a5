/**
 * `remit mcp serve`: Remit as an MCP server, over a pipe or at an address. docs/decision/0016.
 * @module
 */
import { EXIT, Fault, type Json, toJson } from "../../contracts/base/mod.ts";
import { Profile } from "../../contracts/task/mod.ts";
import { SERVE_PIECE, type ServeHolder, type ServeOpen } from "../../contracts/wire/mod.ts";
import { type Command, commandText } from "../command.ts";
import { parseMount } from "../../launch/disk/mounts.ts";
import { absolute } from "../../launch/disk/places.ts";
import { resolveWiki } from "../wiki/place.ts";
import { flag, has, oneOf } from "../arguments/parse_arguments.ts";
import { displayText } from "../../text/mod.ts";
import type { Basic } from "../powers.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import { kernelFor } from "../run/kernel_for.ts";
import type { GatewayLink } from "../../service/mod.ts";
import { makeMediator, mayHave, openHost, openTokens } from "../../service/hosts/mod.ts";
import { hostParts, settleCalls } from "./host_setting.ts";
import { VERSION } from "../../launch/kernel/version.ts";

/** Hosts with a known configuration block. */
const KNOWN_HOSTS = ["claude", "cursor", "vscode"] as const;
type KnownHost = typeof KNOWN_HOSTS[number];

const WHERE: Readonly<Record<KnownHost, string>> = {
  claude: "claude_desktop_config.json, or .mcp.json in a project of Claude Code",
  cursor: "~/.cursor/mcp.json, or .cursor/mcp.json in a project",
  vscode: ".vscode/mcp.json in a project",
};

/** The configuration block for a host. Throws `invalidInput` for an unknown host. */
function hostBlock(command: Command<Basic | "wikis">, name: string): string {
  const host = KNOWN_HOSTS.find((each) => each === name);
  if (host === undefined) {
    throw new Fault(
      "invalidInput",
      `Cannot print for "${name}": there is ${KNOWN_HOSTS.join(", ")}`,
    );
  }
  const { environment } = command.powers;
  const server = {
    ...(host === "vscode" ? { type: "stdio" } : {}),
    // Hosts have their own search path; an absolute path is always the same program.
    command: `${environment.home}/bin/remit`,
    args: ["mcp", "serve", ...kept(command)],
  };
  const key = host === "vscode" ? "servers" : "mcpServers";
  command.powers.screen.say(command.powers.screen.paint.dim(`  for ${WHERE[host]}`));
  return `${JSON.stringify({ [key]: { remit: server } }, null, 2)}\n`;
}

/** The flags of this command that its host must repeat. */
function kept(command: Command<Basic | "wikis">): readonly string[] {
  const { parsed, places, powers: { environment } } = command;
  const wiki = flag(parsed, "wiki");
  const named = ["profile", "agent", "model"].flatMap((name) => {
    const value = flag(parsed, name);
    return value === undefined ? [] : [`--${name}`, value];
  });
  const mounts = (parsed.flags.get("mount") ?? []).flatMap((each) => {
    const { name, dir } = parseMount(each);
    const end = each.slice(each.indexOf("=") + 1 + dir.length);
    return ["--mount", `${name}=${absolute(environment, dir)}${end}`];
  });
  return [
    ...named,
    // Hosts start it in their own folder and show no errors: make paths absolute, and report a
    // wrong wiki here.
    ...(wiki === undefined ? [] : ["--wiki", resolveWiki(command, wiki).folder]),
    ...mounts,
    ...(flag(parsed, "state") === undefined ? [] : ["--state", places.state]),
  ];
}

type Listen = NonNullable<ServeOpen["listen"]>;

const DEFAULT: Listen = { hostname: "127.0.0.1", port: 7_431 };
/** Milliseconds for unfinished calls at the end of the command. */
const STOP_MS = 6_000;

/** Reads `HOST:PORT`, `PORT` or `[::1]:PORT`. Throws `invalidInput`. */
export function readListen(text: string | undefined): Listen {
  if (text === undefined) return DEFAULT;
  const [, bracketed, plain, digits = ""] =
    /^(?:\[([0-9a-fA-F:]+)\]:|([A-Za-z0-9.-]*):)?([0-9]{1,5})$/.exec(text) ?? [];
  // The gateway's namespace cannot resolve names, even this machine's.
  const here = plain === undefined || /^localhost$/i.test(plain);
  const hostname = bracketed ?? (here ? DEFAULT.hostname : plain);
  const port = Number(digits);
  if (digits === "" || port > 65_535 || !isAddress(hostname)) {
    throw new Fault(
      "invalidInput",
      `Cannot listen at "${text}": write ADDRESS:PORT with an IP address, such as 127.0.0.1:7431`,
    );
  }
  return { hostname, port };
}

/** Whether a text is an IPv4 or IPv6 address, in the form of URLs. */
function isAddress(text: string): boolean {
  if (!text.includes(":")) return /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/.test(text);
  return URL.canParse(`http://[${text}]`);
}

/** Identifies a host: by its token, or over a pipe by the command's flags. */
function holders(
  command: Command,
  listen: Listen | undefined,
): (token: string | null) => ServeHolder | undefined {
  const { powers, places, parsed } = command;
  const profile = oneOf(parsed, "profile", Profile.options) ?? "guest";
  const tokens = openTokens({ disk: powers.disk, places });
  if (listen === undefined) {
    return (token) => token === null ? { holder: "host", profile } : undefined;
  }
  if (has(parsed, "profile")) {
    throw new Fault(
      "invalidInput",
      "Cannot serve with --profile over HTTP: each token has its own",
    );
  }
  if (tokens.list().length === 0) {
    throw new Fault(
      "invalidInput",
      `Cannot serve over HTTP: there is no token that a host could show; make one with "${
        commandText(command, "mcp token create")
      }"`,
    );
  }
  return (token) => {
    const holder = token === null ? undefined : tokens.tryHolder(token);
    return holder === undefined || !mayHave(holder.profile, listen) ? undefined : holder;
  };
}

/** `mcp serve [HOST:PORT] [--http]`. */
export async function mcpServe(
  command: Command<Basic | "interrupts" | "keyboard" | "mcpStore" | "models" | "serve" | "wikis">,
): Promise<number> {
  const { powers, parsed } = command;
  const printed = flag(parsed, "print");
  if (printed !== undefined) {
    powers.screen.out(hostBlock(command, printed));
    return EXIT.success;
  }
  if (!has(parsed, "http") && parsed.args[0] !== undefined) {
    throw new Fault("invalidInput", "Cannot serve at an address without --http");
  }
  const listen = has(parsed, "http") ? readListen(parsed.args[0]) : undefined;
  const holderOf = holders(command, listen);
  const setting = await settleCalls(command);
  const link = kernelFor(command, setting);
  // The host waits for its first answer, so over a pipe kernel and gateway start at once.
  if (listen === undefined) link.catch((error) => complain(command, error));
  else await link;
  let gateway: GatewayLink | undefined;
  const tell = (op: string, body: Json): void => gateway?.tell(op, body);
  const shared = hostParts(command, { setting, link });
  const mediator = makeMediator({
    holderOf,
    open: (id, holder) => openHost({ ...shared, own: listen === undefined, tell }, id, holder),
    id: () => powers.environment.id("host") + powers.environment.id(""),
    send: (text) => powers.serve.output(text),
    note: (text) => powers.screen.say(`  ${displayText(text, { max: 1_000 })}`),
  });
  try {
    gateway = await powers.serve.start({
      handler: mediator,
      ...(listen === undefined ? {} : { listen }),
    });
    return await serve(command, { gateway, listen, link });
  } finally {
    await mediator.close();
    await gateway?.kill();
    await link.then((each) => each.close(), () => undefined);
  }
}

async function serve(
  command: Command<Basic | "interrupts" | "serve">,
  { gateway, listen, link }: {
    readonly gateway: GatewayLink;
    readonly listen: Listen | undefined;
    readonly link: Promise<KernelLink>;
  },
): Promise<number> {
  const { powers, parsed } = command;
  const ended = Promise.withResolvers<number>();
  const stopListening = powers.interrupts.listen(() => ended.resolve(EXIT.success));
  void gateway.closed.then(() => ended.resolve(EXIT.failure));
  // Without a kernel nothing can be served: the host restarts the command.
  link.then((each) => each.closed).then(() => ended.resolve(EXIT.failure), () => undefined);
  try {
    const open: ServeOpen = {
      transport: listen === undefined ? "stdio" : "http",
      ...(listen === undefined ? {} : { listen }),
      hosts: [...parsed.flags.get("host") ?? []],
      origins: [...parsed.flags.get("origin") ?? []],
      version: VERSION,
    };
    const answer = await gateway.ask("open", toJson(open));
    if (listen !== undefined) showAddress(command, answer);
    else {void pump(command, gateway).then(() =>
        ended.resolve(EXIT.success), (error) =>
        ended.reject(error));}
    return await ended.promise;
  } finally {
    stopListening();
    const late = new AbortController();
    await Promise.race([
      gateway.ask("stop", null).catch(() => undefined),
      powers.serve.pause(STOP_MS, late.signal),
    ]);
    late.abort();
  }
}

/** Passes the host's bytes on, one piece at a time: a host that floods waits for the gateway. */
async function pump({ powers }: Command<Basic | "serve">, gateway: GatewayLink): Promise<void> {
  try {
    for await (const text of powers.serve.input()) {
      for (let at = 0; at < text.length; at += SERVE_PIECE) {
        await gateway.ask("bytes", { text: text.slice(at, at + SERVE_PIECE) });
      }
    }
  } catch (error) {
    // `closed` reports the end of the gateway.
    if (!(error instanceof Fault)) throw error;
  }
}

function showAddress(command: Command, answer: Json): void {
  const { address } = Object(answer);
  const { screen } = command.powers;
  const url = `http://${displayText(String(address), { max: 300 })}/mcp`;
  if (command.json) screen.out(`${JSON.stringify({ url })}\n`);
  screen.say(`${screen.paint.bold("remit")}  serving MCP at ${screen.paint.cyan(url)}`);
  screen.say(
    screen.paint.dim(`  each request needs a token: ${commandText(command, "mcp token create")}`),
  );
  screen.say(screen.paint.dim("  Ctrl-C ends it"));
}

function complain({ powers }: Command, error: unknown): void {
  const why = error instanceof Error ? error.message : String(error);
  powers.screen.say(`  ${displayText(why, { max: 2_000 })}`);
}
