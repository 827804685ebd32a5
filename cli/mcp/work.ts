/** What the commands over imported servers share: remit.lock, a look, the name that was given. @module */
import type { ImportedServer, McpLook, McpServerName, McpWords } from "../../contracts/mod.ts";
import { type Command, reachKernel } from "../command.ts";
import type { KernelLink } from "../hands.ts";
import { importedOf, lendMcp, mcpOfTask, withFiles } from "./registry/handover.ts";
import { type LockedServer, type McpLock, openMcpLock, parseMcpName } from "./registry/lock.ts";
import { askLook, keepLook } from "./registry/look.ts";
import type { RegistryPowers } from "./registry/store/store.ts";
import { type McpReview, reviewOf } from "./registry/review.ts";

/** A command's powers over imported servers, without its terminal. */
export function registryOf({ hands, places }: Pick<Command, "hands" | "places">): RegistryPowers {
  const { disk, around, mcpStore } = hands;
  return { disk, environment: around, store: mcpStore, places };
}

/** The servers of a task; says which are left out, and why. Throws Fault `invalidInput` for a damaged remit.lock. */
export function serversOf(
  command: Command,
  config: Parameters<typeof mcpOfTask>[1],
): readonly ImportedServer[] {
  const { servers, notes } = mcpOfTask(registryOf(command), config);
  for (const note of notes) command.hands.screen.say(`  ${note}`);
  return servers;
}

/** Reviews what a server says, beside all of remit.lock and Remit's own tools. */
export async function reviewNow(
  command: Command,
  server: LockedServer,
  words: McpWords,
): Promise<McpReview> {
  const { plugins } = command.hands;
  const builtIn = (await plugins.builtIn()).plugins;
  const own = [
    ...plugins.reserved,
    ...builtIn.flatMap(({ manifest }) => manifest.tools.map(({ name }) => name)),
  ];
  return reviewOf(registryOf(command), server, { words, own, servers: lockOf(command).list() });
}

/** Opens remit.lock. */
export function lockOf(command: Command): McpLock {
  return openMcpLock(registryOf(command));
}

/** The server's name among the arguments. Throws `invalidInput`. */
export function serverName(command: Command): McpServerName {
  return parseMcpName(command.parsed.args[0] ?? "");
}

/** Who is at work, for the record. */
export function person(command: Command): string {
  const { around } = command.hands;
  return (around.env("USER") ?? `uid-${around.uid}`).slice(0, 128);
}

/** Has the kernel start a server, ask it, and end it; what it said is kept for an approval. */
export async function lookAt(
  command: Command,
  server: LockedServer,
  observe: boolean,
): Promise<McpLook> {
  const { hands, places } = command;
  await hands.mcpStore.ready();
  const link = await reachKernel(command);
  try {
    const imported = withFiles(hands, importedOf(server));
    if (!observe) await lendMcp(registryOf(command), link, [imported]);
    const look = await askLook(link, imported, observe);
    keepLook(hands.disk, places, server, { at: hands.around.now(), look });
    return look;
  } finally {
    link.close();
  }
}

/**
 * The look that a person decides by. What they named when they added a server it is started with, as tasks will start
 * it; where nothing was named, or it does not start so, what it asks for is refused and noted, which shows what it is
 * after. One that starts neither way gives the words of its last end.
 */
export async function lookFirst(command: Command, server: LockedServer): Promise<McpLook> {
  if (server.launch.kind === "http") return await lookAt(command, server, false);
  const { read, write, net } = server.grants;
  if (read.length + write.length + net.length === 0) return await lookAt(command, server, true);
  const granted = await lookAt(command, server, false);
  if (granted.words !== undefined) return granted;
  const watched = await lookAt(command, server, true);
  const accesses = [...granted.accesses, ...watched.accesses];
  // Why it does not start with what it was granted is what a person can mend.
  return watched.words === undefined ? { ...granted, accesses } : { ...watched, accesses };
}

/** Ends a server's processes and leases in every task, where a kernel runs; gives how many ended. */
export async function endServer(command: Command, name: McpServerName): Promise<number> {
  const link: KernelLink | undefined = await command.hands.kernels(command.places).find();
  if (link === undefined) return 0;
  try {
    const answer = await link.ask("mcpRevoke", { server: name });
    const { ended } = (answer ?? {}) as { readonly ended?: unknown };
    return typeof ended === "number" ? ended : 0;
  } finally {
    link.close();
  }
}
