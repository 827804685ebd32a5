/** `remit acp`: an editor's sessions as tasks of this state's kernel. Standard output carries only the protocol. @module */
import { ndJsonStream } from "@agentclientprotocol/sdk";
import { EXIT } from "../../contracts/base/mod.ts";
import { serveAcp } from "../../bridges/acp/mod.ts";
import type { Command } from "../command.ts";
import type { Basic } from "../powers.ts";
import { makeEditorSessions } from "./sessions.ts";

/** Longest message from an editor, bytes. */
const MAX_MESSAGE = 16_000_000;

/** `acp`: runs until the editor closes the connection. */
export async function acpCommand(
  command: Command<Basic | "mcpStore" | "models" | "pipe" | "plugins" | "wikis">,
): Promise<number> {
  const { pipe } = command.powers;
  // The editor draws on the terminal, so nobody can be asked there.
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
