/**
 * Imported MCP servers: how a server is run, its grants, and its reviewed tools.
 * @module
 */
import * as z from "zod";
import { EffectClass, Label } from "../authority/colour.ts";
import { Digest, ToolName } from "../authority/ids.ts";
import type { Scope } from "../authority/lease.ts";

/** A server's name. */
export const McpServerName = z.string().max(24).regex(/^[a-z](?:[-_]?[a-z0-9])*$/)
  .brand<"McpServerName">();
export type McpServerName = z.infer<typeof McpServerName>;

/**
 * The server's part of its tools' names, `mcp_PART_TOOL`: the name without `-` and `_`, so that the
 * next `_` ends it. Unique within a remit.lock.
 */
export function mcpPart(name: string): string {
  return name.replace(/[-_]/g, "");
}

/** A tool's name as its server writes it: untrusted. */
export const McpToolName = z.string().min(1).max(256);

/** An absolute path without `.` and `..` parts, commas and control characters. */
const path = z.string().max(4_096).regex(/^\/(?!.*(?:^|\/)\.{1,2}(?:\/|$))[^\p{Cc},]*$/u);
/** `host:port`, in lower case. */
export const McpHost = z.string().max(260).regex(/^[a-z0-9.-]{1,253}:[0-9]{1,5}$/);
/** A unix socket by its real path. The listening program is outside the server's walls. */
export const McpSocket = z.string().max(4_101).regex(
  /^unix:\/(?!.*(?:^|\/)\.{0,2}(?:\/|$))[^\p{Cc},]+$/u,
);
/** Name of an environment variable; those that control Deno, a loader or a proxy are excluded. */
export const McpEnvName = z.string().regex(
  /^(?!DENO_|OTEL_|LD_|NODE_OPTIONS$|[A-Za-z]*_?PROXY$|PATH$|HOME$|TMPDIR$)[A-Za-z_][A-Za-z0-9_]{0,127}$/i,
);

/** The file tree of a server's code: STATE/mcp/trees/ID, written once, verified before each start. */
export const McpTree = z.object({
  id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/),
  /** SHA-256 over the sorted lines `MODE SHA256 PATH\n` of all its files (for links: of the target). */
  sha256: Digest,
  files: z.int().min(1).max(200_000),
  bytes: z.int().min(1).max(2_000_000_000),
}).strict();
export type McpTree = z.infer<typeof McpTree>;

