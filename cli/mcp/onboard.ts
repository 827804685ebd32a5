/**
 * A server's first start: with nothing granted; then ask the operator for what the server needs,
 * start it again with those grants, show the review, pin what the operator approves.
 * @module
 */
import type { Label } from "../../contracts/authority/mod.ts";
import { EXIT, type ExitCode } from "../../contracts/base/mod.ts";
import { isPeer, type McpGrants, type McpLook, NO_GRANTS } from "../../contracts/exchange/mod.ts";
import { displayText } from "../../text/mod.ts";
import { type Command, commandText, printJson, printLines } from "../command.ts";
import {
  approve,
  type Approved,
  FLAGGED,
  type McpReview,
  reviewDocument,
} from "../../bridges/mcp/registry/review.ts";
import {
  familyOf,
  type LockedServer,
  type MoreGrants,
  reachesOut,
  withGrants,
} from "../../bridges/mcp/registry/lock.ts";
import { namedPaths, type Proposal, propose } from "../../bridges/mcp/registry/paths.ts";
import { reviewLines, serverLines, untrustedLines } from "./review_lines.ts";
import { endedWords } from "./words.ts";
import { lockOf, person, registryOf, reviewNow } from "./work.ts";
import { lookAt, lookFirst } from "../../bridges/mcp/registry/look.ts";
import { has } from "../arguments/parse_arguments.ts";
import { namesSecret } from "../../text/looks_secret.ts";
import { shellLine } from "../../text/shell.ts";
import type { Basic } from "../powers.ts";

/** Starts a server for the first time and proposes grants beyond those that it has. */
export async function firstLook(
  command: Command<Basic | "mcpStore">,
  server: LockedServer,
): Promise<{ readonly look: McpLook; readonly proposal: Proposal }> {
  const look = await lookFirst(registryOf(command), server);
  const proposal = propose({
    named: server.launch.kind === "http"
      ? []
      : namedPaths(registryOf(command), { launch: server.launch, env: server.env }),
    accesses: look.accesses,
    tools: look.words?.tools ?? [],
    given: server.grants,
    env: [...Object.keys(server.env), ...server.secretEnv],
  });
  return { look, proposal };
}

/** Prints why a server gave no answer, what it printed, and how to look again if it is `kept`. */
export function showFailure(
  command: Command,
  server: LockedServer,
  look: McpLook,
  { kept = true }: { readonly kept?: boolean } = {},
): void {
  const { screen } = command.powers;
  screen.say(`  ${screen.paint.red("it gave no answer:")} ${endedWords(look.ended)}`);
  for (const line of untrustedLines(screen, look.errors, 12)) screen.say(line);
  if (!kept) return;
  const again = `${familyOf(server)} ${isPeer(server.launch) ? "review" : "inspect"}`;
  screen.say(
    `  It stays known, and no task is handed it. Look again: ${
      commandText(command, `${again} ${server.name}`)
    }`,
  );
}

/** Prints a review on the live view; `whole` shows every text as it would be pinned. */
export function showReview(
  command: Command,
  review: McpReview,
  parts: { readonly look: Pick<McpLook, "accesses">; readonly whole: boolean },
): void {
  const { screen } = command.powers;
  serverLines(screen, review.server, parts.look.accesses).forEach((line) => screen.say(line));
  reviewLines(screen, review, { whole: parts.whole }).forEach((line) => screen.say(line));
}

/** Unflagged tools that are not pinned yet. */
function waiting(review: McpReview): readonly string[] {
  return review.rows.filter(({ plain, stands }) => plain && stands !== "pinned")
    .map(({ tool }) => tool);
}

/** Asks whether to pin the tools that are not flagged; `--yes` agrees. */
export async function saysYes(
  command: Command<Basic | "keyboard">,
  review: McpReview,
): Promise<boolean> {
  if (has(command.parsed, "yes")) return true;
  const { keyboard } = command.powers;
  const count = waiting(review).length;
  if (keyboard === undefined || count === 0) return false;
  const what = count === 1 ? "the tool that is" : `the ${count} tools that are`;
  return isYes(await typedAt(command, `  pin ${what} not flagged? y, or Enter for no › `));
}

/** Pins tools in remit.lock, and of a server that changed meanwhile only what was shown. */
export function pin(
  command: Command<Basic | "mcpStore">,
  review: McpReview,
  options: { readonly tools?: readonly string[]; readonly flagged: boolean },
): Approved {
  const approval = {
    tools: options.tools,
    flagged: options.flagged,
    at: command.powers.environment.now(),
    by: person(command),
  };
  let done: Approved | undefined;
  lockOf(command).change(review.server.name, (server) => {
    done = approve({ ...review, server }, approval);
    return done.server;
  });
  if (done === undefined) throw new TypeError("Cannot pin: nothing was changed");
  return done;
}

const MAX_SHOWN_NAMES = 8;

