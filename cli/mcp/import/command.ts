/** `mcp import [FILE]`: takes in the servers that other programs are configured with. @module */
import { Millis } from "../../../contracts/authority/mod.ts";
import { EXIT, type ExitCode, Fault, toJson } from "../../../contracts/base/mod.ts";
import {
  type McpLook,
  mcpPart,
  McpServerName,
  NO_GRANTS,
} from "../../../contracts/exchange/mod.ts";
import { displayText } from "../../../text/mod.ts";
import { type Command, commandText, printJson, printLines } from "../../command.ts";
import type { HostInput, HostServer } from "./entry.ts";
import { findHostConfigs, readHostConfig } from "./hosts.ts";
import { freshServer, type LockedServer, withGrants } from "../../../bridges/mcp/registry/lock.ts";
import { firstLook, pin } from "../onboard.ts";
import { type McpReview, reviewDocument } from "../../../bridges/mcp/registry/review.ts";
import { wrapTable } from "../../terminal/wrapped_table.ts";
import { endedWords, flagsWords, mayWords, runsAsWords, toolsByEffect } from "../words.ts";
import { clearanceFor } from "../grant_flags.ts";
import { has } from "../../arguments/parse_arguments.ts";
import { absolute, preparePlaces } from "../../../launch/disk/places.ts";
import { canonicalJson } from "../../../port/mod.ts";
import { putServer } from "../command/add.ts";
import { keptLook, lookAt } from "../../../bridges/mcp/registry/look.ts";
import { provideLaunch } from "../../../bridges/mcp/registry/fetch/provide.ts";
import { keepMcpSecret } from "../../../bridges/mcp/registry/secrets.ts";
import { lockOf, registryOf, reviewNow } from "../work.ts";
import type { Basic } from "../../powers.ts";

/** Servers that are fetched and started at the same time. */
const MAX_PARALLEL = 2;
const MAX_NAME_CHARS = 24;

/** Two files may give two servers one name: the later server gets a number. */
function named(wanted: Wanted, taken: ReadonlySet<string>): Wanted {
  const { name } = wanted.from;
  if (!taken.has(name)) return wanted;
  for (let n = 2;; n++) {
    const next = McpServerName.parse(`${name.slice(0, MAX_NAME_CHARS - 3)}${n}`);
    if (!taken.has(next)) return { ...wanted, from: { ...wanted.from, name: next } };
  }
}

function wantedIn(command: Command): readonly Wanted[] {
  const [given] = command.parsed.args;
  const files = given === undefined
    ? findHostConfigs(command)
    : [{ file: absolute(command.powers.environment, given), host: undefined }];
  if (files.length === 0) {
    throw new Fault(
      "notFound",
      "Cannot find servers to import: no host that is known here (Claude, Cursor, VS Code, Codex, Gemini, Zed and others) has a configuration; give a FILE",
    );
  }
  const seen = new Set<string>(), taken = new Set<string>();
  const all: Wanted[] = [];
  for (const { file, host } of files) {
    for (const from of readHostConfig(command, file, host)) {
      // The same server under the same name in two hosts' files is taken once.
      const key = `${from.name} ${textOf(from)}`;
      if (seen.has(key)) continue;
      seen.add(key);
      const wanted = named({ from, file }, taken);
      taken.add(wanted.from.name);
      all.push(wanted);
    }
  }
  if (all.length > 0) return all;
  throw new Fault(
    "notFound",
    `Cannot find servers to import: ${
      files.map(({ file }) => displayText(file, { max: 300 })).join(", ")
    } ${files.length === 1 ? "names" : "name"} none`,
  );
}

