/**
 * Messages between a kernel and its store process. The process holds a database's address and
 * password; the kernel has no network. Rows carry bodies as texts, and their reader checks them.
 *
 * | op | body | answer |
 * |---|---|---|
 * | open | {@link StoreOpen}, once, first | {@link StoreOpened} |
 * | commit | {@link StoreBatch} | `null`, durable |
 * | events | a query of `Store.events` | {@link StorePage} |
 * | heads | HeadQuery | {@link StorePage} |
 * | blob | `{ task, digest }` | `{ salt, bytes }` base64, or `null` |
 * | erase | `{ task }` | how many |
 * | documents | DocumentQuery | {@link StorePage} |
 * | document | `{ kind, id }` | row or `null` |
 * | kinds | `null` | document kinds |
 * | fleet | {@link FleetAsk} | see {@link FleetAsk} |
 * @module
 */
import type { PortLimits } from "../base/port.ts";

/** Limits of this port, at both ends. */
export const STORE_PORT_LIMITS: Partial<PortLimits> = Object.freeze({
  frameBytes: 64 * 1_048_576,
  nodes: 2_000_000,
});

/** First request. */
export interface StoreOpen {
  /** `postgres://ROLE:PASSWORD@HOST:PORT/DATABASE`. */
  readonly url: string;
  /** The kernel's name in the fleet. */
  readonly kernel: string;
  readonly leaseMs: number;
  /** Names this machine: tasks with mounts continue only there. */
  readonly machine: string;
  /** Read only: registers no kernel and writes nothing. */
  readonly look?: boolean;
}

/** The kernel's identity in the database. */
export interface StoreOpened {
  readonly id: number;
  readonly incarnation: number;
}

/** A batch; bytes are base64, bodies of documents JSON texts. */
export interface StoreBatch {
  readonly events: readonly {
    readonly task: string;
    readonly n: number;
    readonly kind: string;
    readonly at: number;
    readonly body: string;
    readonly hash: string;
    readonly adopted?: true;
  }[];
  readonly blobs: readonly {
    readonly task: string;
    readonly digest: string;
    readonly salt: string;
    readonly bytes: string;
  }[];
  readonly documents: readonly {
    readonly kind: string;
    readonly id: string;
    readonly task: string;
    readonly expect: number;
    readonly body: string;
  }[];
}

/** Rows; `cut`: more follow than fit into one frame, so continue after the last row. */
export interface StorePage {
  readonly rows: readonly Readonly<Record<string, string | number>>[];
  readonly cut: boolean;
}

