/**
 * What a command line and the kernel say to each other on the control socket (0600). Whoever can
 * connect is the operator's own user. First request: `hello`.
 *
 * | op | body | answer |
 * |---|---|---|
 * | hello | {@link Hello} | {@link Welcome} |
 * | run | TaskRequest | `{ task }` |
 * | say | `{ task, text }` one more turn of an interactive task | `null` |
 * | model | `{ task, model }` for its first process, from the next inference on | `null` |
 * | embed | `{ model, texts, label }` the operator's own texts, at most 256 | {@link Vectors} |
 * | ask | `{ model, system, user, responseSchema?, maxTokens, temperature?, label, colour }` | {@link ModelAnswer} |
 * | lend | {@link Secret} held in memory, for model services alone | `null` |
 * | watch | `{ task, from }` then events `event` ({@link WatchEvent}) and `end` | `null` |
 * | log | `{ task, from }` | {@link WatchEvent}[] |
 * | context | `{ task }` | {@link ContextRow}[] |
 * | contextShow | `{ task, number, from }` what gave way | {@link MessagePage} |
 * | contextRestore | `{ task, number }` | `{ number, before, after }` |
 * | conversations | `null`; expired ones are erased first | {@link ConversationRow}[] |
 * | conversation | `{ conversation, turn?, from }` a name or a task | {@link MessagePage} |
 * | conversationName | `{ task, name }` | NamedConversation |
 * | conversationFork | `{ conversation, turn?, name?, message?, model?, session, ingress }` | `{ task }` |
 * | conversationExpire | `{ name, afterMs? }` | NamedConversation |
 * | conversationRemove | `{ name }` | `null` |
 * | tasks | `{ archived?, statuses?, prefix?, before?, limit? }` the newest, 1,000 at most; `before` a task goes on | AgentTask[] |
 * | head | `null` the hash of the log's last seal | `{ head }` |
 * | task | `{ task }` | AgentTask |
 * | cancel, resume, archive, purge | `{ task }` | AgentTask |
 * | interrupt | `{ task, second, signal? }` what was sent in place of a key | `null` |
 * | ps | `null` | {@link ProcessInfo}[] |
 * | kill | `{ pid, signal }` | `null` |
 * | questions | `{ task? }` | Question[] |
 * | question | `{ question }` | Question |
 * | answer | Answer | Question |
 * | staged | `{ task }` | {@link Staged} |
 * | undo | `{ task, files? }` of these paths, else of the newest patch | UndoOutcome |
 * | tools | `{ task }` | ToolDescriptor[] |
 * | caps | `{ task }` its live ones | Lease[] |
 * | grants | `{ task? }` | answers that are remembered |
 * | can | `{ agent, tool, arguments, profile, mounts?, memory?, mcp? }` | Decision |
 * | leases | `{ task? }` | Lease[] |
 * | revoke | `{ lease }` | `{ revoked }` |
 * | outbox, release | `{ task? }`, `{ artifact }` | Artifact[], Artifact |
 * | extend | `{ task, limits }` | AgentTask |
 * | auditQuery | filters, all must hold | AuditRecord[], the first page |
 * | costs | `{ since, until? }` what inferences cost, by day, model and payer | CostRow[] |
 * | budgets | `null` budgets over many tasks, in their day or month | BudgetStanding[] |
 * | workspaces | `{ do, task? }` scratch of tasks that are over: list, keep, release, promoted | WorkspaceStanding[] |
 * | profiles | `{ do, … }` browser profiles: list, approve, forget, import; no value of a cookie comes back | as asked |
 * | use | `{ amounts, doing, past }` what the operator's own programs take of budgets | `null` |
 * | auditExport | `null` | lines of the log, the first page |
 * | more | `null` what follows in this connection's last answer of pages; empty: nothing | as there |
 * | auditVerify | `{ head? }` | what was found, the first bad event named |
 * | auditRepair | `null` | what was kept and cut |
 * | fleet | `{ kind, … }` as kernel/control/fleet_ops.ts has it; refused where the log is no database's | as asked |
 * | receipts | `{ task, call? }` | Receipt[] |
 * | mcpLook | `{ server: ImportedServer, observe, deadlineMs }` starts it, asks what it says of itself, ends it | McpLook |
 * | mcpLend | {@link McpLoan} held in memory for that server | `null` |
 * | mcpTokens | `{ server }` after a refresh, to be kept | {@link McpOAuth} or `null` |
 * | mcpRevoke | `{ server }` ends its processes and leases in every task | `{ ended }` |
 * | mcpLog | `{ server, limit }` newest last | {@link McpLogEntry}[] |
 * | inbox | `{ box?, state? }` | InboxEntry[] |
 * | inboxShow | `{ id }` | InboxEntry |
 * | inboxPut | `{ message, stamp }` by the operator's own programs; `message.sender` is theirs to stamp | PutOutcome |
 * | inboxRelease | `{ id }` what was held becomes a task, what was quarantined waits for its turn | InboxEntry |
 * | inboxDismiss | `{ id, why }` | InboxEntry |
 * | inboxMute, inboxUnmute | `{ sender, why }`, `{ sender }` | `null` |
 * | inboxMuted | `null` | MutedSender[] |
 * | peerSend | PeerSend; with `watch` it then tells as `peerWatch` | Exchange |
 * | peerGet, peerCancel | `{ peer?, exchange }` absent: the operator's own | Exchange |
 * | peerList | PeerQuery, without `peer` for the operator | PeerPage |
 * | peerWatch | `{ peer?, exchange, progress? }` then events `exchange` `{ exchange, event }`; of the agent's words while it works unless `progress` is false | Exchange |
 * | peerUnwatch | `{ exchange }` what this connection watches | `null` |
 * | peerPush | `{ peer, exchange, op }` as in wire_a2a.ts | PushConfig[] |
 * | peerExport | `{ exchange, artifact }` a released artifact is shown to the peer | Exchange |
 * | peerReply | `{ exchange, text }` the operator's words to the peer | Exchange |
 * | peerErase | `{ exchange }` or `{ before, peer? }`: finished ones, their content | `{ erased }` |
 * | peerDue | `{ limit? }`; then told `peerDue` when there is more | PeerDue[] |
 * | peerDelivered | `{ exchange, config, version, ok, again? }` not before `again` | `null` |
 * | deliver | `{ url, headers, body, origins }` one POST by the net service, within these origins | `{ status }` |
 * | delegate | `{ key, expiresAt, signature }` a key that answers consent alone, signed by the person's | `null` |
 * | undelegate | `{ key }` | `null` |
 * | counts | `null` | {@link StateCounts} |
 * | ended | `{ after }` tasks that ended, by place; null: from now on | {@link EndedTasks} |
 * | spans | `{ task }` what it did and when, without content | {@link TaskSpan}[] |
 * | retain | `{ before, dryRun }` what ended earlier is archived and purged | {@link RetainReport} |
 * | secrets | `{ digest, secrets }` what is kept from now on | `null` |
 * | stop | `null` ends the kernel when idle; `{ force }` now | `null` |
 * @module
 */
