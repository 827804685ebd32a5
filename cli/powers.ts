/** The powers of the command line: everything that commands can touch. @module */
import type { Pipe } from "./acp/pipe_powers.ts";
import type { Digest } from "../contracts/authority/mod.ts";
import type { Json } from "../contracts/base/mod.ts";
import type { DiskRead, DiskWrite, Environment, Progress } from "../launch/disk/machine.ts";
import type { Kernels } from "../launch/kernel/kernels.ts";
import type { Walls } from "../launch/program/walls_powers.ts";
import type { Paint } from "./terminal/paint.ts";
import type { Drawn } from "./terminal/footer.ts";
import type { StoryPeer } from "./a2a/story_peer.ts";
import type { CommandOutput } from "./session/attach.ts";
import type { McpStore } from "../bridges/mcp/registry/store/store.ts";
import type { LoginPowers } from "../bridges/mcp/registry/login/login.ts";
import type { ModelPowers } from "./model/powers.ts";
import type { Gateways } from "./fleet/gateway_powers.ts";
import type { Places } from "../launch/disk/places.ts";
import type { PluginKit } from "../tools-wasm/kit/kit.ts";
import type { RedteamPowers } from "../redteam/mod.ts";
import type { SwarmPowers } from "../swarm/mod.ts";
import type { ServePowers } from "./mcp_serve/gateway_process.ts";
import type { BackupPowers } from "../service/backup/mod.ts";
import type { ServicePowers } from "./service/powers.ts";
import type { WikiPowers } from "../memory-wiki/host/powers.ts";

/** The terminal's output. Callers pass safe text only. */
export interface Screen extends Progress {
  /** Writes to standard output: the answer, and nothing else. */
  out(text: string): void;
  readonly paint: Paint;
  /** Columns of the live view. */
  readonly width: number;
  /** Columns of standard output; undefined when it is no terminal. */
  readonly outWidth?: number | undefined;
  /** Rows of the terminal; undefined when the live view goes to none. */
  readonly rows?: number | undefined;
  /** Keeps rows under all output until the next call; undefined removes them. Hints stand above the rows. */
  footer?(rows: Drawn | undefined): void;
}

/** The completion of a word at the cursor. */
export interface Completion {
  /** Number of graphemes before the cursor that `by` replaces. */
  readonly replaces: number;
  readonly by: string;
  /** The possible words, where there are several. Safe text. */
  readonly choices: readonly string[];
}

/** Optional features of an edited line, which only sessions use. */
export interface LineExtras {
  /** Earlier entries, the oldest first, for the arrow up. */
  readonly past?: readonly string[];
  /** Completes the text before the cursor, for Tab. */
  readonly complete?: (before: string) => Completion | undefined;
  /** Opens an external editor on the text; undefined where the editor failed. */
  readonly editor?: (text: string) => Promise<string | undefined>;
}

/** How to read a line. */
export interface LineOptions extends LineExtras {
  /** False for input that must not be shown. */
  readonly echo?: boolean;
  readonly signal?: AbortSignal;
  /** Accepts a text of several rows, as a paste may bring; keeps it for the arrow up. */
  readonly many?: boolean;
  /** The line's text at first. With a draft, keys typed before the prompt are kept: so never for a question. */
  readonly draft?: string;
}

/** How to read lines while an answer is being written. */
export interface AheadOptions extends LineExtras {
  readonly prompt: string;
  /** The line's text at first. */
  readonly draft?: string;
  /** Safe rows above the line: the queue and the status. Called at each drawing. */
  above(): readonly string[];
  entered(text: string): void;
  /** The newest entered text that is not used yet, taken back for editing. */
  takeBack(): string | undefined;
  /** Ctrl-D in an empty line. */
  ended(): void;
}

/** A line open while an answer is being written. A question covers it for a while. */
export interface AheadLine {
  redraw(): void;
  /** Closes the line; returns what was typed and not entered. */
  close(): string;
}

/** A person at a terminal. */
export interface Keyboard {
  /** Discards keys typed before, shows `prompt`, and reads one line; undefined at the end of input. */
  line(prompt: string, options?: LineOptions): Promise<string | undefined>;
  /** Keeps a line open at the bottom of the screen. Absent where the terminal cannot show one. */
  ahead?(options: AheadOptions): AheadLine;
  /** Runs the person's own program on this terminal; returns its exit code. Absent where that is impossible. */
  program?(words: readonly string[]): Promise<number>;
  /** Runs a line typed by the person in their own shell. INVARIANT: never with text of an agent's. */
  shell?(line: string): Promise<CommandOutput>;
  /** Copies a text to the terminal's clipboard (OSC 52); a terminal that forbids it ignores it. */
  copy?(text: string): void;
}

