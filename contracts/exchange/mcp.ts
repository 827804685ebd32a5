/**
 * Imported MCP servers: how one is run, what it was granted, which of its tools a person reviewed.
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
 * What stands for a server in its tools' names, `mcp_PART_TOOL`: the name without `-` and `_`, so that the first `_`
 * behind it ends it. No two servers of a remit.lock have one part.
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
/** A unix socket, by its real path. Whoever listens there obeys no wall of the server's. */
export const McpSocket = z.string().max(4_101).regex(
  /^unix:\/(?!.*(?:^|\/)\.{0,2}(?:\/|$))[^\p{Cc},]+$/u,
);
/** A name of an environment variable. None that steers Deno, a loader or a proxy is ever handed over. */
export const McpEnvName = z.string().regex(
  /^(?!DENO_|OTEL_|LD_|NODE_OPTIONS$|[A-Za-z]*_?PROXY$|PATH$|HOME$|TMPDIR$)[A-Za-z_][A-Za-z0-9_]{0,127}$/i,
);

/** A tree of files that a server's code lies in: STATE/mcp/trees/ID, written once, checked before each start. */
export const McpTree = z.object({
  id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/),
  /** SHA-256 over the sorted lines `MODE SHA256 PATH\n` of all its files (links: their target's). */
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
    /** Where its packages came from; Deno names folders of the tree by it. */
    registry: z.string().max(1_024).optional(),
  }).strict(),
  /** A program of this machine (python3, node, a binary) within a namespace: no live decisions. */
  z.object({
    kind: z.literal("program"),
    program: path,
    /** Of the program's own bytes. */
    sha256: Digest,
    args: z.array(z.string().max(4_096)).max(64),
    /** Bound read-only beside the machine's libraries: where its code lies. */
    folders: z.array(path).max(16),
    /** Bound read-only as `/tree`, which arguments and `PYTHONPATH` may name. */
    tree: McpTree.optional(),
    env: z.record(McpEnvName, z.string().max(8_192)).optional(),
  }).strict(),
  /** At a URL: Streamable HTTP, or with `a2a` an A2A peer, whose skills are the tools `a2a_NAME_SKILL`. One origin. */
  z.object({
    kind: z.literal("http"),
    /** Of the endpoint; for a peer, of its card. */
    url: z.string().max(2_048).regex(/^https?:\/\//),
    a2a: z.object({
      /** Of the interface that the card names and that is spoken to: the card's own origin. */
      endpoint: z.string().max(2_048).regex(/^https?:\/\//),
      binding: z.enum(["JSONRPC", "HTTP+JSON"]),
      /** Thumbprints (RFC 7638, base64url) of the keys that signed the card; empty: nobody signed it. */
      keys: z.array(z.string().max(64)).max(8),
    }).strict().optional(),
  }).strict(),
]);
export type McpLaunch = z.infer<typeof McpLaunch>;

/** What a server may reach: never `run`, `ffi`, `sys`. A server at a URL has its origin and nothing else. */
export const McpGrants = z.object({
  /** Real paths of files or folders; a folder covers what lies beneath it. */
  read: z.array(path).max(64),
  /** Changes are staged, unless {@link ImportedServer.direct} says otherwise. */
  write: z.array(path).max(64),
  /** Hosts, and unix sockets of this machine as `unix:/path`. */
  net: z.array(z.union([McpHost, McpSocket])).max(64),
}).strict();
export type McpGrants = z.infer<typeof McpGrants>;

/** Paths of the unix sockets among what a server may reach. */
export function mcpSocketsOf(net: readonly string[]): string[] {
  return net.filter((each) => each.startsWith("unix:")).map((each) => each.slice("unix:".length));
}

/** Grants of nothing. */
export const NO_GRANTS: McpGrants = Object.freeze({ read: [], write: [], net: [] });

/** A reviewed tool of an imported server. */
export const ImportedTool = z.object({
  /** `mcp_SERVER_TOOL`, in the characters of tool names. */
  name: ToolName,
  /** Its name on the wire. */
  tool: McpToolName,
  /** As a model is shown it: data with its provenance, bounded. */
  description: z.string().min(1).max(4_096),
  /** JSON Schema of the arguments, bounded, as JSON text. */
  paramSchema: z.string().min(2).max(65_536),
  /** Bounded as well; a result's structured content is held against it. */
  resultSchema: z.string().min(2).max(65_536).optional(),
  /** The highest that the server's grants allow during its calls, raised by annotations. */
  effect: EffectClass,
  /** `read`: it is taken to only read, and the process that serves its calls can do no more. */
  holds: z.enum(["read", "all"]),
  /** A call may be made again after a crash. */
  idempotent: z.boolean(),
  /** Of what the server said: name, title, description, schemas, annotations. It changes: suspended. */
  digest: Digest,
}).strict();
export type ImportedTool = z.infer<typeof ImportedTool>;