/** Tools that were not pinned, grouped by reason. */
function leftLines(left: Approved["left"]): string[] {
  return [...Map.groupBy(left, ({ why }) => why)].map(([why, tools]) => {
    const names = tools.slice(0, MAX_SHOWN_NAMES).map(({ tool }) => displayText(tool, { max: 64 }));
    const more = tools.length - names.length;
    const all = `${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
    return `  left out, ${displayText(why, { max: 400 })}: ${all}`;
  });
}

/** Lines about what was pinned, what was not, and how to pin the rest. */
export function approvedLines(command: Command, done: Approved): readonly string[] {
  const { name, state } = done.server, family = familyOf(done.server);
  const count = done.approved.length;
  return [
    `${name}: ${count === 1 ? "1 tool is" : `${count} tools are`} pinned, ${
      state === "approved" ? "and tasks are handed it" : "and no task is handed it yet"
    }`,
    ...leftLines(done.left),
    ...(done.withheld
      ? ["  left out, flagged: its resources and prompts, with what it says of them"]
      : []),
    ...(done.left.length > 0 || done.withheld
      ? [`  read them:     ${commandText(command, `${family} review ${name}`)}`]
      : []),
    ...(done.left.some(({ why }) => why === FLAGGED) || done.withheld
      ? [`  pin them, too: ${commandText(command, `${family} approve ${name} --flagged`)}`]
      : []),
  ];
}

/** Lines that say that a server is not approved, and how to read and approve it. */
export function waitingLines(command: Command, review: McpReview): readonly string[] {
  const { name } = review.server, family = familyOf(review.server);
  const all = review.rows.filter(({ stands }) => stands !== "pinned").length;
  const flagged = all > 0 && waiting(review).length === 0;
  return [
    `${name} is not approved${
      flagged ? ", as all of its tools are flagged" : ""
    }: no task is handed it`,
    `  read it:    ${commandText(command, `${family} review ${name}`)}`,
    `  approve it: ${
      commandText(command, `${family} approve ${name}${flagged ? " --flagged" : ""}`)
    }`,
  ];
}

const NOTHING_MORE = {
  grants: NO_GRANTS,
  ...{ env: {}, secretEnv: [], secretHeaders: [] },
} as const satisfies MoreGrants;

/** Onboards a server that is in remit.lock. Exit code 75 where a person must still approve it. */
export async function onboard(
  command: Command<Basic | "keyboard" | "mcpStore" | "plugins">,
  added: LockedServer,
): Promise<ExitCode> {
  const { screen } = command.powers;
  const named = [added.grants.read, added.grants.write, added.grants.net].flat().length > 0;
  screen.hint(
    `  … ${added.name} is started ${
      named ? "with what it was granted" : "and what it asks for is refused"
    }`,
  );
  const met = await firstLook(command, added);
  screen.hint("");
  let server = added, { look } = met;
  const lock = lockOf(command);
  if (look.words === undefined && met.proposal.read.length + met.proposal.net.length === 0) {
    return failed(command, server, look);
  }
  const grants = await agree(command, met.proposal);
  const more = Object.values(grants).some((each) => each.length > 0);
  if (more) {
    server = lock.change(server.name, (each) => withGrants(each, { ...NOTHING_MORE, grants }));
  }
  const clearance = await agreeClearance(command, server);
  if (clearance !== undefined) {
    server = lock.change(server.name, (each) => withGrants(each, { ...NOTHING_MORE, clearance }));
  }
  // With the grants that a person agreed to, start the server as tasks will start it.
  const open = ungrantedLines(command, server, met.proposal);
  const asked = more || met.proposal.read.length === 0;
  if (named && look.words !== undefined && !more) sayReady(command, look);
  else if (server.launch.kind !== "http" && asked) {
    screen.hint(`  … ${server.name} is started with what it was granted`);
    // Ask for the protocol revision of the first look; negotiating again would cost a round trip.
    const { protocol } = look.words ?? {};
    const seen = protocol === undefined ? {} : { seen: { name: "", version: "", protocol } };
    const second = await lookAt(registryOf(command), { ...server, ...seen }, false);
    screen.hint("");
    look = { ...second, accesses: [...met.look.accesses, ...second.accesses] };
    if (second.words !== undefined) {
      sayReady(command, second);
    } else if (met.look.words !== undefined) {
      showFailure(command, server, second);
      look = { ...met.look };
    }
  }
  const { words } = look;
  if (words === undefined) return failed(command, server, look);
  const review = await reviewNow(command, server, words);
  if (!command.json) {
    showReview(command, review, { look, whole: false });
    for (const line of open) screen.say(`  it may want: ${line}`);
  }
  const yes = await saysYes(command, review);
  const done = yes ? pin(command, review, { flagged: false }) : undefined;
  const approved = done !== undefined && (done.approved.length > 0 || words.tools.length === 0);
  if (command.json) {
    printJson(command, {
      ...reviewDocument({ ...review, server: done?.server ?? server }, look),
      ...{ proposed: met.proposal, approved: done?.approved ?? [], left: done?.left ?? [] },
    });
  } else {
    printLines(
      command,
      done === undefined ? waitingLines(command, review) : approvedLines(command, done),
    );
    for (const line of clearanceLines(command, server)) screen.say(line);
  }
  return approved ? EXIT.success : EXIT.waiting;
}

function sayReady({ powers: { screen } }: Command, { readyMs = 0 }: McpLook): void {
  screen.say(`  It runs with what it was granted: ready in ${Math.round(readyMs)} ms.`);
}

function failed(
  command: Command<Basic | "keyboard">,
  server: LockedServer,
  look: McpLook,
): ExitCode {
  if (command.json) {
    printJson(command, {
      ...{ name: server.name, state: server.state, ended: look.ended ?? null },
      ...{ errors: look.errors, asked: look.accesses, approved: [] },
    });
  } else showFailure(command, server, look);
  return EXIT.upstreamFailure;
}

/** What the operator types, in lower case; empty without a terminal. */
async function typedAt(
  { powers: { keyboard } }: Command<Basic | "keyboard">,
  prompt: string,
): Promise<string> {
  return ((await keyboard?.line(prompt)) ?? "").trim().toLowerCase();
}

const isYes = (typed: string): boolean => /^(?:y|yes)$/.test(typed);

async function agreeFiles(
  command: Command<Basic | "keyboard">,
  { read, writers }: Proposal,
): Promise<Pick<McpGrants, "read" | "write">> {
  const { screen } = command.powers;
  if (read.length === 0) return { read: [], write: [] };
  const shown = read.map((path) => displayText(path, { max: 300 })).join(" ");
  screen.say(`  Its arguments and variables name ${shown}.`);
  if (has(command.parsed, "yes")) {
    screen.say("  You said --yes: it may read there, and change nothing.");
    return { read: [...read], write: [] };
  }
  const choices = writers ? "y to read, w to change, too, Enter for no" : "y, Enter for no";
  const typed = await typedAt(command, `  may it read there? ${choices} › `);
  if (typed === "w" && writers) return { read: [], write: [...read] };
  return { read: isYes(typed) ? [...read] : [], write: [] };
}

async function agreeHosts(
  command: Command<Basic | "keyboard">,
  proposal: Proposal,
): Promise<string[]> {
  const { keyboard, screen } = command.powers;
  // A server that reads files and reaches hosts can leak them: --yes does not agree to hosts.
  if (keyboard === undefined || has(command.parsed, "yes")) return [];
  const agreed: string[] = [];
  for (const host of proposal.net) {
    screen.say(`  It tried to reach ${displayText(host)}: what it reads could go there.`);
    if (isYes(await typedAt(command, "  may it? y, or Enter for no › "))) agreed.push(host);
  }
  return agreed;
}

/** Asks for each proposed grant. `--yes` agrees to reading paths, to nothing else. */
async function agree(command: Command<Basic | "keyboard">, proposal: Proposal): Promise<McpGrants> {
  const files = await agreeFiles(command, proposal);
  return { ...files, net: await agreeHosts(command, proposal) };
}

/** Asks which texts a server that can send them on may get; by default public ones alone. */
async function agreeClearance(
  command: Command<Basic | "keyboard">,
  server: Pick<LockedServer, "launch" | "grants" | "clearanceChosen">,
): Promise<Label | undefined> {
  const { keyboard, screen } = command.powers;
  if (!reachesOut(server) || server.clearanceChosen !== undefined) return undefined;
  if (keyboard === undefined || has(command.parsed, "yes")) return undefined;
  screen.say(
    "  It can send on what it is told. What you type and most of your files are internal.",
  );
  const typed = await typedAt(
    command,
    "  may it be told that? i for internal, s for secret, too, Enter for public text alone › ",
  );
  if (/^(?:i|internal)$/.test(typed)) return "internal";
  return /^(?:s|secret)$/.test(typed) ? "secret" : undefined;
}

/** What a server with public clearance does not get, and how to change that. */
function clearanceLines(
  command: Command,
  server: Pick<LockedServer, "name" | "launch" | "grants" | "clearance">,
): readonly string[] {
  if (!reachesOut(server) || server.clearance !== "public" || familyOf(server) !== "mcp") return [];
  return [
    "  it is told only what is public: after its first answer, calls with other text are refused",
    `  let it hear what you type: ${
      commandText(command, `mcp grant ${server.name} --clearance internal`)
    }`,
  ];
}

/** Commands that grant what was proposed and not agreed to, one a line. */
function ungrantedLines(
  command: Command,
  server: Pick<LockedServer, "name" | "grants">,
  proposal: Proposal,
): readonly string[] {
  const { grants } = server;
  const how = (words: string): string => commandText(command, `mcp grant ${server.name} ${words}`);
  const quoted = (path: string): string => shellLine([displayText(path, { max: 300 })]);
  const had = [...grants.read, ...grants.write];
  return [
    ...proposal.read.filter((path) => !had.includes(path)).map((path) =>
      how(`--read ${quoted(path)}`)
    ),
    ...proposal.net.filter((host) => !grants.net.includes(host)).map((host) =>
      how(`--net ${host}`)
    ),
    ...proposal.env.map((name) =>
      how(namesSecret(name) ? `--secret ${displayText(name)}` : `--env ${displayText(name)}=VALUE`)
    ),
  ];
}
