/** `remit agent add|list|show|remove`: registers foreign agents. @module */
import { EXIT, Fault } from "../../contracts/base/mod.ts";
import { isLoopback } from "../../contracts/base/loopback.ts";
import { DEAREST } from "../../contracts/model/mod.ts";
import { ForeignAgent } from "../../contracts/tool/mod.ts";
import { displayText } from "../../text/mod.ts";
import { flag } from "../arguments/parse_arguments.ts";
import { type Command, printJson } from "../command.ts";
import { absolute, preparePlaces } from "../../launch/disk/places.ts";
import { ARCH } from "../../launch/program/agent_programs_powers.ts";
import { AGENT_ROWS, type AgentRow } from "./rows.ts";
import { otherVersion, pinOf } from "../../config/agent/pins.ts";
import { noAgent, openAgentStore } from "../../config/agent/store.ts";

/** Default limit of one run, tokens. */
const DEFAULT_TOKENS = 2_000_000;

function filler(values: Readonly<Record<string, string>>): (text: string) => string {
  return (text) =>
    Object.entries(values).reduce(
      (all, [name, value]) => all.replaceAll(`\${${name}}`, value),
      text,
    );
}

const each = (
  record: Readonly<Record<string, string>>,
  fill: (text: string) => string,
): Record<string, string> =>
  Object.fromEntries(Object.entries(record).map(([name, text]) => [name, fill(text)]));

function treeOf(command: Command, name: string, row: AgentRow | undefined): string | undefined {
  const from = flag(command.parsed, "from");
  if (from === undefined) {
    if (row?.npm === undefined) return undefined;
    throw new Fault(
      "invalidInput",
      `Cannot add ${name}: say where its package is; "npm install --ignore-scripts --prefix DIR ${row.npm}", ` +
        `then "remit agent add ${name} --from DIR"`,
    );
  }
  const { disk, environment } = command.powers;
  const real = disk.real(absolute(environment, from));
  if (real !== undefined && disk.stat(real)?.folder === true) return real;
  throw new Fault("notFound", `Cannot add ${name}: there is no folder "${from}"`);
}

function described(command: Command): ForeignAgent {
  const { parsed, powers } = command;
  const [first = "", ...rest] = parsed.args;
  const row = rest.length === 0 && Object.hasOwn(AGENT_ROWS, first) ? AGENT_ROWS[first] : undefined;
  const name = flag(parsed, "name") ?? first.slice(first.lastIndexOf("/") + 1);
  const tree = treeOf(command, name, row);
  const fill = filler({ TREE: tree ?? "", ARCH, MODEL: flag(parsed, "use") ?? row?.model ?? "" });
  const [own = "", ...more] = row?.words ?? [first, ...rest];
  // Without an npm package of its own, a row's program lies in the folder of --from.
  const at = tree !== undefined && row !== undefined && row.npm === undefined
    ? `\${TREE}/${own}`
    : own;
  const words = [at, ...more].map(fill);
  const [program = ""] = words;
  // Checked now, so that a wrong folder is reported now.
  const missing = tree === undefined
    ? undefined
    : words.find((word) => word.startsWith(`${tree}/`) && powers.disk.stat(word) === undefined);
  if (missing !== undefined) {
    throw new Fault(
      "notFound",
      `Cannot add ${name}: there is no "${missing}"; is ${row?.npm ?? program} installed there?`,
    );
  }
  const wire = flag(parsed, "wire") ?? row?.wire;
  const origin = flag(parsed, "provider") ?? row?.origin;
  const secret = flag(parsed, "secret") ?? row?.secret;
  const tokens = Number(flag(parsed, "tokens") ?? DEFAULT_TOKENS);
  const model = flag(parsed, "use") ?? row?.model;
  const provider = wire === undefined && origin === undefined && secret === undefined ? {} : {
    provider: {
      ...{ wire, origin: origin === undefined ? undefined : trimmed(origin), secret },
      ...(model === undefined ? {} : { model }),
      ...priceOf(command),
    },
  };
  const pin = tree === undefined ? undefined : pinOf(powers.disk, tree, row?.npm);
  const found = ForeignAgent.safeParse({
    ...{ name, words, tokens, ...provider },
    ...(pin === undefined ? {} : { pin }),
    ...(row === undefined ? {} : { row: first }),
    ...(tree === undefined ? {} : { tree }),
    ...{
      env: each({ ...row?.env, ...variables(command) }, fill),
      files: each(row?.files ?? {}, fill),
    },
  });
  if (found.success) return found.data;
  const [issue] = found.error.issues;
  throw new Fault(
    "invalidInput",
    `Cannot add ${displayText(name, { max: 64 })}: ${issue?.path.join(".") ?? ""}: ${
      issue?.message ?? "it is not well described"
    }; a provider needs --wire, --provider ORIGIN and --secret NAME`,
  );
}

/** The price of `--price`. @throws Fault `invalidInput` for anything but two numbers */
function priceOf({ parsed }: Command): { readonly price?: { input: number; output: number } } {
  const given = flag(parsed, "price");
  if (given === undefined) return {};
  const [, input, output] = /^(\d+(?:\.\d+)?)\/(\d+(?:\.\d+)?)$/.exec(given) ?? [];
  if (input !== undefined && output !== undefined) {
    return { price: { input: Number(input), output: Number(output) } };
  }
  throw new Fault(
    "invalidInput",
    `Cannot read --price "${given}": it is IN/OUT, US dollars for a million tokens, as 3/15`,
  );
}