/** A server as a task is handed it: everything of it was reviewed and is pinned. */
export const ImportedServer = z.object({
  name: McpServerName,
  launch: McpLaunch,
  grants: McpGrants,
  /** Of `grants.write`: what is changed there goes into the folder after each call; all else is staged. */
  direct: z.array(path).max(64).optional(),
  /** Of `grants.write`: those that were files, and not folders, when it was handed over. */
  files: z.array(path).max(64).optional(),
  /** Plain values of its environment. */
  env: z.record(McpEnvName, z.string().max(8_192)),
  /** Variables whose values the operator keeps as secrets: lent to the kernel, `lendMcp`. */
  secretEnv: z.array(McpEnvName).max(64),
  /** Headers of requests to it that are kept as secrets; OAuth's `authorization` among them. */
  secretHeaders: z.array(z.string().regex(/^[a-z][a-z0-9-]{0,63}$/)).max(16),
  tools: z.array(ImportedTool).max(512),
  /** Tools `mcp_NAME_resource` and `mcp_NAME_prompt` are offered, too. */
  offers: z.object({ resources: z.boolean(), prompts: z.boolean() }).strict(),
  /** Tokens that its requests for inference may use in a task, each with a person's consent; 0: none. */
  samplingTokens: z.int().min(0).max(10_000_000),
  /** It may ask the person for input. */
  elicitation: z.boolean(),
  /** The most confidential text that may be sent to it. */
  clearance: Label,
  /** The protocol revision that it spoke at its review: asked for first. Absent: nobody knows. */
  revision: z.string().max(32).optional(),
}).strict();
export type ImportedServer = z.infer<typeof ImportedServer>;

/** What a server says of one tool: untrusted, bounded in size and depth, not yet translated. */
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

/** What a server says of one resource or template: untrusted, bounded. */
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

/** What a server says of one prompt: untrusted, bounded. */
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

/** Everything a server says of itself: the answer of a first look. */
export const ServerListing = z.object({
  /** Protocol revision in use, `2025-11-25`. */
  protocol: z.string().max(32),
  server: z.object({
    name: z.string().max(256),
    version: z.string().max(128),
    title: z.string().max(256).optional(),
  }).strict(),
  instructions: z.string().max(65_536).optional(),
  /** Names of what it can: `tools`, `resources`, `prompts`, `logging`, `completions`, `tasks`. */
  capabilities: z.array(z.string().max(64)).max(32),
  tools: z.array(McpToolWords).max(512),
  resources: z.array(McpResourceWords).max(512),
  templates: z.array(McpResourceWords).max(256),
  prompts: z.array(McpPromptWords).max(256),
  /** What was left out for its size or form, a sentence each. */
  left: z.array(z.string().max(512)).max(64),
}).strict();
export type ServerListing = z.infer<typeof ServerListing>;

/** One kind of access that a server asked for, and what became of it. */
export interface McpAccess {
  readonly permission: "read" | "write" | "net" | "env" | "run" | "sys" | "ffi" | "import";
  /** A path, a host, a name; null asks for all. */
  readonly value: string | null;
  readonly allowed: boolean;
  readonly times: number;
}

/** What a first look or an inspection found. */
export interface McpLook {
  /** Absent when it never came so far: `ended` says why. */
  readonly words?: ServerListing;
  readonly accesses: readonly McpAccess[];
  /** What it printed as errors, capped: untrusted. */
  readonly errors: string;
  /** How it ended by itself, if it did. */
  readonly ended?: string;
  /** Milliseconds from its start to the answer of `initialize`. */
  readonly readyMs?: number;
  /** Bytes of proportional memory when it was ready. */
  readonly bytes?: number;
}

/** Using a server at all: its own part, so that it covers none of the server's grants. */
export function mcpUse(name: string): Scope {
  return { resource: "mcp", right: "use", path: `${name}/call` };
}

/** A file or folder that a server was granted, by its absolute path. */
export function mcpFile(name: string, right: "read" | "write", path: string): Scope {
  return { resource: "mcp", right, path: path === "/" ? name : `${name}${path}` };
}

/** A host that a server was granted, `host:port`. */
export function mcpNet(name: string, host: string): Scope {
  return { resource: "mcp", right: "use", path: `${name}/net/${host}` };
}

/** `host:port` of an address. @throws TypeError when it is none */
export function mcpHostOf(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  return `${hostname}:${port === "" ? protocol === "https:" ? "443" : "80" : port}`;
}

/** Everything that a task is granted of a server: one lease each. */
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
