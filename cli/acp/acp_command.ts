/** `remit acp`: sessions of an editor as tasks of this state's kernel. Standard output carries the protocol alone. @module */
import { ndJsonStream } from "@agentclientprotocol/sdk";
import { EXIT } from "../../contracts/base/mod.ts";
import { serveAcp } from "../../bridges/acp/mod.ts";
import type { Command } from "../command.ts";
import type { Basic } from "../powers.ts";
import { makeEditorSessions } from "./sessions.ts";

/** Longest message of an editor, bytes. */
const MAX_MESSAGE = 16_000_000;

/** Runs the command until the editor closes its end. */
export async function acpCommand(
  command: Command<Basic | "mcpStore" | "models" | "pipe" | "plugins" | "wikis">,
): Promise<number> {
  const { pipe } = command.powers;
  // Nobody is asked at the terminal of an editor, which draws on it.
  const host = makeEditorSessions({
    ...command,
    powers: { ...command.powers, keyboard: undefined },
  });
  const connection = serveAcp(
    host,
    ndJsonStream(pipe.writable, pipe.readable, { maxMessageBytes: MAX_MESSAGE }),
  );
  await connection.closed;
  await host.close();
  return EXIT.success;
}
