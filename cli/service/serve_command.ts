/**
 * `remit serve`: one service for MCP, A2A, webhooks, schedules, the page and queued tasks.
 * docs/decision/0017.
 * @module
 */
import { join } from "node:path";
import type { TaskId } from "../../contracts/authority/mod.ts";
import { EXIT, Fault, type Json } from "../../contracts/base/mod.ts";
import type { ServeOpen } from "../../contracts/wire/mod.ts";
import { displayText } from "../../text/mod.ts";
import { type Command, commandText, printJson, reachKernel } from "../command.ts";
import { loadConfig } from "../../config/files.ts";
import { sweepRetention } from "../../service/trace/mod.ts";
import { keepGateway, type RunningService, serviceDoor, startService } from "../../service/mod.ts";
import { readListen } from "../mcp_serve/command.ts";
import { has } from "../arguments/parse_arguments.ts";
import { preparePlaces } from "../../launch/disk/places.ts";
import { addressText } from "../mcp_serve/gateway_process.ts";
import { VERSION } from "../../launch/kernel/version.ts";
import type { ServiceConfig } from "../../config/serve.ts";
import type { Basic } from "../powers.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import { openPageDesk } from "./page/desk.ts";
import { tasksOfOtherRules } from "./page/views.ts";
import { makeReload } from "./reload.ts";
import { SERVE_AT } from "./family.ts";
import {
  serviceKernel,
  type ServiceLinks,
  servicePowers,
  type ServiceSetting,
  settleService,
} from "./setting.ts";

/** Tasks that the start names; the page and the list name all. */
const MAX_NAMED = 5;

/** Prints the service's addresses: for people, or as one line of JSON. */
function showServing(
  command: Command,
  { url, page, peers, left }: {
    readonly url: string;
    readonly page: boolean;
    readonly peers: number;
    /** Tasks that do not continue by themselves, because the rules have changed. */
    readonly left: readonly TaskId[];
  },
): void {
  const { screen } = command.powers;
  const { paint } = screen;
  const shown = displayText(url, { max: 300 });
  const card = `${shown}/.well-known/agent-card.json`;
  if (command.json) {
    screen.out(`${
      JSON.stringify({
        url,
        card: `${url}/.well-known/agent-card.json`,
        mcp: `${url}/mcp`,
        page: page ? `${url}/` : null,
        ready: `${url}/readyz`,
        left,
      })
    }\n`);
  }
  screen.say(`${paint.bold("remit")}  serving at ${paint.cyan(shown)}`);
  screen.say(
    `  card   ${card}${
      peers === 0
        ? paint.dim('  no peer may write: remit.yaml has no "peers"')
        : paint.dim(`  a peer's token: ${commandText(command, "a2a token create PEER")}`)
    }`,
  );
  screen.say(
    `  mcp    ${shown}/mcp${
      paint.dim(`  a host's token: ${commandText(command, "mcp token create")}`)
    }`,
  );
  if (page) {
    screen.say(
      `  page   ${shown}/${paint.dim(`  log in: ${commandText(command, "serve login")}`)}`,
    );
  }
  if (left.length > 0) {
    const [first, ...more] = left;
    screen.say(
      `  ${paint.yellow("waits")}  ${left.length} unfinished ${
        more.length === 0 ? "task" : "tasks"
      }: the rules have changed since`,
    );
    for (const id of [first, ...more].slice(0, MAX_NAMED)) {
      screen.say(`           under those of now: ${commandText(command, `resume ${id}`)}`);
    }
    if (left.length > MAX_NAMED) {
      screen.say(
        `           and ${left.length - MAX_NAMED} more: ${commandText(command, "task list")}`,
      );
    }
  }
  screen.say(paint.dim("  Ctrl-C ends it; SIGHUP has it read remit.yaml again"));
}

/** Lists what the daily round would erase, also beside a running service. */
async function retentionDryRun(command: Command): Promise<number> {
  const { powers, places } = command;
  const folder = powers.environment.cwd;
  const { serve } = loadConfig(powers.disk, places, { folder, mounts: [] }).service;
  if (serve.retentionDays === undefined) {
    throw new Fault("invalidInput", 'Cannot look: remit.yaml has no "serve.retentionDays"');
  }
  const link = await reachKernel(command);
  try {
    const parts = { link, days: serve.retentionDays, now: () => powers.environment.now() };
    powers.screen.out(`${await sweepRetention(parts, { dryRun: true })}\n`);
    return EXIT.success;
  } finally {
    link.close();
  }
}

/** `serve login`: prints an address that logs one browser in once. */
export async function serveLogin(command: Command<Basic | "service">): Promise<number> {
  const { powers, places } = command;
  const answer = await powers.service.askService(join(places.runtime, "serve"), "login", null);
  const { url } = Object(answer);
  if (typeof url !== "string") {
    throw new Fault(
      "unavailable",
      `Cannot log in: no service runs in this state; start it with "${
        commandText(command, "serve")
      }"`,
    );
  }
  if (command.json) printJson(command, { url });
  else {
    powers.screen.out(`${displayText(url, { max: 1_000 })}\n`);
    powers.screen.say(
      "  good once, for five minutes; whoever opens it may answer what asks consent",
    );
  }
  return EXIT.success;
}

