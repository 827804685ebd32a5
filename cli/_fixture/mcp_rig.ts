/** A command line for `remit mcp`, whose kernel inspects a server as a test specifies. @module */
import { join } from "node:path";
import { type Json, toJson } from "../../contracts/base/mod.ts";
import { type McpAccess, ServerListing } from "../../contracts/exchange/mod.ts";
import { placesOf } from "../../launch/disk/places.ts";
import { fakeKeyboard, type FakeOps, fakePowers, runCommandLine } from "./world.ts";

/** A tool as a server describes it. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly annotations?: { readonly readOnlyHint?: boolean };
}

/** Declares that a tool only reads. */
export const READS = { readOnlyHint: true };
/** Ordinary tools: one reads, one writes. */
export const PLAIN: readonly Tool[] = [
  { name: "list_notes", description: "Lists notes.", annotations: READS },
  { name: "write_note", description: "Writes a note." },
];
/** Has invisible characters in its description. */
export const SLY: Tool = {
  name: "sly",
  description: "Adds.\u{e0041}\u{e0042}",
  annotations: READS,
};

export function wordsOf(tools: readonly Tool[]): ServerListing {
  return ServerListing.parse({
    ...{ protocol: "2025-11-25", server: { name: "notes", version: "1.2.3" } },
    ...{ capabilities: ["tools"], resources: [], templates: [], prompts: [], left: [] },
    tools: tools.map((each) => ({ ...each, inputSchema: { type: "object" } })),
  });
}

/** How a rig differs from the plain one. */
export interface Rig {
  tools?: readonly Tool[];
  readonly types?: readonly (string | undefined)[];
  readonly input?: string;
  readonly accesses?: readonly McpAccess[];
  /** Whether the server never answers; with a function, for which grants. */
  readonly dead?: boolean | ((granted: readonly string[]) => boolean);
  readonly ops?: FakeOps;
  readonly env?: Readonly<Record<string, string>>;
}

/** A command line whose kernel inspects a server as specified; `bash` stands for the server's program. */
export function rig(parts: Rig = {}) {
  const at = { tools: parts.tools ?? PLAIN, looks: [] as { observe: boolean; server: Json }[] };
  const powers = fakePowers({
    ops: {
      mcpLook(body) {
        const { observe, server } = body as { observe: boolean; server: Json };
        at.looks.push({ observe, server });
        const found = {
          accesses: parts.accesses ?? [],
          errors: "",
          readyMs: 12,
          bytes: 30_000_000,
        };
        const { grants } = server as { grants: { read: string[]; write: string[] } };
        const granted = observe ? [] : [...grants.read, ...grants.write];
        const dead = typeof parts.dead === "function" ? parts.dead(granted) : parts.dead;
        return toJson(
          dead === true
            ? { ...found, errors: "boom\x1b[2J", ended: "it exited with 1" }
            : { ...found, words: wordsOf(at.tools) },
        );
      },
      mcpRevoke: () => ({ ended: 2 }),
      mcpLend: () => null,
      ...parts.ops,
    },
    ...(parts.types === undefined ? {} : { keyboard: fakeKeyboard(parts.types) }),
    ...(parts.input === undefined ? {} : { input: parts.input }),
    ...(parts.env === undefined ? {} : { env: { PATH: "/usr/bin:/bin", ...parts.env } }),
  });
  const home = placesOf(powers.environment, undefined);
  Deno.mkdirSync(join(powers.root, "work", "notes"));
  return {
    at,
    powers,
    looks: at.looks,
    run: (...argv: string[]) => runCommandLine(["mcp", ...argv], powers),
    json: async (verb: string, ...argv: string[]) => {
      powers.screen.outs.length = 0;
      const exit = await runCommandLine(["mcp", verb, "--json", ...argv], powers);
      return { exit, value: JSON.parse(powers.screen.outs.join("")) };
    },
    locked: () => JSON.parse(Deno.readTextFileSync(home.mcpLock)).servers,
    lockText: () => Deno.readTextFileSync(home.mcpLock),
    notes: join(powers.root, "work", "notes"),
    out: () => powers.screen.outs.join(""),
    said: () => powers.screen.lines.join("\n"),
    asked: () => powers.kernels_.last?.asked ?? [],
  };
}

/** Address of a stranger's server. */
export const URL_ = "https://mcp.example.org/mcp";