/** How a server is run. */
export const McpLaunch = z.discriminatedUnion("kind", [
  /** `deno run npm:PACKAGE@VERSION/BIN`, under the permission broker within a namespace. */
  z.object({
    kind: z.literal("npm"),
    package: z.string().max(214).regex(/^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/),
    version: z.string().max(128).regex(/^[0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+-]*$/),
    bin: z.string().max(128).regex(/^[A-Za-z0-9._-]+$/).optional(),
    args: z.array(z.string().max(4_096)).max(64),
    tree: McpTree,
    /** Registry of its packages; Deno names folders of the tree after it. */
    registry: z.string().max(1_024).optional(),
  }).strict(),
  /** A program of this machine (python3, node, a binary) in a namespace, without decisions while it runs. */
  z.object({
    kind: z.literal("program"),
    program: path,
    /** SHA-256 of the program's bytes. */
    sha256: Digest,
    args: z.array(z.string().max(4_096)).max(64),
    /** Folders with its code, mounted read-only beside the machine's libraries. */
    folders: z.array(path).max(16),
    /** Mounted read-only as `/tree`, which arguments and `PYTHONPATH` may name. */
    tree: McpTree.optional(),
    env: z.record(McpEnvName, z.string().max(8_192)).optional(),
  }).strict(),
  /** At a URL: Streamable HTTP, or with `a2a` an A2A peer, whose skills are the tools `a2a_NAME_SKILL`. One origin. */
  z.object({
    kind: z.literal("http"),
    /** The endpoint; for a peer, its card. */
    url: z.string().max(2_048).regex(/^https?:\/\//),
    a2a: z.object({
      /** The interface in use, named by the card and at the card's own origin. */
      endpoint: z.string().max(2_048).regex(/^https?:\/\//),
      binding: z.enum(["JSONRPC", "HTTP+JSON"]),
      /** Thumbprints (RFC 7638, base64url) of the keys that signed the card; empty for an unsigned card. */
      keys: z.array(z.string().max(64)).max(8),
    }).strict().optional(),
  }).strict(),
]);
export type McpLaunch = z.infer<typeof McpLaunch>;

/** What a server may access; never `run`, `ffi` or `sys`. A server at a URL has only its own origin. */
export const McpGrants = z.object({
  /** Real paths of files or folders; a folder covers everything beneath it. */
  read: z.array(path).max(64),
  /** Changes are staged, except in {@link ImportedServer.direct}. */
  write: z.array(path).max(64),
  /** Hosts, and unix sockets of this machine as `unix:/path`. */
  net: z.array(z.union([McpHost, McpSocket])).max(64),
}).strict();
export type McpGrants = z.infer<typeof McpGrants>;

/** Paths of the unix sockets in a server's network grants. */
export function mcpSocketsOf(net: readonly string[]): string[] {
  return net.filter((each) => each.startsWith("unix:")).map((each) => each.slice("unix:".length));
}

/** Empty grants. */
export const NO_GRANTS: McpGrants = Object.freeze({ read: [], write: [], net: [] });

/** A reviewed tool of an imported server. */
export const ImportedTool = z.object({
  /** `mcp_SERVER_TOOL`, in the characters of tool names. */
  name: ToolName,
  /** Its name on the wire. */
  tool: McpToolName,
  /** The description for models: data with its provenance, bounded. */
  description: z.string().min(1).max(4_096),
  /** JSON Schema of the arguments, bounded, as JSON text. */
  paramSchema: z.string().min(2).max(65_536),
  /** Bounded as well; structured content of results is checked against it. */
  resultSchema: z.string().min(2).max(65_536).optional(),
  /** The gravest effect that the server's grants allow during its calls, raised by annotations. */
  effect: EffectClass,
  /** `read`: treated as read-only, and the process that serves its calls can do no more. */
  holds: z.enum(["read", "all"]),
  /** Whether a call may be repeated after a crash. */
  idempotent: z.boolean(),
  /** Digest of the server's own name, title, description, schemas and annotations. A tool that differs is suspended. */
  digest: Digest,
}).strict();
export type ImportedTool = z.infer<typeof ImportedTool>;

/** A server as a task holds it: all of it reviewed and pinned. */
export const ImportedServer = z.object({
  name: McpServerName,
  launch: McpLaunch,
  grants: McpGrants,
  /** The part of `grants.write` whose changes are applied after each call; all others are staged. */
  direct: z.array(path).max(64).optional(),
  /** The part of `grants.write` that were files and not folders when the server was granted. */
  files: z.array(path).max(64).optional(),
  /** Plain values of its environment. */
  env: z.record(McpEnvName, z.string().max(8_192)),
  /** Variables with secret values, which the operator lends to the kernel (`lendMcp`). */
  secretEnv: z.array(McpEnvName).max(64),
  /** Request headers with secret values, including OAuth's `authorization`. */
  secretHeaders: z.array(z.string().regex(/^[a-z][a-z0-9-]{0,63}$/)).max(16),
  tools: z.array(ImportedTool).max(512),
  /** Whether the tools `mcp_NAME_resource` and `mcp_NAME_prompt` are offered. */
  offers: z.object({ resources: z.boolean(), prompts: z.boolean() }).strict(),
  /** Tokens that its inference requests may use in a task, each with a person's consent. */
  samplingTokens: z.int().min(0).max(10_000_000),
  /** Whether it may ask the person for input. */
  elicitation: z.boolean(),
  /** Highest label of text that may be sent to it. */
  clearance: Label,
  /** Protocol revision at its review, requested first; absent if unknown. */
  revision: z.string().max(32).optional(),
}).strict();
export type ImportedServer = z.infer<typeof ImportedServer>;

/** A server's description of one tool: untrusted, bounded in size and depth, not yet translated. */
export const McpToolWords = z.object({
  name: McpToolName,
  title: z.string().max(1_024).optional(),
  description: z.string().max(65_536).optional(),
  inputSchema: z.record(z.string(), z.json()),
  outputSchema: z.record(z.string(), z.json()).optional(),
  annotations: z.object({
    title: z.string().max(1_024).optional(),
    readOnlyHint: z.boolean().optional(),
    destructiveHint: z.boolean().optional(),
    idempotentHint: z.boolean().optional(),
    openWorldHint: z.boolean().optional(),
  }).optional(),
}).strict();
export type McpToolWords = z.infer<typeof McpToolWords>;

/** A server's description of one resource or template: untrusted, bounded. */
export const McpResourceWords = z.object({
  /** Set on resources. */
  uri: z.string().max(4_096).optional(),
  /** Set on templates. */
  uriTemplate: z.string().max(4_096).optional(),
  name: z.string().max(512),
  title: z.string().max(1_024).optional(),
  description: z.string().max(8_192).optional(),
  mimeType: z.string().max(256).optional(),
  size: z.number().optional(),
}).strict();
export type McpResourceWords = z.infer<typeof McpResourceWords>;

/** A server's description of one prompt: untrusted, bounded. */
export const McpPromptWords = z.object({
  name: z.string().min(1).max(256),
  title: z.string().max(1_024).optional(),
  description: z.string().max(8_192).optional(),
  arguments: z.array(
    z.object({
      name: z.string().min(1).max(256),
      description: z.string().max(4_096).optional(),
      required: z.boolean().optional(),
    }).strict(),
  ).max(64),
}).strict();
export type McpPromptWords = z.infer<typeof McpPromptWords>;

/** A server's complete description of itself: the result of the first inspection. */
export const ServerListing = z.object({
  /** Protocol revision in use, `2025-11-25`. */
  protocol: z.string().max(32),
  server: z.object({
    name: z.string().max(256),
    version: z.string().max(128),
    title: z.string().max(256).optional(),
  }).strict(),
  instructions: z.string().max(65_536).optional(),
  /** Names of its capabilities: `tools`, `resources`, `prompts`, `logging`, `completions`, `tasks`. */
  capabilities: z.array(z.string().max(64)).max(32),
  tools: z.array(McpToolWords).max(512),
  resources: z.array(McpResourceWords).max(512),
  templates: z.array(McpResourceWords).max(256),
  prompts: z.array(McpPromptWords).max(256),
  /** Sentences about parts omitted for their size or form. */
  left: z.array(z.string().max(512)).max(64),
}).strict();
export type ServerListing = z.infer<typeof ServerListing>;

/** An access that a server requested, and whether it was allowed. */
export interface McpAccess {
  readonly permission: "read" | "write" | "net" | "env" | "run" | "sys" | "ffi" | "import";
  /** A path, host or name; null for all. */
  readonly value: string | null;
  readonly allowed: boolean;
  readonly times: number;
}

/** The result of an inspection. */
export interface McpLook {
  /** Absent if the server ended before answering; `ended` says why. */
  readonly words?: ServerListing;
  readonly accesses: readonly McpAccess[];
  /** Its standard error, capped. Untrusted. */
  readonly errors: string;
  /** How the server ended, if it ended by itself. */
  readonly ended?: string;
  /** Milliseconds from its start to the answer of `initialize`. */
  readonly readyMs?: number;
  /** Bytes of proportional memory when it was ready. */
  readonly bytes?: number;
}

/** Scope for using a server at all; a separate path so that it covers none of the server's grants. */
export function mcpUse(name: string): Scope {
  return { resource: "mcp", right: "use", path: `${name}/call` };
}

/** Scope of a file or folder granted to a server, by its absolute path. */
export function mcpFile(name: string, right: "read" | "write", path: string): Scope {
  return { resource: "mcp", right, path: path === "/" ? name : `${name}${path}` };
}

/** Scope of a host granted to a server, `host:port`. */
export function mcpNet(name: string, host: string): Scope {
  return { resource: "mcp", right: "use", path: `${name}/net/${host}` };
}

/** `host:port` of a URL. @throws TypeError for an invalid URL */
export function mcpHostOf(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  return `${hostname}:${port === "" ? protocol === "https:" ? "443" : "80" : port}`;
}

/** All scopes that a task holds for a server, one lease each. */
export function mcpScopes(server: Pick<ImportedServer, "name" | "launch" | "grants">): Scope[] {
  const { name, launch, grants } = server;
  const net = launch.kind === "http" ? [mcpHostOf(launch.url)] : grants.net;
  return [
    mcpUse(name),
    ...grants.read.map((path) => mcpFile(name, "read", path)),
    ...grants.write.map((path) => mcpFile(name, "write", path)),
    ...net.map((host) => mcpNet(name, host)),
  ];
}
