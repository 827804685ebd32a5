/** What `remit serve` says at its terminal, and the two commands that speak of a running one. @module */
import { join } from "node:path";
import { EXIT, Fault, type TaskId } from "../../contracts/mod.ts";
import { displayText } from "../../text/mod.ts";
import { type Command, commandText, printJson, reachKernel } from "../command.ts";
import { loadConfig } from "../config/files.ts";
import { sweepRetention } from "./care/retention.ts";

/** Tasks that are named at the start; the page and the list name all. */
const MOST_NAMED = 5;

/** Says where it serves: for people, and with `--json` as one line. */
export function showServing(
  command: Command,
  { url, page, peers, left }: {
    readonly url: string;
    readonly page: boolean;
    readonly peers: number;
    /** Tasks that do not go on by themselves, because the rules have changed. */
    readonly left: readonly TaskId[];
  },
): void {
  const { screen } = command.hands;
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
    for (const id of [first, ...more].slice(0, MOST_NAMED)) {
      screen.say(`           under those of now: ${commandText(command, `resume ${id}`)}`);
    }
    if (left.length > MOST_NAMED) {
      screen.say(
        `           and ${left.length - MOST_NAMED} more: ${commandText(command, "task list")}`,
      );
    }
  }
  screen.say(paint.dim("  Ctrl-C ends it; SIGHUP has it read remit.yaml again"));
}

/** Says what the daily round would erase; a service may run meanwhile. */
export async function retentionDryRun(command: Command): Promise<number> {
  const { hands, places } = command;
  const folder = hands.around.cwd;
  const { serve } = loadConfig(hands.disk, places, { folder, mounts: [] }).service;
  if (serve.retentionDays === undefined) {
    throw new Fault("invalidInput", 'Cannot look: remit.yaml has no "serve.retentionDays"');
  }
  const link = await reachKernel(command);
  try {
    const parts = { link, days: serve.retentionDays, now: () => hands.around.now() };
    hands.screen.out(`${await sweepRetention(parts, { dryRun: true })}\n`);
    return EXIT.success;
  } finally {
    link.close();
  }
}

/** `serve login`: prints an address that logs one browser in, once. */
export async function serveLogin(command: Command): Promise<number> {
  const { hands, places } = command;
  const answer = await hands.service.knock(join(places.runtime, "serve"), "login", null);
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
    hands.screen.out(`${displayText(url, { max: 1_000 })}\n`);
    hands.screen.say(
      "  good once, for five minutes; whoever opens it may answer what asks consent",
    );
  }
  return EXIT.success;
}