/** A kernel's operation on the fleet's tables. */
export type FleetAsk =
  /** Renews this kernel's lease; answers {@link FleetBeat}. */
  | { readonly kind: "beat"; readonly leaseMs: number; readonly about: FleetAbout }
  /** This kernel's unfinished tasks; answers texts. */
  | { readonly kind: "mine" }
  /** Ends this kernel's lease. */
  | { readonly kind: "leave" }
  /** Whether there are tasks to claim and work to take; answers `{ tasks, work }`. */
  | { readonly kind: "toBeHad" }
  /** Takes over tasks of kernels whose lease has expired; answers {@link FleetClaim}[]. */
  | { readonly kind: "claim"; readonly max: number }
  /** All events of a task that was taken over, by any kernel; answers {@link StorePage}. */
  | { readonly kind: "chain"; readonly task: string; readonly fromN: number }
  /** Queues work for any kernel that has its mounts. */
  | {
    readonly kind: "put";
    readonly task: string;
    readonly request: string;
    readonly mounts: readonly string[];
  }
  /** Takes work; answers `{ task, request }[]`. */
  | { readonly kind: "take"; readonly max: number }
  /** Removes unstarted work from the queue; answers whether it was there. */
  | { readonly kind: "withdraw"; readonly task: string }
  /** The request of work that was taken but not started; answers a text or `null`. */
  | { readonly kind: "request"; readonly task: string }
  /** Records an effect after this kernel had lost the task. */
  | { readonly kind: "late"; readonly task: string; readonly what: string; readonly body: string }
  /** Lists kernels; answers {@link FleetKernel}[]. */
  | { readonly kind: "list" }
  /** Creates a kernel's database role; answers its address. Requires the owner's role. */
  | { readonly kind: "enroll"; readonly name: string }
  /** Sets whether a kernel accepts work. */
  | { readonly kind: "state"; readonly name: string; readonly state: FleetState }
  /** Documents of all kernels, newest first, at most `limit` (1,000); answers {@link StorePage}. */
  | {
    readonly kind: "everywhere";
    readonly of: "task" | "question";
    readonly states: readonly string[];
    /** Prefix of the id. */
    readonly prefix?: string;
    /** Created before this document. */
    readonly before?: string;
    readonly limit?: number;
  }
  /** Spending events of all tasks since a time, ordered by task and position; answers {@link StorePage}. */
  | {
    readonly kind: "spent";
    readonly since: number;
    readonly after: { readonly task: string; readonly n: number };
  }
  /** One task of any kernel; answers {@link StorePage}. */
  | { readonly kind: "task"; readonly task: string }
  /** Messages to the kernel that owns a task or to a named one, and those for this kernel (texts). */
  | { readonly kind: "send"; readonly task: string; readonly words: string }
  | { readonly kind: "reply"; readonly name: string; readonly words: string }
  | { readonly kind: "receive" }
  /** Sums of budgets; a missing sum starts with its seed. Answers {@link SharedSum}[]. */
  | {
    readonly kind: "sums";
    readonly keys: readonly string[];
    readonly seeds: readonly number[];
  }
  /** All sums whose key has one of these prefixes; answers {@link SharedSum}[]. */
  | { readonly kind: "allSums"; readonly prefixes: readonly string[] }
  /** Reserves `money` in all these budgets if `need` fits each, else in none; answers {@link SharedSum}[] with `fits`. */
  | {
    readonly kind: "hold";
    readonly id: string;
    readonly keys: readonly string[];
    readonly most: readonly number[];
    readonly need: number;
    readonly money: number;
  }
  /** Ends a reservation; `paid` was spent. */
  | { readonly kind: "settle"; readonly id: string; readonly paid: number }
  /** Takes one request from a provider's rates (a minute; 0 for none); answers milliseconds to wait, 0 if taken. */
  | {
    readonly kind: "takeRate";
    readonly key: string;
    readonly requests: number;
    readonly tokens: number;
    readonly need: number;
  }
  /** Reports further tokens used, and how long to pause the provider, milliseconds. */
  | {
    readonly kind: "tellRate";
    readonly key: string;
    readonly more: number;
    readonly pauseMs: number;
  }
  /** Events of another kernel's log, for verification; answers {@link StorePage}. */
  | { readonly kind: "log"; readonly id: number; readonly query: Readonly<Record<string, unknown>> }
  | {
    readonly kind: "headsOf";
    readonly id: number;
    readonly query: Readonly<Record<string, unknown>>;
  };

/** Whether a kernel accepts work. */
export type FleetState = "up" | "cordoned" | "draining";

/** The sum of one budget over all kernels, US dollars. */
export interface SharedSum {
  readonly key: string;
  readonly spent: number;
  readonly held: number;
  /** 1 if the requested amount is reserved. */
  readonly fits?: number;
}

/** A kernel's description of itself. */
export interface FleetAbout {
  readonly address: string;
  readonly version: string;
  readonly publicKey: string;
  /** Machines whose folders it may open. */
  readonly mounts: readonly string[];
}

/** Answer to `beat`. */
export interface FleetBeat {
  readonly state: FleetState;
  /** Number of messages waiting for this kernel. */
  readonly waiting: number;
}

/** A task that was taken over. */
export interface FleetClaim {
  readonly task: string;
  readonly epoch: number;
  /** The kernel that held the task before. */
  readonly former: string;
}

/** A kernel as the fleet sees it. Times are milliseconds. */
export interface FleetKernel {
  readonly id: number;
  readonly name: string;
  readonly state: FleetState;
  /** Whether its lease is valid by the database's clock. */
  readonly alive: boolean;
  readonly leaseMs: number;
  readonly address: string;
  readonly version: string;
  readonly mounts: readonly string[];
  readonly publicKey: string;
  /** Number of its unfinished tasks. */
  readonly tasks: number;
  /** Number of its effects after it had lost the task. */
  readonly late: number;
}