import type { FailPoint } from "../task/process.ts";
import type { GrantedCommand } from "../tool/command.ts";
import type { PluginManifest } from "../tool/plugin.ts";
import type { BrowserChoice, PolicySource } from "../policy/policy.ts";

/** Version of the control protocol; a kernel refuses another. */
export const CONTROL_VERSION = 1;

/** First request of a connection. */
export interface Hello {
  readonly version: number;
  readonly harness: string;
}
/** Answer to `hello`. */
export interface Welcome {
  readonly version: number;
  readonly harness: string;
  readonly pid: number;
  /** Raw Ed25519 public key of the receipts, base64url. */
  readonly receiptKey: string;
  /** Digest of the rules that it was started with. */
  readonly rules: string;
  readonly head: string;
  /** Digest of the secrets that it keeps, as they were sealed. */
  readonly secrets: string;
}

/** What init tells a kernel on its standard input, one line, before anything else. */
export interface KernelConfig {
  /** STATE/kernel. */
  readonly dir: string;
  /** Runtime folder for sockets, mode 0700. */
  readonly runtime: string;
  /** Bundled child entries, by role. */
  readonly bundles: {
    readonly worker: string;
    readonly toolhost: string;
    readonly model: string;
    readonly plugin: string;
    readonly net: string;
    readonly copy: string;
    /** Empty where the static browser is enough. */
    readonly browser: string;
    /** Model services beside the scripted one. Each is built when a model first needs it. */
    readonly remote: string;
    readonly local: string;
    readonly native: string;
    /** What speaks to a database: built where the log lies in one. */
    readonly store: string;
    /** The wiki's process: built when a task is first handed a wiki. */
    readonly wiki: string;
    /** A client of one MCP server, the check of a server's tree, the way out of a namespace: built with the first server. */
    readonly mcp: string;
    readonly mcpTree: string;
    readonly mcpRelay: string;
    /** A client of one A2A peer: built with the first. */
    readonly a2a: string;
    /** What speaks to an agent of others, and the way to its provider: built with the first. */
    readonly agentClient: string;
    readonly agentRelay: string;
  };
  /** Where weights lie, as SHA-256.gguf: STATE/models. */
  readonly weights: string;
  /** llama.cpp's native addon, beside its libraries: there once it was fetched. */
  readonly addon: string;
  readonly browser: BrowserChoice;
  /** Absolute paths of the programs that the kernel may run. */
  readonly programs: {
    readonly deno: string;
    readonly bwrap?: string;
    readonly setpriv?: string;
    readonly prlimit?: string;
    readonly nice?: string;
  };
  /**
   * Stands in the arguments of every wall that this kernel makes, so that what it left can be told from all else. The
   * kernel makes it when it starts.
   */
  readonly mark?: string;
  /** Pre-warmed code cache, shared read-only. */
  readonly denoDir: string;
  /** Raw Ed25519 public keys that may answer: the person's, and the passphrase key for stepUp. */
  readonly personKey: string;
  readonly stepUpKey?: string;
  readonly policy: PolicySource;
  /** Plugins that were built with this version or added by the operator. */
  readonly tools: {
    /** The module that runs scripts. */
    readonly engine?: PluginFile;
    readonly plugins: readonly (Pick<PluginFile, "file"> & {
      readonly manifest: PluginManifest;
      /** Part of this version, or signed by a key of remit.yaml: shares a host with its like. */
      readonly trusted: boolean;
    })[];
  };
  /** Programs of this machine that remit.yaml grants, found. */
  readonly commands: readonly GrantedCommand[];
  /** What `remit secret` keeps, opened. */
  readonly secrets: readonly Secret[];
  /** Of what is sealed: a digest of values could be guessed back. */
  readonly secretsDigest: string;
  readonly harness: string;
  /** Broker sockets that the kernel may listen on (exact paths granted at start). */
  readonly brokerSockets: readonly string[];
  /** Sockets that the net service may listen on, for servers in namespaces. */
  readonly proxySockets: readonly string[];
  /** STATE/mcp/trees: code of imported servers. */
  readonly mcpTrees: string;
  readonly controlSocket: string;
  /** Ends with the last task when false. */
  readonly stay: boolean;
  /** Milliseconds without work before it ends. */
  readonly idleMs: number;
  /** The file that tells how the login session stands that it was started in; undefined where there is none. */
  readonly session?: string | undefined;
  /** Fault tests only: the kernel kills itself (SIGKILL) the `after`-th time it reaches `at`. */
  readonly failpoint?: { readonly at: FailPoint; readonly after: number };
  /** Workers that are kept warm, and plugin hosts once there was one. */
  readonly pool: { readonly workers: number; readonly plugins: number };
  /** Where the log lies, when it is no file of `dir`. */
  readonly store?: StoreChoice | undefined;
}

/** A log in a database that several kernels may share. */
export interface StoreChoice {
  /** With the role's password. */
  readonly url: string;
  /** The kernel's name in the fleet. */
  readonly kernel: string;
  readonly leaseMs: number;
  /** Names this machine, and where kernels of it share no folder for work, this kernel: a task with mounts goes on nowhere else. */
  readonly machine: string;
  /** A folder that kernels of this machine share, for what tasks stage; absent: each has its own. */
  readonly work?: string | undefined;
}

/** Where a kernel keeps what tasks stage. */
export function workFolder({ dir, store }: Pick<KernelConfig, "dir" | "store">): string {
  return store?.work ?? `${dir}/work`;
}

/** A file that the kernel may read, and what it must hold. */
export interface PluginFile {
  /** Absolute. */
  readonly file: string;
  readonly sha256: string;
}

/** A value that goes into one header of requests to one origin, and is shown to nobody. */
export interface Secret {
  readonly name: string;
  readonly value: string;
  readonly origin: string;
  /** In lower case. */
  readonly header: string;
  /** Put before the value, as `Bearer `. */
  readonly prefix: string;
}
