/**
 * A server is met for the first time: watched with nothing granted, asked about, looked at again with what a person
 * agreed to, shown, and pinned as far as they say.
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
import { alienLines, reviewLines, serverLines } from "./review_lines.ts";
import { endedWords } from "./words.ts";
import { lockOf, person, registryOf, reviewNow } from "./work.ts";
import { lookAt, lookFirst } from "../../bridges/mcp/registry/look.ts";
import { has } from "../arguments/parse_arguments.ts";
import { namesSecret } from "../../text/looks_secret.ts";
import { shellLine } from "../../text/shell.ts";
import type { Basic } from "../powers.ts";

/** Looks at a server for the first time, and says what it seems to need beside what it was granted. */
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

/** Says why a server never came so far as to answer. */
export function showFailure(
  command: Command,
  server: LockedServer,
  look: McpLook,
  { kept = true }: { readonly kept?: boolean } = {},
): void {
  const { screen } = command.powers;
  screen.say(`  ${screen.paint.red("it gave no answer:")} ${endedWords(look.ended)}`);
  for (const line of alienLines(screen, look.errors, 12)) screen.say(line);
  if (!kept) return;
  screen.say(
    `  It stays known, and no task is handed it. Look again: ${
      commandText(
        command,
        `${familyOf(server)} ${isPeer(server.launch) ? "review" : "inspect"} ${server.name}`,
      )
    }`,
  );
}

/** Shows the whole of a review on the live view. */
export function showReview(
  command: Command,
  review: McpReview,
  parts: { readonly look: Pick<McpLook, "accesses">; readonly whole: boolean },
): void {
  const { screen } = command.powers;
  const lines = [
    ...serverLines(screen, review.server, parts.look.accesses),
    ...reviewLines(screen, review, { whole: parts.whole }),
  ];
  for (const line of lines) screen.say(line);
}

/** Tools that an approval of everything unflagged would pin anew. */
function waiting(review: McpReview): readonly string[] {
  return review.rows.filter(({ plain, stands }) => plain && stands !== "pinned")
    .map(({ tool }) => tool);
}

/** Asks whether what is not flagged is pinned; `--yes` is a yes. */
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

/** Pins in remit.lock. Where the server was changed meanwhile, only what was shown is. */
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

const SHOWN_NAMES = 8;

/** Tools that were left, those of one reason together. */
function leftLines(left: Approved["left"]): string[] {
  return [...Map.groupBy(left, ({ why }) => why)].map(([why, tools]) => {
    const names = tools.slice(0, SHOWN_NAMES).map(({ tool }) => displayText(tool, { max: 64 }));
    const more = tools.length - names.length;
    const all = `${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
    return `  left out, ${displayText(why, { max: 400 })}: ${all}`;
  });
}

/** Says what was pinned and what was not. */
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

/** Says that a server waits, and how it goes on. */
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

/** Meets a server that is in remit.lock, to the end. Gives the exit code: 75 where a person must still approve it. */
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
  // Once a person agreed to what it needs it is started as tasks will start it.
  const open = ungrantedLines(command, server, met.proposal);
  const asked = more || met.proposal.read.length === 0;
  if (named && look.words !== undefined && !more) ready(command, look);
  else if (server.launch.kind !== "http" && asked) {
    screen.hint(`  … ${server.name} is started with what it was granted`);
    // It is asked for the revision that it spoke a moment ago.
    const { protocol } = look.words ?? {};
    const seen = protocol === undefined ? {} : { seen: { name: "", version: "", protocol } };
    const second = await lookAt(registryOf(command), { ...server, ...seen }, false);
    screen.hint("");
    look = { ...second, accesses: [...met.look.accesses, ...second.accesses] };
    if (second.words !== undefined) {
      ready(command, second);
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
  const done = await saysYes(command, review)
    ? pin(command, review, { flagged: false })
    : undefined;
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

function ready({ powers: { screen } }: Command, { readyMs = 0 }: McpLook): void {
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

/** What is typed behind `prompt`, in small letters; empty with nobody at the keyboard. */
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
  // Reading and sending together can lose what is read: that takes more than --yes.
  if (keyboard === undefined || has(command.parsed, "yes")) return [];
  const agreed: string[] = [];
  for (const host of proposal.net) {
    screen.say(`  It tried to reach ${displayText(host)}: what it reads could go there.`);
    if (isYes(await typedAt(command, "  may it? y, or Enter for no › "))) agreed.push(host);
  }
  return agreed;
}

/** Asks. `--yes` agrees to reading what the arguments name, and to nothing else. */
async function agree(command: Command<Basic | "keyboard">, proposal: Proposal): Promise<McpGrants> {
  const files = await agreeFiles(command, proposal);
  return { ...files, net: await agreeHosts(command, proposal) };
}

/** Asks how confidential what a server is told may be: one that can send it on is told what is public. */
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

/** Says what a server at public clearance is not told, and how that is changed. */
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

/** How to grant what was proposed and not agreed to, a line each. */
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
