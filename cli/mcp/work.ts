/** What the commands over imported servers share: remit.lock, a look, the name that was given. @module */
import type { McpLook, McpServerName } from "../../contracts/mod.ts";
import { type Command, reachKernel } from "../command.ts";
import type { KernelLink } from "../hands.ts";
import { importedOf, lendMcp, readyMcp, withFiles } from "./registry/handover.ts";
import { type LockedServer, type McpLock, openMcpLock, parseMcpName } from "./registry/lock.ts";
import { askLook, keepLook } from "./registry/look.ts";

/** Opens remit.lock. */
export function lockOf(command: Command): McpLock {
  const { disk, mcpStore } = command.hands;
  return openMcpLock({
    ...{ disk, places: command.places },
    exclusively: (folder, work) => mcpStore.exclusively(folder, work),
  });
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
  await readyMcp(command);
  const link = await reachKernel(command);
  try {
    const imported = withFiles(command, importedOf(server));
    if (!observe) await lendMcp(command, link, [imported]);
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