/** Milliseconds for unfinished work at the end, unless remit.yaml sets them. */
const DRAIN_MS = 10_000;

/** The surfaces that are served, and their address. */
interface Serving {
  readonly listen: NonNullable<ServeOpen["listen"]>;
  readonly open: ServeOpen & { readonly listen: NonNullable<ServeOpen["listen"]> };
  readonly drainMs: number;
  readonly page: boolean;
}

/** `serve [HOST:PORT] [--once-ready]`. */
export async function serveCommand(
  command: Command<
    | Basic
    | "interrupts"
    | "keyboard"
    | "login"
    | "mcpStore"
    | "models"
    | "serve"
    | "service"
    | "wikis"
  >,
): Promise<number> {
  const { powers, places } = command;
  preparePlaces(powers.disk, places, powers.environment.uid);
  if (has(command.parsed, "retention-dry-run")) return await retentionDryRun(command);
  const lock = powers.service.lock(join(places.person, "serve.lock"));
  if (lock === undefined) {
    throw new Fault(
      "conflict",
      'Cannot serve: another "remit serve" is at work in this state; end it, or use another --state DIR',
    );
  }
  using _held = lock;
  return await serveAlone(command);
}

/** Throws `invalidInput` for a wrong address. */
function servingOf(command: Command, { serve }: ServiceConfig): Serving {
  const { parsed, powers } = command;
  const listen = readListen(parsed.args[0] ?? serve.listen ?? SERVE_AT);
  const near = ["127.0.0.1", "::1", "localhost"].includes(listen.hostname);
  const https = serve.url?.startsWith("https:") === true;
  const page = serve.page !== false && (near || https);
  if (serve.page === true && !page) {
    throw new Fault(
      "invalidInput",
      `Cannot serve the page at ${listen.hostname}: what it shows would travel in the clear; listen at 127.0.0.1, or name "serve.url" with https`,
    );
  }
  if (!near && !https) {
    powers.screen.say(
      `  ${
        powers.screen.paint.yellow("note")
      }  this address is not https: tokens and words travel in the clear; put a proxy before it and name "serve.url"`,
    );
  }
  const own = serve.url === undefined ? undefined : new URL(serve.url);
  const drainMs = serve.drainMs ?? DRAIN_MS;
  return {
    ...{ listen, drainMs, page },
    open: {
      ...{ transport: "http", listen, version: VERSION, https, drainMs },
      hosts: [...serve.hosts ?? [], ...(own === undefined ? [] : [own.host])],
      origins: [...serve.origins ?? [], ...(own === undefined ? [] : [own.origin])],
      serves: {
        mcp: serve.mcp !== false,
        a2a: serve.a2a !== false,
        hooks: true,
        page,
        metrics: serve.metrics !== false,
        fleet: serve.fleet !== false,
      },
    },
  };
}

