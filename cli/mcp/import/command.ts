/** `mcp import [FILE]`: the servers that other programs of this machine know, in one table. @module */
import { Millis } from "../../../contracts/authority/mod.ts";
import { EXIT, type ExitCode, Fault, toJson } from "../../../contracts/base/mod.ts";
import { type McpLook, mcpPart, McpServerName } from "../../../contracts/exchange/mod.ts";
import { displayText } from "../../../text/mod.ts";
import { type Command, commandText, printJson, printLines } from "../../command.ts";
import { findHostConfigs, type HostInput, type HostServer, readHostConfig } from "./hosts.ts";
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

/** Fetches and starts that go on at the same time. */
const AT_ONCE = 2;
const NAME_LENGTH = 24;

/** Two files may call two servers by one name: the later one gets a number. */
function named(wanted: Wanted, taken: ReadonlySet<string>): Wanted {
  const { name } = wanted.from;
  if (!taken.has(name)) return wanted;
  for (let n = 2;; n++) {
    const next = McpServerName.parse(`${name.slice(0, NAME_LENGTH - 3)}${n}`);
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
      // Two hosts that know one server know it by the same words.
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

/** Takes all, at most two at a time; one that fails does not stop the others. */
async function takeAll(
  command: Command<Basic | "keyboard" | "mcpStore" | "plugins">,
  all: readonly Wanted[],
): Promise<readonly Came[]> {
  const { screen } = command.powers;
  const came = new Map<Wanted, Came>();
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
        came.set(as, await takeServer(command, wanted, text));
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        came.set(as, { is: "left", wanted, why: error.message });
      }
      if (!command.json) screen.say(`  ${came.size} of ${all.length}  ${wanted.from.name}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  screen.hint("");
  return all.flatMap((wanted) => came.get(wanted) ?? []);
}

function asWas({ state }: LockedServer): string {
  return state === "added" ? "as it was, not approved" : "as it was";
}

function cells(came: Came): readonly string[] {
  const { name } = came.wanted.from;
  if (came.is === "left") return [name, "not taken in", "", "", "see below"];
  const { server } = came;
  const what = [name, runsAsWords(server.launch), mayWords(server)];
  if (came.is === "same") return [...what, `${server.reviewed.length} pinned`, asWas(server)];
  const { review, look } = came;
  if (review === undefined) {
    return [...what, "no answer", endedWords(look.ended)];
  }
  const flags = [...review.flags, ...review.rows.flatMap((row) => row.flags)];
  return [...what, toolsByEffect(review.rows), flagsWords(flags) || "none"];
}

function belowLines(came: readonly Came[]): readonly string[] {
  const each = (lines: (one: Came) => readonly string[]): readonly string[] =>
    came.flatMap((one) => lines(one).map((line) => `  ${one.wanted.from.name}: ${line}`));
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
    from.said === from.name ? [] : [`called "${displayText(from.said, { max: 100 })}" there`]
  );
  return [
    ...(renamed.length > 0 ? ["", "named otherwise here (a-z, 0-9, - and _):", ...renamed] : []),
    ...(left.length > 0 ? ["", "not taken in:", ...left] : []),
    ...(moved.length > 0
      ? ["", "kept as secrets from now on (remove them from the files they came from):", ...moved]
      : []),
    ...(notes.length > 0 ? ["", "notes:", ...notes] : []),
  ];
}

function nextLines(command: Command, came: readonly Came[]): readonly string[] {
  const taken = came.filter((each) => each.is === "taken");
  const mute = taken.filter(isMute);
  const names = (list: readonly Came[]): string =>
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

function document(came: Came): Record<string, unknown> {
  const { wanted: { from: { name }, file } } = came;
  if (came.is === "left") return { name, file, taken: false, why: came.why };
  if (came.is === "same") return { name, file, taken: false, same: true, state: came.server.state };
  const { look, review, server, moved } = came;
  return {
    ...(review === undefined
      ? { name, ended: look.ended ?? null, errors: look.errors }
      : reviewDocument({ ...review, server }, look)),
    ...{ file, taken: true, moved },
  };
}

/** It was started, and never came so far as to answer. */
function isMute(came: Came): boolean {
  return came.is === "taken" && came.review === undefined;
}

/** One that gives no answer comes first: a script tries again. Then what waits for a person. */
function exitOf(came: readonly Came[], approved: readonly string[]): ExitCode {
  if (came.some(isMute)) return EXIT.upstreamFailure;
  const waiting = came.filter((each) =>
    each.is !== "left" && each.server.state === "added" &&
    !approved.includes(each.server.name)
  );
  if (waiting.length > 0) return EXIT.waiting;
  return came.length > 0 && came.every((each) => each.is === "left") ? EXIT.failure : EXIT.success;
}

/** Runs the command. With `--yes` what is not flagged is approved at once. */
export async function mcpImport(
  command: Command<Basic | "keyboard" | "mcpStore" | "plugins">,
): Promise<number> {
  const { powers, places } = command;
  preparePlaces(powers.disk, places, powers.environment.uid);
  // Before anything is fetched for it.
  clearanceFor(command);
  const came = await takeAll(command, wantedIn(command));
  const approved = came.flatMap((each) => {
    if (!has(command.parsed, "yes") || each.is !== "taken" || each.review === undefined) return [];
    const { server } = pin(command, each.review, { flagged: false });
    return server.state === "approved" ? [server.name] : [];
  });
  const exit = exitOf(came, approved);
  if (command.json) {
    printJson(command, { servers: came.map(document), approved });
    return exit;
  }
  printLines(command, [
    ...wrapTable(
      ["NAME", "RUNS AS", "ASKED FOR", "TOOLS", "FLAGS"],
      came.map(cells),
      powers.screen.outWidth ?? 120,
    ),
    ...belowLines(came),
    ...(approved.length > 0 ? ["", `approved: ${approved.join(", ")}`] : nextLines(command, came)),
  ]);
  return exit;
}

interface Wanted {
  readonly from: HostServer;
  /** Where it stands. */
  readonly file: string;
}

type Came =
  | {
    readonly is: "taken";
    readonly wanted: Wanted;
    readonly server: LockedServer;
    readonly look: McpLook;
    readonly review: McpReview | undefined;
    /** Names of what is kept as a secret now. */
    readonly moved: readonly string[];
  }
  | { readonly is: "same"; readonly wanted: Wanted; readonly server: LockedServer }
  | { readonly is: "left"; readonly wanted: Wanted; readonly why: string };

const LONGEST = 16_384;
const NOTHING = { read: [], write: [], net: [] };

/** What of a configuration makes a server another one. No value of a secret is in it. */
function textOf({ wish, env, secrets, inputs }: HostServer): string {
  const places = [...secrets, ...inputs].map(({ place }) => place);
  return canonicalJson(toJson({ wish, env, places })).slice(0, LONGEST);
}

function placeName(place: HostInput["place"]): string {
  return "env" in place ? place.env : `header ${place.header}`;
}

/** Asks for what other hosts ask their user for; off a terminal it is noted. One at a time. */
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
 * Takes it in: fetched, kept apart from its keys, looked at with nothing granted. One that was taken in and has not
 * answered so far is looked at again. Throws Fault.
 */
async function takeServer(
  command: Command<Basic | "mcpStore" | "plugins">,
  wanted: Wanted,
  text: string,
): Promise<Came> {
  const { screen } = command.powers;
  // An earlier import may have written the same name without its - and _.
  const before = lockOf(command).list().find(({ name }) =>
    mcpPart(name) === mcpPart(wanted.from.name)
  );
  const from = { ...wanted.from, name: before?.name ?? wanted.from.name };
  const left = (why: string): Came => ({ is: "left", wanted, why });
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
  // Whoever wrote the configuration named these folders; approving the server is what grants them.
  const server = lockOf(command).change(from.name, (each) =>
    withGrants(each, {
      ...{ env: {}, secretEnv: [], secretHeaders: [] },
      grants: { ...NOTHING, read: [...proposal.read] },
      ...(clearance === undefined ? {} : { clearance }),
    }));
  // One that does not start without the folders that its configuration names: --yes is a yes to reading them.
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

/** Fetched or found, with its plain variables and the names of its keys. Throws as {@link provideLaunch} does. */
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
  return withGrants({ ...fresh, notes }, { grants: NOTHING, env: from.env, ...keys });
}
