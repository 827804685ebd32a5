/**
 * Entry of a remote model service: one provider at one origin, behind one port. It holds the credential from
 * the kernel, and may connect to that origin only. Bundled as remote.js.
 * @module
 */
import "./prelude_powers.ts";
import { WIDE_FRAME_BYTES } from "../../contracts/wire/wire_plugin.ts";
import { serveChild } from "../../port/child_powers.ts";
import { makeModelService } from "../service.ts";
import type { OpenBody } from "../../contracts/wire/wire_model.ts";
import type { RemotePowers } from "./endpoint.ts";
import { remotePowers } from "./remote_powers.ts";

/** Opens a backend with the powers of this process. */
const powered =
  <T>(open: (body: OpenBody, powers: RemotePowers) => Promise<T>) => (body: OpenBody): Promise<T> =>
    open(body, remotePowers);

await serveChild((port) =>
  makeModelService(port, {
    anthropic: async () => powered((await import("./anthropic/open.ts")).openAnthropic),
    openai: async () => powered((await import("./openai/open.ts")).openOpenai),
    ollama: async () => powered((await import("./ollama/open.ts")).openOllama),
    "openai-embed": async () => powered((await import("./openai/embed.ts")).openOpenaiEmbed),
    "ollama-embed": async () => powered((await import("./ollama/embed.ts")).openOllamaEmbed),
  }), { frameBytes: WIDE_FRAME_BYTES });