/** Takes in all servers, two at a time; one that fails does not stop the others. */
async function takeAll(
  command: Command<Basic | "keyboard" | "mcpStore" | "plugins">,
  all: readonly Wanted[],
): Promise<readonly Outcome[]> {
  const { screen } = command.powers;
  const outcomes = new Map<Wanted, Outcome>();
  const waiting: { readonly wanted: Wanted; readonly text: string; readonly as: Wanted }[] = [];
  for (const wanted of all) {
    waiting.push({
      as: wanted,
      text: textOf(wanted.from),
      wanted: await askInputs(command, wanted),
    });
  }
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { wanted, text, as } = next;
      try {
        outcomes.set(as, await takeServer(command, wanted, text));
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        outcomes.set(as, { is: "left", wanted, why: error.message });
      }
      if (!command.json) screen.say(`  ${outcomes.size} of ${all.length}  ${wanted.from.name}`);
    }
  };
  await Promise.all(Array.from({ length: MAX_PARALLEL }, worker));
  screen.hint("");
  return all.flatMap((wanted) => outcomes.get(wanted) ?? []);
}

function asWas({ state }: LockedServer): string {
  return state === "added" ? "as it was, not approved" : "as it was";
}

function cells(outcome: Outcome): readonly string[] {
  const { name } = outcome.wanted.from;
  if (outcome.is === "left") return [name, "not taken in", "", "", "see below"];
  const { server } = outcome;
  const what = [name, runsAsWords(server.launch), mayWords(server)];
  if (outcome.is === "same") return [...what, `${server.reviewed.length} pinned`, asWas(server)];
  const { review, look } = outcome;
  if (review === undefined) {
    return [...what, "no answer", endedWords(look.ended)];
  }
  const flags = [...review.flags, ...review.rows.flatMap((row) => row.flags)];
  return [...what, toolsByEffect(review.rows), flagsWords(flags) || "none"];
}

function belowLines(outcomes: readonly Outcome[]): readonly string[] {
  const each = (lines: (one: Outcome) => readonly string[]): readonly string[] =>
    outcomes.flatMap((one) => lines(one).map((line) => `  ${one.wanted.from.name}: ${line}`));
  const left = each((one) => one.is === "left" ? [displayText(one.why, { max: 600 })] : []);
  const moved = each((one) =>
    one.is === "taken" && one.moved.length > 0
      ? [one.moved.map((name) => displayText(name)).join(", ")]
      : []
  );
  const notes = each((one) =>
    one.is === "taken" ? one.server.notes.map((note) => displayText(note, { max: 400 })) : []
  );
  const renamed = each(({ wanted: { from } }) =>
    from.originalName === from.name
      ? []
      : [`called "${displayText(from.originalName, { max: 100 })}" there`]
  );
  return [
    ...(renamed.length > 0 ? ["", "named otherwise here (a-z, 0-9, - and _):", ...renamed] : []),
    ...(left.length > 0 ? ["", "not taken in:", ...left] : []),
    ...(moved.length > 0
      ? [
        "",
        "kept as secrets from now on (remove them from the files they came from):",
        ...moved,
      ]
      : []),
    ...(notes.length > 0 ? ["", "notes:", ...notes] : []),
  ];
}

function nextLines(command: Command, outcomes: readonly Outcome[]): readonly string[] {
  const taken = outcomes.filter((each) => each.is === "taken");
  const mute = taken.filter(isMute);
  const names = (list: readonly Outcome[]): string =>
    list.map(({ wanted }) => wanted.from.name).join(", ");
  return [
    ...(mute.length === 0 ? [] : [
      "",
      `No answer came from ${names(mute)}: the next import asks again, or ${
        commandText(command, `mcp inspect ${mute.length === 1 ? names(mute) : "NAME"}`)
      }`,
    ]),
    ...(taken.length === mute.length ? [] : [
      "",
      "No task is handed what is new yet; what it asked for is granted once you approve it.",
      `  ${commandText(command, "mcp approve --all")}   pins what is not flagged`,
      `  ${commandText(command, "mcp review NAME")}     shows exactly what would be pinned`,
    ]),
  ];
}

function document(outcome: Outcome): Record<string, unknown> {
  const { wanted: { from: { name }, file } } = outcome;
  if (outcome.is === "left") return { name, file, taken: false, why: outcome.why };
  if (outcome.is === "same") {
    return { name, file, taken: false, same: true, state: outcome.server.state };
  }
  const { look, review, server, moved } = outcome;
  return {
    ...(review === undefined
      ? { name, ended: look.ended ?? null, errors: look.errors }
      : reviewDocument({ ...review, server }, look)),
    ...{ file, taken: true, moved },
  };
}

