/** Shared by the commands over imported servers: remit.lock, reviews, the name argument. @module */
import type { ImportedServer, McpServerName, ServerListing } from "../../contracts/exchange/mod.ts";
import { type Command, reachKernel } from "../command.ts";
import type { Basic } from "../powers.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import { mcpOfTask } from "../../bridges/mcp/registry/handover.ts";
import {
  type LockedServer,
  type McpLock,
  openMcpLock,
  parseMcpName,
} from "../../bridges/mcp/registry/lock.ts";
import type { LookPowers } from "../../bridges/mcp/registry/look.ts";
import { type McpReview, reviewOf } from "../../bridges/mcp/registry/review.ts";

/** A command's powers over imported servers, without its terminal. */
export function registryOf(command: Command<Basic | "mcpStore">): LookPowers {
  const { powers: { disk, environment, mcpStore }, places } = command;
  const kernel = (): Promise<KernelLink> => reachKernel(command);
  return { disk, environment, store: mcpStore, places, kernel };
}

/** A task's servers; prints which are left out. Throws `invalidInput` for a damaged lock. */
export function serversOf(
  command: Command<Basic | "mcpStore">,
  config: Parameters<typeof mcpOfTask>[1],
): readonly ImportedServer[] {
  const { servers, notes } = mcpOfTask(registryOf(command), config);
  for (const note of notes) command.powers.screen.say(`  ${note}`);
  return servers;
}

/** Reviews a server's listing against remit.lock and the names of Remit's own tools. */
export async function reviewNow(
  command: Command<Basic | "mcpStore" | "plugins">,
  server: LockedServer,
  words: ServerListing,
): Promise<McpReview> {
  const { plugins } = command.powers;
  const builtIn = (await plugins.builtIn()).plugins;
  const own = [
    ...plugins.reserved,
    ...builtIn.flatMap(({ manifest }) => manifest.tools.map(({ name }) => name)),
  ];
  return reviewOf(registryOf(command), server, { words, own, servers: lockOf(command).list() });
}

/** Opens remit.lock. */
export function lockOf(command: Command<Basic | "mcpStore">): McpLock {
  return openMcpLock(registryOf(command));
}

/** The server's name among the arguments. Throws `invalidInput`. */
export function serverName(command: Command): McpServerName {
  return parseMcpName(command.parsed.args[0] ?? "");
}

/** The user's name, for the record. */
export function person(command: Command): string {
  const { environment } = command.powers;
  return (environment.env("USER") ?? `uid-${environment.uid}`).slice(0, 128);
}

/** Ends a server's processes and leases in every task; returns how many ended. */
export async function endServer(command: Command, name: McpServerName): Promise<number> {
  const link: KernelLink | undefined = await command.powers.kernels(command.places).find();
  if (link === undefined) return 0;
  try {
    const answer = await link.ask("mcpRevoke", { server: name });
    const { ended } = (answer ?? {}) as { readonly ended?: unknown };
    return typeof ended === "number" ? ended : 0;
  } finally {
    link.close();
  }
}
