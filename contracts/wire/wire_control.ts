/**
 * Messages between a command line and the kernel on the control socket (0600). Any process that can
 * connect belongs to the operator's own user. First request: `hello`.
 *
 * | op | body | answer |
 * |---|---|---|
 * | hello | {@link Hello} | {@link Welcome} |
 * | run | TaskRequest | `{ task }` |
 * | say | `{ task, text }` one more turn of an interactive task | `null` |
 * | model | `{ task, model }` for its first process, from the next inference on | `null` |
 * | embed | `{ model, texts, label }` the operator's own texts, at most 256 | {@link Vectors} |
 * | ask | `{ model, system, user, responseSchema?, maxTokens, temperature?, label, colour }` | {@link ModelAnswer} |
 * | lend | {@link Secret} held in memory, for model services only | `null` |
 * | watch | `{ task, from }` then events `event` ({@link WatchEvent}) and `end` | `null` |
 * | log | `{ task, from }` | {@link WatchEvent}[] |
 * | context | `{ task }` | {@link ContextRow}[] |
 * | contextShow | `{ task, number, from }` the compacted messages | {@link MessagePage} |
 * | contextRestore | `{ task, number }` | `{ number, before, after }` |
 * | conversations | `null`; expired ones are erased first | {@link ConversationRow}[] |
 * | conversation | `{ conversation, turn?, from }` a name or a task | {@link MessagePage} |
 * | conversationName | `{ task, name }` | NamedConversation |
 * | conversationFork | `{ conversation, turn?, name?, message?, model?, session, ingress }` | `{ task }` |
 * | conversationExpire | `{ name, afterMs? }` | NamedConversation |
 * | conversationRemove | `{ name }` | `null` |
 * | tasks | `{ archived?, statuses?, prefix?, before?, limit? }` the newest, 1,000 at most; `before` continues before a task | AgentTask[] |
 * | head | `null` the hash of the log's last seal | `{ head }` |
 * | task | `{ task }` | AgentTask |
 * | cancel, resume, archive, purge | `{ task }` | AgentTask |
 * | interrupt | `{ task, second, signal? }` the signal sent in place of a key | `null` |
 * | ps | `null` | {@link ProcessInfo}[] |
 * | kill | `{ pid, signal }` | `null` |
 * | questions | `{ task? }` | Question[] |
 * | question | `{ question }` | Question |
 * | answer | Answer | Question |
 * | staged | `{ task }` | {@link Staged} |
 * | undo | `{ task, files? }` these paths, else the newest patch | UndoOutcome |
 * | tools | `{ task }` | ToolDescriptor[] |
 * | caps | `{ task }` its live leases | Lease[] |
 * | grants | `{ task? }` | remembered answers |
 * | can | `{ agent, tool, arguments, profile, mounts?, memory?, mcp? }` | Decision |
 * | leases | `{ task? }` | Lease[] |
 * | revoke | `{ lease }` | `{ revoked }` |
 * | outbox, release | `{ task? }`, `{ artifact }` | Artifact[], Artifact |
 * | extend | `{ task, limits }` | AgentTask |
 * | auditQuery | filters; all must match | AuditRecord[], the first page |
 * | costs | `{ since, until? }` costs of inferences by day, model and payer | CostRow[] |
 * | budgets | `null` budgets over many tasks, in their current span | BudgetStanding[] |
 * | workspaces | `{ do, task? }` scratch of finished tasks: list, keep, release, promoted | WorkspaceStanding[] |
 * | profiles | `{ do, … }` browser profiles: list, approve, forget, import; never returns a cookie's value | by kind |
 * | use | `{ amounts, doing, past }` budget use of the operator's own programs | `null` |
 * | auditExport | `null` | lines of the log, the first page |
 * | more | `null` the next page of this connection's last paged answer; empty at the end | as there |
 * | auditVerify | `{ head? }` | the report, with the first bad event |
 * | auditRepair | `null` | the report of kept and cut events |
 * | fleet | `{ kind, … }` as in kernel/control/fleet_ops.ts; refused without a database log | by kind |
 * | receipts | `{ task, call? }` | Receipt[] |
 * | mcpLook | `{ server: ImportedServer, observe, deadlineMs }` starts it, reads its listing, ends it | McpLook |
 * | mcpLend | {@link McpLoan} held in memory for that server | `null` |
 * | mcpTokens | `{ server }` tokens after a refresh, for storage | {@link McpOAuth} or `null` |
 * | mcpRevoke | `{ server }` ends its processes and leases in every task | `{ ended }` |
 * | mcpLog | `{ server, limit }` newest last | {@link McpLogEntry}[] |
 * | inbox | `{ box?, state? }` | InboxEntry[] |
 * | inboxShow | `{ id }` | InboxEntry |
 * | inboxPut | `{ message, stamp }` from the operator's own programs, which stamp `message.sender` | PutOutcome |
 * | inboxRelease | `{ id }` a held message becomes a task, a quarantined one waits for its turn | InboxEntry |
 * | inboxDismiss | `{ id, why }` | InboxEntry |
 * | inboxMute, inboxUnmute | `{ sender, why }`, `{ sender }` | `null` |
 * | inboxMuted | `null` | MutedSender[] |
 * | peerSend | PeerSend; with `watch` events follow as for `peerWatch` | Exchange |
 * | peerGet, peerCancel | `{ peer?, exchange }` without `peer` for the operator | Exchange |
 * | peerList | PeerQuery, without `peer` for the operator | PeerPage |
 * | peerWatch | `{ peer?, exchange, progress? }` then events `exchange` `{ exchange, event }`, including the agent's text unless `progress` is false | Exchange |
 * | peerUnwatch | `{ exchange }` ends this connection's watch | `null` |
 * | peerPush | `{ peer, exchange, op }` as in wire_a2a.ts | PushConfig[] |
 * | peerExport | `{ exchange, artifact }` shows the peer a released artifact | Exchange |
 * | peerReply | `{ exchange, text }` the operator's words to the peer | Exchange |
 * | peerErase | `{ exchange }` or `{ before, peer? }`: finished ones, their content | `{ erased }` |
 * | peerDue | `{ limit? }`; then `peerDue` is sent when more are due | PeerDue[] |
 * | peerDelivered | `{ exchange, config, version, ok, again? }` `again`: the earliest next attempt | `null` |
 * | deliver | `{ url, headers, body, origins }` one POST by the net service, within these origins | `{ status }` |
 * | delegate | `{ key, expiresAt, signature }` a key that answers consent only, signed by the person's | `null` |
 * | undelegate | `{ key }` | `null` |
 * | counts | `null` | {@link StateCounts} |
 * | ended | `{ after }` finished tasks after a position; null: from now on | {@link EndedTasks} |
 * | spans | `{ task }` its activities in time, without content | {@link TaskSpan}[] |
 * | retain | `{ before, dryRun }` archives and purges tasks that ended earlier | {@link RetainReport} |
 * | secrets | `{ digest, secrets }` replaces the kept secrets | `null` |
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
  /** Digest of the kernel's rules. */
  readonly rules: string;
  readonly head: string;
  /** Digest of its secrets' sealed form. */
  readonly secrets: string;
}

