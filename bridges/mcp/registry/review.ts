/** Reviewing a server's listing, approving tools, and the documents of both. @module */
import { Millis } from "../../../contracts/authority/mod.ts";
import type { ImportedServer, McpLook, ServerListing } from "../../../contracts/exchange/mod.ts";
import { sha256Hex } from "../../../port/digest.ts";
import type { DiskRead } from "../../../launch/disk/machine.ts";
import {
  type DiffLine,
  diffWords,
  importedTool,
  type ReviewRow,
  reviewRows,
  serverFlags,
  toolDigest,
  type ToolFlag,
  translate,
  type TranslatedTool,
  type Translation,
} from "../review/mod.ts";
import type { LockedServer, LockedTool } from "./lock.ts";

/** A tool in a review, compared with what was pinned. */
export interface StandingRow extends ReviewRow {
  /** `pinned`: approved and unchanged. */
  readonly stands: "pinned" | "changed" | "new";
}

/** The review of a server's listing. */
export interface McpReview {
  readonly server: LockedServer;
  readonly words: ServerListing;
  readonly translation: Translation;
  readonly rows: readonly StandingRow[];
  /** Warnings about its instructions, prompts and resources. */
  readonly flags: readonly ToolFlag[];
  /** Pinned tools whose words changed. */
  readonly changes: readonly { readonly tool: string; readonly lines: readonly DiffLine[] }[];
  /** Pinned tools that are no longer listed. */
  readonly gone: readonly string[];
}

