/** The block that a host's configuration takes: this installation, this folder. @module */
import { Fault } from "../../contracts/mod.ts";
import type { Command } from "../command.ts";
import { parseMount } from "../disk/mounts.ts";
import { absolute } from "../disk/places.ts";
import { resolveWiki } from "../wiki/place.ts";
import { flag } from "../arguments/parse_arguments.ts";

/** Hosts whose block is known. */
const KNOWN_HOSTS = ["claude", "cursor", "vscode"] as const;
type KnownHost = typeof KNOWN_HOSTS[number];

const WHERE: Readonly<Record<KnownHost, string>> = {
  claude: "claude_desktop_config.json, or .mcp.json in a project of Claude Code",
  cursor: "~/.cursor/mcp.json, or .cursor/mcp.json in a project",
  vscode: ".vscode/mcp.json in a project",
};

/** The text to paste. Throws `invalidInput` for a host that is not known. */
export function hostBlock(command: Command, name: string): string {
  const host = KNOWN_HOSTS.find((each) => each === name);
  if (host === undefined) {
    throw new Fault(
      "invalidInput",
      `Cannot print for "${name}": there is ${KNOWN_HOSTS.join(", ")}`,
    );
  }
  const { around } = command.hands;
  const server = {
    ...(host === "vscode" ? { type: "stdio" } : {}),
    // Hosts start it somewhere, with a search path of their own: only an absolute path is the same program.
    command: `${around.home}/bin/remit`,
    args: ["mcp", "serve", ...kept(command)],
  };
  const key = host === "vscode" ? "servers" : "mcpServers";
  command.hands.screen.say(command.hands.screen.paint.dim(`  for ${WHERE[host]}`));
  return `${JSON.stringify({ [key]: { remit: server } }, null, 2)}\n`;
}

/** The flags of this command that its host has to give, too. */
function kept(command: Command): readonly string[] {
  const { parsed, places, hands: { around } } = command;
  const wiki = flag(parsed, "wiki");
  const named = ["profile", "agent", "model"].flatMap((name) => {
    const value = flag(parsed, name);
    return value === undefined ? [] : [`--${name}`, value];
  });
  const mounts = (parsed.flags.get("mount") ?? []).flatMap((each) => {
    const { name, dir } = parseMount(each);
    const end = each.slice(each.indexOf("=") + 1 + dir.length);
    return ["--mount", `${name}=${absolute(around, dir)}${end}`];
  });
  return [
    ...named,
    // A host starts it in a folder of its own, and shows nobody why it ended: paths are absolute, and what is no wiki is
    // said here.
    ...(wiki === undefined ? [] : ["--wiki", resolveWiki(command, wiki).folder]),
    ...mounts,
    ...(flag(parsed, "state") === undefined ? [] : ["--state", places.state]),
  ];
}
