/** The command `remit acp`. @module */
import { AGENT, MODEL, MOUNT, simple, TOOLS, WIKI } from "../arguments/command_spec.ts";
import { family } from "../arguments/family.ts";
import { BASIC } from "../powers.ts";
import { MODEL_FLAGS } from "../model/command/family.ts";

/** Remit as an agent of editors. */
export const ACP = family(
  [
    simple("acp", "", [0, 0], "be an agent of an editor, over the Agent Client Protocol", [
      "remit acp --model ollama:qwen3:4b",
    ], [
      MODEL,
      ...MODEL_FLAGS.filter(({ name }) => name !== "record" && name !== "replay"),
      AGENT,
      MOUNT,
      TOOLS,
      WIKI,
    ]),
  ],
  [...BASIC, "mcpStore", "models", "pipe", "plugins", "wikis"],
  {
    acp: async () => (await import("./acp_command.ts")).acpCommand,
  },
);