/** The server was started and gave no answer. */
function isMute(outcome: Outcome): boolean {
  return outcome.is === "taken" && outcome.review === undefined;
}

// A missing answer decides first: a script tries again. Then what waits for approval.
function exitOf(outcomes: readonly Outcome[], approved: readonly string[]): ExitCode {
  if (outcomes.some(isMute)) return EXIT.upstreamFailure;
  const waiting = outcomes.filter((each) =>
    each.is !== "left" && each.server.state === "added" &&
    !approved.includes(each.server.name)
  );
  if (waiting.length > 0) return EXIT.waiting;
  return outcomes.length > 0 && outcomes.every((each) => each.is === "left")
    ? EXIT.failure
    : EXIT.success;
}

/** `mcp import`. With `--yes` tools that are not flagged are approved at once. */
export async function mcpImport(
  command: Command<Basic | "keyboard" | "mcpStore" | "plugins">,
): Promise<number> {
  const { powers, places } = command;
  preparePlaces(powers.disk, places, powers.environment.uid);
  // A wrong --clearance is refused before anything is fetched.
  clearanceFor(command);
  const outcomes = await takeAll(command, wantedIn(command));
  const approved = outcomes.flatMap((each) => {
    if (!has(command.parsed, "yes") || each.is !== "taken" || each.review === undefined) return [];
    const { server } = pin(command, each.review, { flagged: false });
    return server.state === "approved" ? [server.name] : [];
  });
  const exit = exitOf(outcomes, approved);
  if (command.json) {
    printJson(command, { servers: outcomes.map(document), approved });
    return exit;
  }
  printLines(command, [
    ...wrapTable(
      ["NAME", "RUNS AS", "ASKED FOR", "TOOLS", "FLAGS"],
      outcomes.map(cells),
      powers.screen.outWidth ?? 120,
    ),
    ...belowLines(outcomes),
    ...(approved.length > 0
      ? ["", `approved: ${approved.join(", ")}`]
      : nextLines(command, outcomes)),
  ]);
  return exit;
}

interface Wanted {
  readonly from: HostServer;
  /** The configuration file that names the server. */
  readonly file: string;
}

type Outcome =
  | {
    readonly is: "taken";
    readonly wanted: Wanted;
    readonly server: LockedServer;
    readonly look: McpLook;
    readonly review: McpReview | undefined;
    /** Names of the variables and headers whose values are now kept as secrets. */
    readonly moved: readonly string[];
  }
  | { readonly is: "same"; readonly wanted: Wanted; readonly server: LockedServer }
  | { readonly is: "left"; readonly wanted: Wanted; readonly why: string };

const MAX_TEXT_CHARS = 16_384;

/** Identifies a configuration: a change in it makes another server. Holds no value of a secret. */
function textOf({ wish, env, secrets, inputs }: HostServer): string {
  const places = [...secrets, ...inputs].map(({ place }) => place);
  return canonicalJson(toJson({ wish, env, places })).slice(0, MAX_TEXT_CHARS);
}

function placeName(place: HostInput["place"]): string {
  return "env" in place ? place.env : `header ${place.header}`;
}

/** Asks for the inputs that a host would ask for; without a terminal, notes them. */
async function askInputs(command: Command<Basic | "keyboard">, wanted: Wanted): Promise<Wanted> {
  const { keyboard, screen } = command.powers;
  const { from } = wanted;
  const secrets = [...from.secrets];
  const env: Record<string, string> = { ...from.env };
  const notes = [...from.notes];
  for (const { place, description, secret } of from.wish.kind === "refused" ? [] : from.inputs) {
    const name = placeName(place);
    const flag = "env" in place ? `--secret ${place.env}` : `--header ${place.header}`;
    if (keyboard === undefined) {
      notes.push(`it wants ${name}: remit mcp grant ${from.name} ${flag}`);
      continue;
    }
    screen.say(`  ${from.name} wants ${name}: ${displayText(description, { max: 200 })}`);
    const value = await keyboard.line("  value, or Enter for none › ", { echo: !secret });
    if (value === undefined || value === "") {
      notes.push(`it wants ${name}: remit mcp grant ${from.name} ${flag}`);
    } else if (secret || "header" in place) secrets.push({ place, value });
    else env[place.env] = value;
  }
  return { ...wanted, from: { ...from, secrets, env, notes } };
}

