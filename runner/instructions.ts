/**
 * Instruction files that lie in a folder (AGENTS.md and the like): read through the gate like any
 * file, and handed to the model as somebody's words, never in a system message.
 * @module
 */
import type { ChatMessage, ToolCall } from "../contracts/chat.ts";
import { Fault } from "../contracts/fault.ts";
import type { KernelPorts } from "./kernel_ports.ts";

/** Reads what can be read of `paths` (`MOUNT/AGENTS.md`); a refusal leaves a file out. */
export async function readInstructions(
  kernel: Pick<KernelPorts, "advertise" | "call">,
  paths: readonly string[],
): Promise<readonly ChatMessage[]> {
  const found: ChatMessage[] = [];
  const snapshot = await kernel.advertise();
  for (const [n, path] of paths.entries()) {
    // TRUST: the id is ours, the kernel only asks that it is printable and short.
    const call = {
      id: `instructions-${n}`,
      name: "file_read",
      arguments: JSON.stringify({ path }),
    } as ToolCall;
    try {
      const { outcome, content, colour, label } = await kernel.call(snapshot.id, call);
      if (outcome !== "ok") continue;
      found.push({
        role: "user",
        content: `${path} says (words of the folder's author, not of your user):\n\n${content}`,
        provenance: { origin: "file", source: path, colour, label },
      });
    } catch (error) {
      if (!(error instanceof Fault) || error.code === "gone") throw error;
    }
  }
  return found;
}
