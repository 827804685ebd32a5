/** What a person reviews of a server: its tools as they would be pinned, and what changed since they were. @module */
import type { McpWords } from "../../../contracts/mod.ts";
import { sha256Hex } from "../../../port/digest.ts";
import type { Command } from "../../command.ts";
import type { DiskRead } from "../../hands.ts";
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

/** Whose code a server is, whatever version of it and whatever it is handed: two of one are no copies of each other. */
function codeOf(disk: DiskRead, { launch }: Pick<LockedServer, "launch">): string {
  switch (launch.kind) {
    case "npm":
      return `npm ${launch.package} ${launch.bin}`;
    case "program": {
      const { args, folders, sha256, tree } = launch;
      if (tree !== undefined) return `tree ${tree.sha256} ${args[0]}`;
      // A program that runs others' scripts says nothing by its own hash: the script does.
      const script = args.find((word) => !word.startsWith("-"));
      const own = folders.some((folder) => script === folder || script?.startsWith(`${folder}/`));
      const bytes = own && script !== undefined ? disk.read(script) : undefined;
      if (bytes !== undefined) return `script ${sha256Hex(bytes)}`;
      return `program ${sha256} ${args[0] === "-m" ? args[1] : ""}`;
    }
    case "http":
      return `at ${new URL(launch.url).origin}`;
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
  const { plugins, mcp, disk } = command.hands;
  const { words } = look;
  const builtIn = (await plugins.builtIn()).plugins;
  const own = [
    ...plugins.reserved,
    ...builtIn.flatMap(({ manifest }) => manifest.tools.map(({ name }) => name)),
  ];
  const others = look.servers.filter((each) =>
    each.name !== server.name && codeOf(disk, each) !== codeOf(disk, server)
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
