/** What a command asks of a kernel, and a session with one. @module */
import type { Json } from "../../contracts/base/mod.ts";
import type { BrowserChoice, PolicySource } from "../../contracts/policy/mod.ts";
import type { CommandClass, ForeignAgent } from "../../contracts/tool/mod.ts";

/** One open session with a kernel. */
export interface KernelLink {
  ask(op: string, body: Json): Promise<Json>;
  /** Receives events of what this session watches. */
  onTell(listener: (op: string, body: Json) => void): void;
  /** Resolves with the reason when the session has ended. */
  readonly closed: Promise<Error>;
  close(): void;
  /** The kernel's number in the operating system. */
  readonly pid: number;
  readonly harness: string;
  readonly head: string;
  readonly receiptKey: string;
  /** Digest of the kernel's rules; empty for an earlier version. */
  readonly rules: string;
  /** Digest of the kernel's secrets; empty for an earlier version. */
  readonly secrets: string;
  /** The session is with a fleet's gateway (`--fleet`), not with a kernel of this machine. */
  readonly gateway?: true;
}

/** The configuration that a command needs of its kernel. */
export interface KernelWish {
  readonly policy: PolicySource;
  /** Keys whose plugins are as trusted as Remit's own. */
  readonly toolKeys: readonly string[];
  /** Programs that remit.yaml grants, by name. */
  readonly commands: Readonly<Record<string, CommandClass>>;
  /** The foreign agent that the run is handed to. */
  readonly foreign?: ForeignAgent | undefined;
  readonly browser: BrowserChoice;
  /** Real folders of the declared mounts. */
  readonly mounts: readonly string[];
  /** Minutes that an idle kernel stays; absent: the default. */
  readonly idleMinutes?: number | undefined;
  /** Accept only a kernel with exactly this policy. */
  readonly exact: boolean;
}

/** The kernel of one state. */
export interface Kernels {
  /** The running kernel. */
  find(): Promise<KernelLink | undefined>;
  /** The running kernel, else a new one. Throws `conflict` when a busy kernel has other rules. */
  provide(wish: KernelWish): Promise<KernelLink>;
}
