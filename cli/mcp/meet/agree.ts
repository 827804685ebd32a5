/** Asks a person for what a server seems to need, and says what nobody agreed to. @module */
import type { Label } from "../../../contracts/mod.ts";
import { displayText } from "../../../text/mod.ts";
import type { Command } from "../../command.ts";
import { commandText } from "../../command.ts";
import { type GrantFlags, reachesOut } from "../grant/flags.ts";
import { namesSecret } from "../../../text/looks_secret.ts";
import type { Proposal } from "../review/propose.ts";
import type { LockedServer } from "../lock/lock.ts";
import { familyOf } from "../review/words.ts";
import { has } from "../../arguments/parse_arguments.ts";

/** What was agreed to, in the form of flags. */
export type Agreed = Pick<GrantFlags, "grants">;

const NOTHING: Agreed = { grants: { read: [], write: [], net: [] } };

const shown = (paths: readonly string[]): string =>
  paths.map((path) => displayText(path, { max: 300 })).join(" ");

async function agreeFiles(command: Command, proposal: Proposal): Promise<Agreed> {
  const { keyboard, screen } = command.hands;
  const { read } = proposal;
  if (read.length === 0) return NOTHING;
  const readOnly: Agreed = { grants: { read: [...read], write: [], net: [] } };
  screen.say(`  Its arguments and variables name ${shown(read)}.`);
  if (has(command.parsed, "yes")) {
    screen.say("  You said --yes: it may read there, and change nothing.");
    return readOnly;
  }
  if (keyboard === undefined) return NOTHING;
  const choices = proposal.writers
    ? "y to read, w to change, too, Enter for no"
    : "y, Enter for no";
  const typed = ((await keyboard.line(`  may it read there? ${choices} › `)) ?? "").trim()
    .toLowerCase();
  if (typed === "w" && proposal.writers) return { grants: { read: [], write: [...read], net: [] } };
  return /^(?:y|yes)$/.test(typed) ? readOnly : NOTHING;
}

async function agreeHosts(command: Command, proposal: Proposal): Promise<readonly string[]> {
  const { keyboard, screen } = command.hands;
  // Reading and sending together can lose what is read: that takes more than --yes.
  if (keyboard === undefined || has(command.parsed, "yes")) return [];
  const agreed: string[] = [];
  for (const host of proposal.net) {
    screen.say(`  It tried to reach ${displayText(host)}: what it reads could go there.`);
    const typed = ((await keyboard.line("  may it? y, or Enter for no › ")) ?? "").trim();
    if (/^(?:y|yes)$/i.test(typed)) agreed.push(host);
  }
  return agreed;
}

/** Asks. `--yes` agrees to reading what the arguments name, and to nothing else. */
export async function agree(command: Command, proposal: Proposal): Promise<Agreed> {
  const files = await agreeFiles(command, proposal);
  const net = await agreeHosts(command, proposal);
  return { grants: { ...files.grants, net: [...net] } };
}

/** Asks how confidential what a server is told may be: one that can send it on is told what is public. */
export async function agreeClearance(
  command: Command,
  server: Pick<LockedServer, "launch" | "grants" | "clearanceChosen">,
): Promise<Label | undefined> {
  const { keyboard, screen } = command.hands;
  if (!reachesOut(server) || server.clearanceChosen !== undefined) return undefined;
  if (keyboard === undefined || has(command.parsed, "yes")) return undefined;
  screen.say(
    "  It can send on what it is told. What you type and most of your files are internal.",
  );
  const typed = ((await keyboard.line(
    "  may it be told that? i for internal, s for secret, too, Enter for public text alone › ",
  )) ?? "").trim().toLowerCase();
  if (/^(?:i|internal)$/.test(typed)) return "internal";
  return /^(?:s|secret)$/.test(typed) ? "secret" : undefined;
}

/** Says what a server at public clearance is not told, and how that is changed. */
export function clearanceLines(
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
export function ungrantedLines(
  command: Command,
  server: Pick<LockedServer, "name" | "grants">,
  proposal: Proposal,
): readonly string[] {
  const { grants } = server;
  const how = (words: string): string => commandText(command, `mcp grant ${server.name} ${words}`);
  const quoted = (path: string): string => {
    const safe = displayText(path, { max: 300 });
    return /^[\w@%+=:,./-]+$/.test(safe) ? safe : `'${safe.replaceAll("'", "'\\''")}'`;
  };
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