/** The variables of `--env`. @throws Fault `invalidInput` for one without a value */
function variables({ parsed }: Command): Record<string, string> {
  return Object.fromEntries((parsed.flags.get("env") ?? []).map((given) => {
    const at = given.indexOf("=");
    if (at > 0) return [given.slice(0, at), given.slice(at + 1)];
    throw new Fault("invalidInput", `Cannot read --env "${given}": it is NAME=VALUE`);
  }));
}

/** Drops trailing slashes: an origin has no path. */
function trimmed(origin: string): string {
  return origin.replace(/\/+$/, "");
}

/** `remit agent add`. */
export function addCommand(command: Command): Promise<number> {
  const { powers, places } = command;
  const agent = described(command);
  preparePlaces(powers.disk, places, powers.environment.uid);
  openAgentStore(powers.disk, places).keep(agent);
  if (command.json) return Promise.resolve(printJson(command, shownOf(agent)));
  const { screen } = powers;
  screen.say(`added ${agent.name}: ${displayText(agent.words.join(" "), { max: 200 })}`);
  const { provider, row, pin } = agent;
  if (pin !== undefined) screen.say(`  pinned: ${pinWords(pin)}`);
  const other = otherVersion(pin, AGENT_ROWS[row ?? ""]?.npm);
  if (other !== undefined) screen.say(screen.paint.yellow(`  ! ${displayText(other)}`));
  if (provider !== undefined) {
    screen.say(
      `  asks ${provider.origin} through a relay, which alone knows the key "${provider.secret}"`,
    );
    const { header = "authorization", prefix = "Bearer " } = AGENT_ROWS[row ?? ""] ?? {};
    screen.say(
      `  price: ${priceWords(provider)}`,
    );
    screen.say(
      `  keep the key once: remit secret set ${provider.secret} --origin ${provider.origin} --header ${header}` +
        (prefix === "" ? "" : ` --prefix "${prefix}"`),
    );
  } else screen.say("  asks no provider: it has no network at all");
  screen.say(`  run it: remit run --agent ${agent.name} -p "…" --mount NAME=DIR`);
  return Promise.resolve(EXIT.success);
}

/** `remit agent list`. */
export function listCommand(command: Command): Promise<number> {
  const { powers, places } = command;
  const agents = openAgentStore(powers.disk, places).list();
  if (command.json) printJson(command, agents.map(shownOf));
  else if (agents.length === 0) {
    powers.screen.out(
      `no agent of others was added; known: ${Object.keys(AGENT_ROWS).join(", ")}\n`,
    );
  } else {
    for (const { name, words, provider } of agents) {
      powers.screen.out(
        `${name.padEnd(12)} ${(provider?.origin ?? "no provider").padEnd(42)} ${
          displayText(words.join(" "), { max: 120 })
        }\n`,
      );
    }
  }
  return Promise.resolve(EXIT.success);
}

/** `remit agent show NAME`. */
export function showCommand(command: Command): Promise<number> {
  const { powers, places, parsed } = command;
  const [name = ""] = parsed.args;
  const agent = openAgentStore(powers.disk, places).find(name);
  if (agent === undefined) throw noAgent(name);
  if (command.json) printJson(command, shownOf(agent));
  else {
    const say = (what: string, text: string): void =>
      powers.screen.out(`${what.padEnd(10)} ${displayText(text, { max: 1_000 })}\n`);
    say("agent", agent.name);
    say("starts", agent.words.join(" "));
    say("files", agent.tree ?? "the machine's programs");
    if (agent.pin !== undefined) say("pinned", pinWords(agent.pin));
    say("provider", agent.provider === undefined ? "none" : agent.provider.origin);
    say(
      "key",
      agent.provider === undefined
        ? "none"
        : `secret "${agent.provider.secret}", at the relay alone`,
    );
    say("tokens", `${agent.tokens} a run at most`);
    if (agent.provider !== undefined) say("price", priceWords(agent.provider));
    for (const [variable, value] of Object.entries(agent.env)) say("env", `${variable}=${value}`);
    for (const file of Object.keys(agent.files)) say("writes", `~/${file} within its walls`);
  }
  return Promise.resolve(EXIT.success);
}

/** `remit agent remove NAME`. */
export function removeCommand(command: Command): Promise<number> {
  const { powers, places, parsed } = command;
  const [name = ""] = parsed.args;
  openAgentStore(powers.disk, places).remove(name);
  if (command.json) printJson(command, { removed: name });
  else powers.screen.say(`removed ${name}; its package stays where it is`);
  return Promise.resolve(EXIT.success);
}

function pinWords(
  { package: name, sha256, files, bytes, integrity }: NonNullable<ForeignAgent["pin"]>,
): string {
  return [
    `${name ?? "a folder"}: ${files} files, ${Math.ceil(bytes / 1e6)} MB, sha256 ${
      sha256.slice(0, 16)
    }…`,
    ...(integrity === undefined ? [] : [`npm has it as ${integrity.slice(0, 20)}…`]),
  ].join("; ");
}

/** The price of the agent's provider, in words. */
function priceWords({ origin, model, price }: NonNullable<ForeignAgent["provider"]>): string {
  const { input, output } = price ?? DEAREST;
  const own = isLoopback(new URL(origin).hostname);
  if (price === undefined && own) return "nothing: it asks a model of this machine";
  const each = `${input}/${output} USD a million tokens in and out`;
  return price === undefined
    ? `unknown: counted as ${each}; give --price IN/OUT`
    : `${each}${
      model === undefined ? "" : ` for ${model}; another model is counted as the dearest`
    }`;
}

function shownOf({ name, row, words, tree, pin, provider, tokens }: ForeignAgent): unknown {
  return {
    ...{ name, row: row ?? null, words, tree: tree ?? null, pin: pin ?? null, tokens },
    provider: provider ?? null,
  };
}