/**
 * Takes a server in: fetches it, keeps its keys as secrets, starts it with nothing granted. A
 * server that an earlier import took in, and that has not answered yet, is looked at again. Throws
 * Fault.
 */
async function takeServer(
  command: Command<Basic | "mcpStore" | "plugins">,
  wanted: Wanted,
  text: string,
): Promise<Outcome> {
  const { screen } = command.powers;
  // An earlier import may have written the same name without its - and _.
  const before = lockOf(command).list().find(({ name }) =>
    mcpPart(name) === mcpPart(wanted.from.name)
  );
  const from = { ...wanted.from, name: before?.name ?? wanted.from.name };
  const left = (why: string): Outcome => ({ is: "left", wanted, why });
  const known = before?.from.kind === "config" && before.from.text === text ? before : undefined;
  if (known !== undefined) {
    const answered = keptLook(registryOf(command), known) !== undefined;
    if (known.state !== "added" || answered) return { is: "same", wanted, server: known };
  }
  if (before !== undefined && before.state !== "added") {
    return left(
      `there is another "${from.name}": remit mcp remove ${from.name}, then import again`,
    );
  }
  if (from.wish.kind === "refused") return left(from.wish.why);
  if (from.off) return left("it is switched off where it stands");
  const envs = from.secrets.flatMap(({ place }) => "env" in place ? [place.env] : []);
  const headers = from.secrets.flatMap(({ place }) => "header" in place ? [place.header] : []);
  const plain = known ??
    await provided(command, { ...wanted, from }, { text, secretEnv: envs, secretHeaders: headers });
  for (const { place, value } of from.secrets) {
    keepMcpSecret(registryOf(command), from.name, place, value);
  }
  if (known === undefined) putServer(command, plain);
  screen.hint(`  … ${from.name} is started, and what it asks for is refused`);
  const met = await firstLook(command, plain), { proposal } = met;
  let { look } = met;
  const clearance = clearanceFor(command);
  // The configuration's author named these folders; approving the server is what grants them.
  const server = lockOf(command).change(from.name, (each) =>
    withGrants(each, {
      ...{ env: {}, secretEnv: [], secretHeaders: [] },
      grants: { ...NO_GRANTS, read: [...proposal.read] },
      ...(clearance === undefined ? {} : { clearance }),
    }));
  // A server may not start without the folders in its configuration: --yes agrees to reading them.
  if (look.words === undefined && proposal.read.length > 0 && has(command.parsed, "yes")) {
    screen.hint(`  … ${from.name} is started with what it was granted`);
    const second = await lookAt(registryOf(command), server, false);
    look = { ...second, accesses: [...look.accesses, ...second.accesses] };
  }
  const { words } = look;
  const review = words === undefined ? undefined : await reviewNow(command, server, words);
  const moved = [...envs, ...headers.map((name) => `header ${name}`)];
  return { is: "taken", wanted, server, look, review, moved };
}

/** Fetches or finds a server's program; adds variables and names of keys. */
async function provided(
  command: Command<Basic | "mcpStore">,
  { from, file }: Wanted,
  { text, ...keys }: { readonly text: string } & Pick<LockedServer, "secretEnv" | "secretHeaders">,
): Promise<LockedServer> {
  const { screen, environment } = command.powers;
  screen.hint(`  … ${from.name}: its packages are fetched`);
  const fresh = freshServer(from.name, await provideLaunch(registryOf(command), from.wish), {
    addedAt: Millis.parse(environment.now()),
    from: { kind: "config", text, file },
  });
  const notes = [...fresh.notes, ...from.notes];
  return withGrants({ ...fresh, notes }, { grants: NO_GRANTS, env: from.env, ...keys });
}
