/**
 * Instruction files that lie in a folder (AGENTS.md and the like): read through the gate like any
 * file, and handed to the model as somebody's words, never in a system message.
 * @module
 */
import type { ChatMessage } from "../contracts/chat.ts";
import { Fault } from "../contracts/fault.ts";
import type { CallBy } from "./habits.ts";

/** Reads what can be read of `paths` (`MOUNT/AGENTS.md`); a refusal leaves a file out. */
export async function readInstructions(
  paths: readonly string[],
  call: CallBy,
): Promise<readonly ChatMessage[]> {
  const found: ChatMessage[] = [];
  for (const [n, path] of paths.entries()) {
    try {
      const { outcome, content, colour, label } = await call(`instructions-${n}`, "file_read", {
        path,
      });
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