/** Identifies a server's code across versions and arguments: two servers of one code copy nothing. */
function codeOf(disk: Pick<DiskRead, "read">, { launch }: Pick<LockedServer, "launch">): string {
  switch (launch.kind) {
    case "npm":
      return `npm ${launch.package} ${launch.bin}`;
    case "program": {
      const { args, folders, sha256, tree } = launch;
      if (tree !== undefined) return `tree ${tree.sha256} ${args[0]}`;
      // An interpreter's hash says nothing: its script identifies the server.
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

/** The pinned tools translated with the current grants: the same words, perhaps another effect. */
export function translatedAnew(server: LockedServer): LockedServer["reviewed"] {
  const { tools: translated } = translate(
    server.name,
    server.reviewed.map((each) => each.words),
    server,
  );
  const tools = new Map(translated.map((each) => [each.tool, each]));
  return server.reviewed.map((each) => {
    const tool = tools.get(each.words.name);
    return tool === undefined ? each : { ...each, tool: importedTool(tool) };
  });
}

/** A server's tools without warnings, as they would be pinned. */
export function unflaggedTools(
  { name, grants, launch }: Pick<ImportedServer, "name" | "grants" | "launch">,
  words: ServerListing,
): ImportedServer["tools"] {
  const { tools } = translate(name, words.tools, { grants, launch });
  return tools.filter(({ flags }) => flags.length === 0).map((tool) => importedTool(tool));
}

/**
 * Reviews a server's listing. Look-alikes are searched for among `servers`, those of remit.lock,
 * and `own`, the names of Remit's tools.
 */
export function reviewOf(
  { disk }: { readonly disk: Pick<DiskRead, "read"> },
  server: LockedServer,
  look: {
    readonly words: ServerListing;
    readonly servers: readonly LockedServer[];
    readonly own: readonly string[];
  },
): McpReview {
  const { words, own } = look;
  const others = look.servers.filter((each) =>
    each.name !== server.name && codeOf(disk, each) !== codeOf(disk, server)
  )
    .map(({ name, reviewed }) => ({ name, tools: reviewed.map((each) => each.words) }));
  const translation = translate(server.name, words.tools, { ...server, own, others });
  const off = server.reviewed.filter((each) => each.off).map((each) => each.words.name);
  const pinned = new Map(server.reviewed.map((each) => [each.words.name, each]));
  const listedTools = new Map(words.tools.map((each) => [each.name, each]));
  const digests = new Map(words.tools.map((each) => [each.name, toolDigest(each)]));
  const rows = reviewRows(translation, off).map((row): StandingRow => {
    const before = pinned.get(row.tool);
    if (before === undefined) return { ...row, stands: "new" };
    const same = before.tool.digest === digests.get(row.tool);
    return { ...row, stands: same ? "pinned" : "changed" };
  });
  return {
    ...{ server, words, translation, rows },
    flags: serverFlags(words, { server: server.name, tools: words.tools, own, others }),
    changes: rows.filter(({ stands }) => stands === "changed").map(({ tool }) => ({
      tool,
      lines: diffWords(pinned.get(tool)?.words, listedTools.get(tool)),
    })),
    gone: [...pinned.keys()].filter((tool) => !listedTools.has(tool)),
  };
}

interface Approval {
  /** The server's names of tools; absent: every tool. */
  readonly tools: readonly string[] | undefined;
  /** Approve flagged tools, too. */
  readonly flagged: boolean;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The approver's name. */
  readonly by: string;
}

/** The outcome of an approval. */
export interface Approved {
  readonly server: LockedServer;
  /** The server's names of the tools that were pinned. */
  readonly approved: readonly string[];
  /** Tools that were not pinned, and why; holds untrusted text. */
  readonly left: readonly { readonly tool: string; readonly why: string }[];
  /** Its resources and prompts were not offered to tasks, since a warning concerns them or the server. */
  readonly withheld: boolean;
}

/** The reason for a tool that only a person can judge. */
export const FLAGGED = "flagged";

function whyLeft(row: StandingRow, approval: Approval): string | undefined {
  if (row.refused !== undefined) return row.refused;
  if (approval.tools !== undefined && !approval.tools.includes(row.tool)) return "not named";
  if (row.plain || row.stands === "pinned" || approval.flagged) return undefined;
  return FLAGGED;
}

/** Pins the tools of a review that `approval` covers; writes nothing. */
export function approve(review: McpReview, approval: Approval): Approved {
  const { server, words } = review;
  const before = new Map(server.reviewed.map((each) => [each.words.name, each]));
  const listedTools = new Map(words.tools.map((each) => [each.name, each]));
  const translated = new Map(review.translation.tools.map((each) => [each.tool, each]));
  const approved: string[] = [];
  const left: { tool: string; why: string }[] = [];
  const reviewed: LockedTool[] = [];
  const pin = (row: StandingRow, tool: TranslatedTool): void => {
    const listed = listedTools.get(row.tool);
    if (listed === undefined) return;
    const old = before.get(row.tool);
    approved.push(row.tool);
    reviewed.push({
      words: listed,
      tool: importedTool(tool),
      at: Millis.parse(approval.at),
      by: approval.by,
      off: old?.off ?? false,
    });
  };
  for (const row of review.rows) {
    const tool = translated.get(row.tool);
    const why = whyLeft(row, approval);
    if (why === undefined && tool !== undefined) {
      pin(row, tool);
      continue;
    }
    if (why !== "not named") left.push({ tool: row.tool, why: why ?? "it was refused" });
    // An earlier pin stays: changed words remain suspended until they are approved.
    const old = before.get(row.tool);
    if (old !== undefined) reviewed.push(old);
  }
  const whole = approval.tools === undefined;
  const offered = review.flags.length === 0 || approval.flagged;
  const { resources, templates, prompts } = words;
  const others = resources.length + templates.length + prompts.length;
  return {
    approved,
    left,
    withheld: whole && !offered && others > 0,
    server: {
      ...server,
      // A server without a pinned tool keeps waiting.
      state: reviewed.length > 0 || words.tools.length === 0 ? "approved" : server.state,
      reviewed,
      ...(whole
        ? {
          offers: {
            resources: offered && resources.length + templates.length > 0,
            prompts: offered && prompts.length > 0,
          },
        }
        : {}),
      seen: { name: words.server.name, version: words.server.version, protocol: words.protocol },
    },
  };
}

/** The `--json` document of a review: everything that a person sees, and the exact descriptors. */
export function reviewDocument(
  review: McpReview,
  look: Pick<McpLook, "accesses"> & Partial<McpLook>,
): Record<string, unknown> {
  const { server, words, rows, translation } = review;
  const translated = new Map(translation.tools.map((each) => [each.tool, each]));
  return {
    ...{ name: server.name, state: server.state, launch: server.launch, from: server.from },
    ...{ grants: server.grants, env: Object.keys(server.env), secretEnv: server.secretEnv },
    ...{ secretHeaders: server.secretHeaders, clearance: server.clearance },
    packages: server.packages.length,
    verified: server.packages.filter((each) => each.verified).length,
    notes: server.notes,
    asked: look.accesses,
    ...{ readyMs: look.readyMs, bytes: look.bytes },
    says: { ...words.server, protocol: words.protocol, capabilities: words.capabilities },
    tools: rows.map(({ tool, stands, off, plain, flags, notes, refused }) => {
      const { name, effect, holds, description, paramSchema, resultSchema, digest } =
        translated.get(tool) ?? {};
      return {
        ...{ tool, stands, off, plain, flags, notes, refused, name, effect, holds, description },
        ...{ paramSchema, resultSchema, digest },
      };
    }),
    flags: review.flags,
    changes: review.changes,
    gone: review.gone,
    left: words.left,
  };
}
