/** One server of another program's configuration is taken in. @module */
import { type McpLook, mcpPart, Millis, toJson } from "../../../contracts/mod.ts";
import { canonicalJson } from "../../../port/mod.ts";
import { displayText } from "../../../text/mod.ts";
import type { Command } from "../../command.ts";
import { freshServer, putServer } from "../command/add.ts";
import { clearanceFor, withGrants } from "../grant/flags.ts";
import type { HostInput, HostServer } from "./hosts.ts";
import { keptLook } from "../look.ts";
import { meet } from "../meet/introduce.ts";
import { provideLaunch } from "../fetch/provide.ts";
import type { LockedServer } from "../lock/lock.ts";
import { type McpReview, reviewOf } from "../review/review.ts";
import { keepMcpSecret } from "../grant/secrets.ts";
import { lockOf, lookAt } from "../work.ts";
import { has } from "../../arguments/parse_arguments.ts";

/** A server of a configuration. */
export interface Wanted {
  readonly from: HostServer;
  /** Where it stands. */
  readonly file: string;
}

/** What became of one. */
export type Came =
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
export function textOf({ wish, env, secrets, inputs }: HostServer): string {
  const places = [...secrets, ...inputs].map(({ place }) => place);
  return canonicalJson(toJson({ wish, env, places })).slice(0, LONGEST);
}

/** What a place is called. */
function placeName(place: HostInput["place"]): string {
  return "env" in place ? place.env : `header ${place.header}`;
}

/** Asks for what other hosts ask their user for; off a terminal it is noted. One at a time. */
export async function askInputs(command: Command, wanted: Wanted): Promise<Wanted> {
  const { keyboard, screen } = command.hands;
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
export async function takeServer(command: Command, wanted: Wanted, text: string): Promise<Came> {
  const { screen, disk } = command.hands;
  // An earlier import may have written the same name without its - and _.
  const before = lockOf(command).list().find(({ name }) =>
    mcpPart(name) === mcpPart(wanted.from.name)
  );
  const from = { ...wanted.from, name: before?.name ?? wanted.from.name };
  const left = (why: string): Came => ({ is: "left", wanted, why });
  const known = before?.from.kind === "config" && before.from.text === text ? before : undefined;
  if (known !== undefined) {
    const answered = keptLook(disk, command.places, known) !== undefined;
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
  for (const { place, value } of from.secrets) keepMcpSecret(command, from.name, place, value);
  if (known === undefined) putServer(command, plain);
  screen.hint(`  … ${from.name} is started, and what it asks for is refused`);
  const met = await meet(command, plain), { proposal } = met;
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
    const second = await lookAt(command, server, false);
    look = { ...second, accesses: [...look.accesses, ...second.accesses] };
  }
  const { words } = look;
  const review = words === undefined
    ? undefined
    : await reviewOf(command, server, { words, servers: lockOf(command).list() });
  const moved = [...envs, ...headers.map((name) => `header ${name}`)];
  return { is: "taken", wanted, server, look, review, moved };
}

/** Fetched or found, with its plain variables and the names of its keys. Throws as {@link provideLaunch} does. */
async function provided(
  command: Command,
  { from, file }: Wanted,
  { text, ...keys }: { readonly text: string } & Pick<LockedServer, "secretEnv" | "secretHeaders">,
): Promise<LockedServer> {
  const { screen, around } = command.hands;
  screen.hint(`  … ${from.name}: its packages are fetched`);
  const fresh = freshServer(from.name, await provideLaunch(command, from.wish), {
    addedAt: Millis.parse(around.now()),
    from: { kind: "config", text, file },
  });
  const notes = [...fresh.notes, ...from.notes];
  return withGrants({ ...fresh, notes }, { grants: NOTHING, env: from.env, ...keys });
}