/** First line of a kernel's standard input. */
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
    /** Empty if only the static browser is used. */
    readonly browser: string;
    /** Model services beside the scripted one. Each is built when a model first needs it. */
    readonly remote: string;
    readonly local: string;
    readonly native: string;
    /** The database client; built only for a log in a database. */
    readonly store: string;
    /** The wiki's process: built when a task is first handed a wiki. */
    readonly wiki: string;
    /** Client of one MCP server, verifier of a server's tree, relay out of a namespace: built with the first server. */
    readonly mcp: string;
    readonly mcpTree: string;
    readonly mcpRelay: string;
    /** Client of one A2A peer: built with the first peer. */
    readonly a2a: string;
    /** Client of a foreign agent and relay to its provider: built with the first agent. */
    readonly agentClient: string;
    readonly agentRelay: string;
  };
  /** Where weights lie, as SHA-256.gguf: STATE/models. */
  readonly weights: string;
  /** llama.cpp's native addon, beside its libraries; present once fetched. */
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
   * Put into the arguments of every wall that this kernel makes, so that its leftovers can be
   * recognised. Chosen by the kernel when it starts.
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
  /** Programs of this machine that remit.yaml grants, resolved. */
  readonly commands: readonly GrantedCommand[];
  /** The secrets of `remit secret`, unsealed. */
  readonly secrets: readonly Secret[];
  /** Digest of the sealed form: from a digest of the values they could be guessed. */
  readonly secretsDigest: string;
  readonly harness: string;
  /** Broker sockets that the kernel may listen on (exact paths granted at start). */
  readonly brokerSockets: readonly string[];
  /** Sockets that the net service may listen on, for servers in namespaces. */
  readonly proxySockets: readonly string[];
  /** STATE/mcp/trees: code of imported servers. */
  readonly mcpTrees: string;
  readonly controlSocket: string;
  /** False: the kernel ends with the last task. */
  readonly stay: boolean;
  /** Milliseconds without work before it ends. */
  readonly idleMs: number;
  /** File with the state of the login session that the kernel was started in; undefined if there is none. */
  readonly session?: string | undefined;
  /** Fault tests only: the kernel kills itself (SIGKILL) the `after`-th time it reaches `at`. */
  readonly failpoint?: { readonly at: FailPoint; readonly after: number };
  /** Number of warm workers, and of warm plugin hosts after the first use. */
  readonly pool: { readonly workers: number; readonly plugins: number };
  /** Location of the log, if not a file in `dir`. */
  readonly store?: StoreChoice | undefined;
}

/** A log in a database that several kernels may share. */
export interface StoreChoice {
  /** Includes the role's password. */
  readonly url: string;
  /** The kernel's name in the fleet. */
  readonly kernel: string;
  readonly leaseMs: number;
  /** Names this machine (and this kernel, unless kernels share a work folder): tasks with mounts continue only there. */
  readonly machine: string;
  /** Folder for staged files that kernels of this machine share; absent: each has its own. */
  readonly work?: string | undefined;
}

/** Folder of a kernel's staged files. */
export function workFolder({ dir, store }: Pick<KernelConfig, "dir" | "store">): string {
  return store?.work ?? `${dir}/work`;
}

/** A file that the kernel may read, with its required digest. */
export interface PluginFile {
  /** Absolute. */
  readonly file: string;
  readonly sha256: string;
}

/** A secret value for one header of requests to one origin; never shown. */
export interface Secret {
  readonly name: string;
  readonly value: string;
  readonly origin: string;
  /** In lower case. */
  readonly header: string;
  /** Prefix of the value, such as `Bearer `. */
  readonly prefix: string;
}
