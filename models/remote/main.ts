/**
 * Entry of a remote model service: one provider at one origin, behind one port. It holds the credential from
 * the kernel, and may connect to that origin only. Bundled as remote.js.
 * @module
 */
import "./prelude_powers.ts";
import { WIDE_FRAME_BYTES } from "../../contracts/wire/wire_plugin.ts";
import { serveChild } from "../../port/child_powers.ts";
import { makeModelService } from "../service.ts";
import { remotePowers } from "./remote_powers.ts";

await serveChild((port) =>
  makeModelService(port, {
    anthropic: async () => {
      const { openAnthropic } = await import("./anthropic/open.ts");
      return (open) => openAnthropic(open, remotePowers);
    },
    openai: async () => {
      const { openOpenai } = await import("./openai/open.ts");
      return (open) => openOpenai(open, remotePowers);
    },
    ollama: async () => {
      const { openOllama } = await import("./ollama/open.ts");
      return (open) => openOllama(open, remotePowers);
    },
    "openai-embed": async () => {
      const { openOpenaiEmbed } = await import("./openai/embed.ts");
      return (open) => openOpenaiEmbed(open, remotePowers);
    },
    "ollama-embed": async () => {
      const { openOllamaEmbed } = await import("./ollama/embed.ts");
      return (open) => openOllamaEmbed(open, remotePowers);
    },
  }), { frameBytes: WIDE_FRAME_BYTES });