async function serveAlone(
  command: Command<
    | Basic
    | "interrupts"
    | "keyboard"
    | "login"
    | "mcpStore"
    | "models"
    | "serve"
    | "service"
    | "wikis"
  >,
): Promise<number> {
  const { powers, parsed, places } = command;
  const { screen } = powers;
  const note = (text: string): void => screen.say(`  ${displayText(text, { max: 1_000 })}`);
  const setting = await settleService(command);
  const config = setting.calls.config.service;
  const serving = servingOf(command, config);
  const links = await openLinks(command, () => serviceKernel(command, setting));
  let url = urlOf(config, addressText(serving.listen));
  let render: (exchange: Json) => Promise<string> = () =>
    Promise.reject(new Fault("unavailable", "Cannot render: the gateway is not there yet"));
  try {
    const secret = (): string => powers.serve.secret();
    const now = (): number => powers.environment.now();
    const service = await startService({
      ...{ ...servicePowers(command, { links, note }), rules: { setting, config } },
      ...(serving.page
        ? { page: await openPageDesk({ command, link: links.page, now, note, secret }) }
        : {}),
      url: () => url,
      render: (exchange) => render(exchange),
    });
    try {
      const gateway = await keepGateway({
        open: serving.open,
        start: service.gateway,
        ...{ after: powers.service.after, now, note },
      });
      try {
        render = async (exchange) => {
          const answer = await gateway.ask("a2aRender", { exchange, event: null });
          return String(Object(answer).body);
        };
        url = urlOf(config, gateway.address);
        service.served(gateway.up);
        using _door = powers.service.door(
          join(places.runtime, "serve"),
          serviceDoor({ service, url: () => url }),
        );
        using _hangup = listenForReload(command, { setting, config, service, note });
        const left = await tasksOfOtherRules(links.main);
        const peers = Object.keys(config.peers).length;
        const ready = (): void => showServing(command, { url, page: serving.page, peers, left });
        if (has(parsed, "once-ready")) {
          ready();
          return EXIT.success;
        }
        const { drainMs } = serving;
        return await untilEnd(command, { service, gateway, links, drainMs, ready });
      } finally {
        await gateway.stop();
      }
    } finally {
      await service.close();
    }
  } finally {
    for (const link of Object.values(links)) link.close();
  }
}

/** Reads remit.yaml again at SIGHUP. */
function listenForReload(
  command: Command<Basic | "keyboard" | "mcpStore" | "models" | "service" | "wikis">,
  { setting, config, service, note }: {
    readonly setting: ServiceSetting;
    readonly config: ServiceConfig;
    readonly service: Pick<RunningService<ServiceSetting>, "replace">;
    readonly note: (text: string) => void;
  },
): Disposable {
  const reload = makeReload({
    ...{ first: { setting, config }, note },
    settle: () => settleService(command),
    replace: (rules) => service.replace(rules),
  });
  const stop = command.powers.service.hangup(() => void reload());
  return { [Symbol.dispose]: stop };
}

function urlOf({ serve }: ServiceConfig, address: string): string {
  return (serve.url ?? `http://${address}`).replace(/\/+$/, "");
}

/** Opens a connection each for requests, peers and the page. */
async function openLinks(
  command: Command,
  first: () => Promise<KernelLink>,
): Promise<ServiceLinks> {
  const main = await first();
  const again = async (): Promise<KernelLink> => {
    const link = await command.powers.kernels(command.places).find();
    if (link === undefined) throw new Fault("gone", "Cannot serve: the kernel has ended");
    return link;
  };
  try {
    return { main, peers: await again(), page: await again() };
  } catch (error) {
    main.close();
    throw error;
  }
}

async function untilEnd(
  command: Command<Basic | "interrupts">,
  { service, gateway, links, drainMs, ready }: {
    readonly service: Pick<RunningService, "draining" | "drain">;
    /** Prints the addresses. */
    ready(): void;
    readonly gateway: Awaited<ReturnType<typeof keepGateway>>;
    readonly links: ServiceLinks;
    readonly drainMs: number;
  },
): Promise<number> {
  const { powers } = command;
  const ended = Promise.withResolvers<{ readonly code: number; readonly why: string }>();
  const now = Promise.withResolvers<void>();
  const stopListening = powers.interrupts.listen((_count, signal) => {
    // The first press of Ctrl-C or SIGTERM drains, the second ends at once.
    if (service.draining()) now.resolve();
    else ended.resolve({ code: EXIT.success, why: signal ?? "Ctrl-C" });
  });
  // After this line, its reader may end the service at once.
  ready();
  void gateway.failed.then((error) => ended.resolve({ code: EXIT.failure, why: error.message }));
  void links.main.closed.then(() =>
    ended.resolve({
      code: EXIT.failure,
      why: `the kernel has ended; what it had under way goes on with the next "${
        commandText(command, "serve")
      }"`,
    })
  );
  try {
    const { code, why } = await ended.promise;
    powers.screen.say(`  ends: ${displayText(why, { max: 1_000 })}`);
    if (code === EXIT.success) await Promise.race([service.drain(drainMs), now.promise]);
    return code;
  } finally {
    stopListening();
  }
}