/** Verifies receipts without a kernel. */
export interface ReceiptCheck {
  /** `reason` is one sentence; `key` is the key that signed. */
  verify(
    receipt: unknown,
    key: string | undefined,
  ): Promise<{ readonly ok: boolean; readonly reason: string; readonly key?: string }>;
}

/** Verifies exported logs without a kernel. */
export interface LogCheck {
  /** `ok`, counts, the first bad event, and the `key` used. Throws Fault `invalidInput` for bytes that are no log. */
  verify(
    bytes: Uint8Array,
    options: { readonly key: string | undefined; readonly head: Digest | undefined },
  ): Promise<{ readonly ok: boolean; readonly key: string }>;
}

/** Checks values against JSON Schemas. */
export interface SchemaCheck {
  /** Why `value` does not fit; undefined when it does. Throws Fault `refused` for a schema that cannot be checked safely. */
  misfit(schema: string, value: Json): string | undefined;
}

/** Reports presses of Ctrl-C, without duplicates. */
export interface Interrupts {
  /**
   * Calls `press` with 1, 2, … for each press, and for a SIGTERM with its name and at least 2; the returned function stops
   * listening.
   */
  listen(press: (count: number, signal?: "SIGTERM") => void): () => void;
}

/** A story's site, served on this machine. */
export interface StorySite {
  readonly origin: string;
  close(): Promise<void>;
}

/** All powers, by name. */
export interface Powers {
  readonly screen: Screen;
  /** Undefined when no person is at the terminal. */
  readonly keyboard: Keyboard | undefined;
  readonly disk: DiskRead & DiskWrite;
  readonly environment: Environment;
  readonly interrupts: Interrupts;
  readonly receipts: ReceiptCheck;
  readonly logs: LogCheck;
  readonly schemas: SchemaCheck;
  readonly walls: Walls;
  readonly plugins: PluginKit;
  readonly models: ModelPowers;
  readonly wikis: WikiPowers;
  /** Starts the gateway of MCP hosts. */
  readonly serve: ServePowers;
  /** Copies and checks databases. */
  readonly backup: BackupPowers;
  /** The service's lock, listener and clock. */
  readonly service: ServicePowers;
  readonly mcpStore: McpStore;
  /** Logs in at remote MCP servers. */
  readonly login: LoginPowers;
  /** Yields after each change of files beneath a folder, until `signal` aborts. */
  watch(folder: string, signal: AbortSignal): AsyncIterable<void>;
  /** Serves the pages of a folder for `--story`. */
  serveSite(folder: string): StorySite;
  /** Starts another Remit with this remit.yaml for `--story`, and makes a token for its peer `name`. */
  startPeer(
    options: { readonly folder: string; readonly config: string; readonly name: string },
  ): Promise<StoryPeer>;
  kernels(places: Places): Kernels;
  /** Gateways of fleets, for `--fleet`. */
  /** Gateways of fleets, for `--fleet`. */
  readonly gateways: Gateways;
  /** Reads all of standard input. */
  readInput(): Promise<string>;
  /** Scratch machines for the red team and evaluations. */
  readonly redteam: RedteamPowers;
  /** Git, checks, private folders and journals for swarms. */
  readonly swarm: SwarmPowers;
  /** Standard input and output, for a protocol over them. */
  readonly pipe: Pipe;
}

/** The name of a power. A family of commands receives exactly those that it names. */
export type PowerName = keyof Powers;

/** The powers of most commands: to print, to read and write the operator's files, to read the environment, to reach a kernel. */
export const BASIC = ["screen", "disk", "environment", "kernels"] as const;
/** See {@link BASIC}. */
export type Basic = typeof BASIC[number];

/** Returns a power, and makes it at its first use. */
export type PowerSource = <K extends PowerName>(name: K) => Promise<Powers[K]>;

/** The warning for a person who runs this as root. */
export const RUNS_AS_ROOT =
  "Remit runs as root: its walls stand around agents, but what you allow reaches all of this machine; an account of its own is safer";
