/**
 * What a kernel and its store process say to each other. The process holds a database's address and password; the kernel
 * has no network. Rows travel with bodies as texts, and are checked by whoever reads them.
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
 * | document | `{ kind, id }` | a row or `null` |
 * | kinds | `null` | names of the kinds of documents |
 * | fleet | {@link FleetAsk} | as {@link FleetAsk} says |
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
  /** Names this machine: a task with mounts goes on nowhere else. */
  readonly machine: string;
  /** Opened to look: registers nobody, and nothing is written. */
  readonly look?: boolean;
}

/** Who this process is to the database. */
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

/** Rows, and whether there were more than one frame shall hold: then the asker goes on after the last. */
export interface StorePage {
  readonly rows: readonly Readonly<Record<string, string | number>>[];
  readonly cut: boolean;
}

/** What a kernel says to the fleet's table. */
export type FleetAsk =
  /** This kernel lives; answers {@link FleetBeat}. */
  | { readonly kind: "beat"; readonly leaseMs: number; readonly about: FleetAbout }
  /** Tasks of this kernel that are not over, by the table; answers texts. */
  | { readonly kind: "mine" }
  /** Its lease ends now. */
  | { readonly kind: "leave" }
  /** Whether there are tasks to claim and work to take; answers `{ tasks, work }`. */
  | { readonly kind: "toBeHad" }
  /** Takes over tasks of kernels whose lease ran out; answers {@link FleetClaim}[]. */
  | { readonly kind: "claim"; readonly max: number }
  /** All events of a task that was taken over, whoever wrote them; answers {@link StorePage}. */
  | { readonly kind: "chain"; readonly task: string; readonly fromN: number }
  /** Work for any kernel that has its mounts. */
  | {
    readonly kind: "put";
    readonly task: string;
    readonly request: string;
    readonly mounts: readonly string[];
  }
  /** Takes work; answers `{ task, request }[]`. */
  | { readonly kind: "take"; readonly max: number }
  /** Takes work out of the queue that nobody has begun; answers whether it was there. */
  | { readonly kind: "withdraw"; readonly task: string }
  /** The request of work that was taken and not begun; answers a text or `null`. */
  | { readonly kind: "request"; readonly task: string }
  /** What was done after this kernel had lost the task. */
  | { readonly kind: "late"; readonly task: string; readonly what: string; readonly body: string }
  /** Answers {@link FleetKernel}[]. */
  | { readonly kind: "list" }
  /** Makes the role of a kernel; answers the address with which it is one. The owner's role alone may. */
  | { readonly kind: "enroll"; readonly name: string }
  /** Whether a kernel takes work. */
  | { readonly kind: "state"; readonly name: string; readonly state: FleetState }
  /** Documents of all kernels, the newest first, at most `limit` (1,000); answers {@link StorePage}. */
  | {
    readonly kind: "everywhere";
    readonly of: "task" | "question";
    readonly states: readonly string[];
    /** Whose id begins so. */
    readonly prefix?: string;
    /** Made before this one. */
    readonly before?: string;
    readonly limit?: number;
  }
  /** Events about money of all tasks since a time, task by task, each in its order; answers {@link StorePage}. */
  | {
    readonly kind: "spent";
    readonly since: number;
    readonly after: { readonly task: string; readonly n: number };
  }
  /** One task, whoever's; answers {@link StorePage}. */
  | { readonly kind: "task"; readonly task: string }
  /** Words for the kernel that owns a task, and those that came for this one (texts). */
  | { readonly kind: "send"; readonly task: string; readonly words: string }
  | { readonly kind: "reply"; readonly name: string; readonly words: string }
  | { readonly kind: "receive" }
  /** Sums of budgets; one that is not there begins with its seed. Answers {@link SharedSum}[]. */
  | {
    readonly kind: "sums";
    readonly keys: readonly string[];
    readonly seeds: readonly number[];
  }
  /** Every sum whose key begins so; answers {@link SharedSum}[]. */
  | { readonly kind: "allSums"; readonly prefixes: readonly string[] }
  /** Holds `money` of all of these budgets where `need` fits each, or of none; answers {@link SharedSum}[] with `fits`. */
  | {
    readonly kind: "hold";
    readonly id: string;
    readonly keys: readonly string[];
    readonly most: readonly number[];
    readonly need: number;
    readonly money: number;
  }
  /** What was held is held no more; so much of it was paid. */
  | { readonly kind: "settle"; readonly id: string; readonly paid: number }
  /** Takes one request of a provider's rates (a minute; 0 for none); answers milliseconds to wait, 0 when it was taken. */
  | {
    readonly kind: "takeRate";
    readonly key: string;
    readonly requests: number;
    readonly tokens: number;
    readonly need: number;
  }
  /** How many tokens more it used, and how long its provider is to be left alone, milliseconds. */
  | {
    readonly kind: "tellRate";
    readonly key: string;
    readonly more: number;
    readonly pauseMs: number;
  }
  /** Events of another kernel's log, to check them; answers {@link StorePage}. */
  | { readonly kind: "log"; readonly id: number; readonly query: Readonly<Record<string, unknown>> }
  | {
    readonly kind: "headsOf";
    readonly id: number;
    readonly query: Readonly<Record<string, unknown>>;
  };

/** Whether a kernel takes work. */
export type FleetState = "up" | "cordoned" | "draining";

/** What all kernels have of one budget, US dollars. */
export interface SharedSum {
  readonly key: string;
  readonly spent: number;
  readonly held: number;
  /** 1 where what was asked for is held. */
  readonly fits?: number;
}

/** What a kernel says of itself. */
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
  /** Words that wait for this kernel. */
  readonly waiting: number;
}

/** A task that was taken over. */
export interface FleetClaim {
  readonly task: string;
  readonly epoch: number;
  /** The kernel that had it. */
  readonly former: string;
}

/** A kernel as the fleet sees it. Times are milliseconds. */
export interface FleetKernel {
  readonly id: number;
  readonly name: string;
  readonly state: FleetState;
  /** Its lease has not run out, by the database's clock. */
  readonly alive: boolean;
  readonly leaseMs: number;
  readonly address: string;
  readonly version: string;
  readonly mounts: readonly string[];
  readonly publicKey: string;
  /** Tasks of its that are not over. */
  readonly tasks: number;
  /** Effects that it made after it had lost their task. */
  readonly late: number;
}
