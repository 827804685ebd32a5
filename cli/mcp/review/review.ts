/** What a person reviews of a server: its tools as they would be pinned, and what changed since they were. Issue 6. @module */
import type { McpWords } from "../../../contracts/mod.ts";
import type { Command } from "../../command.ts";
import type { DiffLine, McpKit, ReviewRow, ToolFlag, Translation } from "./kit.ts";
import type { LockedServer } from "../lock/lock.ts";

/** A row, and how it stands to what was pinned. */
export interface StandingRow extends ReviewRow {
  /** `pinned`: approved, and the same since. */
  readonly stands: "pinned" | "changed" | "new";
}

/** A review. */
export interface McpReview {
  readonly server: LockedServer;
  readonly words: McpWords;
  readonly translation: Translation;
  readonly rows: readonly StandingRow[];
  /** Of its instructions, prompts and resources. */
  readonly flags: readonly ToolFlag[];
  /** Tools whose words are no longer those that were pinned. */
  readonly changes: readonly { readonly tool: string; readonly lines: readonly DiffLine[] }[];
  /** Pinned tools that it does not have any more. */
  readonly gone: readonly string[];
}

/** What a server is, whatever it is handed: the hash of its code, or its address. */
function codeOf({ launch }: Pick<LockedServer, "launch">): string {
  switch (launch.kind) {
    case "npm":
      return `${launch.package} ${launch.bin} ${launch.tree.sha256}`;
    case "program":
      // A program that runs others' scripts says nothing by its own hash.
      return JSON.stringify([launch.program, launch.sha256, launch.args, launch.tree?.sha256]);
    case "http":
      return launch.url;
  }
}

/** What of a server decides about the effects of its tools. */
function effectAt(
  { grants, launch, direct, reads, writes }: LockedServer,
): Pick<LockedServer, "grants" | "launch" | "direct" | "reads" | "writes"> {
  return { grants, launch, direct, reads, writes };
}

/** The pinned tools as the grants make them now: the same words, perhaps another effect. */
export function translatedAnew(
  mcp: Pick<McpKit, "translate" | "importedTool">,
  server: LockedServer,
): LockedServer["reviewed"] {
  const words = server.reviewed.map((each) => each.words);
  const tools = new Map(
    mcp.translate(server.name, words, effectAt(server)).tools.map((each) => [each.tool, each]),
  );
  return server.reviewed.map((each) => {
    const tool = tools.get(each.words.name);
    return tool === undefined ? each : { ...each, tool: mcp.importedTool(tool) };
  });
}

/** Reviews what a server says. `servers` are all of remit.lock: look-alikes are looked for among them. */
export async function reviewOf(
  command: Command,
  server: LockedServer,
  look: { readonly words: McpWords; readonly servers: readonly LockedServer[] },
): Promise<McpReview> {
  const { plugins, mcp } = command.hands;
  const { words } = look;
  const builtIn = (await plugins.builtIn()).plugins;
  const own = [
    ...plugins.reserved,
    ...builtIn.flatMap(({ manifest }) => manifest.tools.map(({ name }) => name)),
  ];
  // One that runs the very same code under another name, for another folder, is no copy of itself.
  const others = look.servers.filter((each) =>
    each.name !== server.name && codeOf(each) !== codeOf(server)
  )
    .map(({ name, reviewed }) => ({ name, tools: reviewed.map((each) => each.words) }));
  const translation = mcp.translate(server.name, words.tools, { ...effectAt(server), own, others });
  const off = server.reviewed.filter((each) => each.off).map((each) => each.words.name);
  const pinned = new Map(server.reviewed.map((each) => [each.words.name, each]));
  const said = new Map(words.tools.map((each) => [each.name, each]));
  const digests = new Map(words.tools.map((each) => [each.name, mcp.toolDigest(each)]));
  const rows = mcp.reviewRows(translation, off).map((row): StandingRow => {
    const before = pinned.get(row.tool);
    if (before === undefined) return { ...row, stands: "new" };
    const same = before.tool.digest === digests.get(row.tool);
    return { ...row, stands: same ? "pinned" : "changed" };
  });
  return {
    ...{ server, words, translation, rows },
    flags: mcp.serverFlags(words, { server: server.name, tools: words.tools, own, others }),
    changes: rows.filter(({ stands }) => stands === "changed").map(({ tool }) => ({
      tool,
      lines: mcp.diffWords(pinned.get(tool)?.words, said.get(tool)),
    })),
    gone: [...pinned.keys()].filter((tool) => !said.has(tool)),
  };
}
