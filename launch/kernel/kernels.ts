/** Kernels as those see them who need one: what one is started for, and a session with it. @module */
import type { Json } from "../../contracts/base/mod.ts";
import type { BrowserChoice, PolicySource } from "../../contracts/policy/mod.ts";
import type { CommandClass, ForeignAgent } from "../../contracts/tool/mod.ts";

/** One open session with a kernel. */
export interface KernelLink {
  ask(op: string, body: Json): Promise<Json>;
  /** Events of what is watched on this link. */
  onTell(listener: (op: string, body: Json) => void): void;
  /** Resolves with the reason when the session has ended. */
  readonly closed: Promise<Error>;
  close(): void;
  /** The kernel's number in the operating system. */
  readonly pid: number;
  readonly harness: string;
  readonly head: string;
  readonly receiptKey: string;
  /** Digest of its rules; empty for one of an earlier version. */
  readonly rules: string;
  /** Digest of the secrets that it keeps; empty for one of an earlier version. */
  readonly secrets: string;
  /** It goes to a fleet's gateway (`--fleet`), and not to a kernel of this machine. */
  readonly gateway?: true;
}

/** What a kernel is started for. */
export interface KernelWish {
  readonly policy: PolicySource;
  /** Keys whose plugins are trusted as Remit's own. */
  readonly toolKeys: readonly string[];
  /** Programs that remit.yaml grants, by name. */
  readonly commands: Readonly<Record<string, CommandClass>>;
  /** The agent of others that a run is handed to, if to one. */
  readonly foreign?: ForeignAgent | undefined;
  readonly browser: BrowserChoice;
  /** Real folders of the declared mounts. */
  readonly mounts: readonly string[];
  /** Minutes that one stays after its last work; absent: as where nobody says anything. */
  readonly idleMinutes?: number | undefined;
  /** Only a kernel with exactly this policy will do. */
  readonly exact: boolean;
}

/** The kernel of one state. */
export interface Kernels {
  /** A running one. */
  find(): Promise<KernelLink | undefined>;
  /** A running one, or one that is started now. Throws `conflict` when a busy one has other rules. */
  provide(wish: KernelWish): Promise<KernelLink>;
}
