/** What the commands of the command line are handed: everything they can touch. @module */
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

/** Where words go. Everything given to it must be safe text. */
export interface Screen extends Progress {
  /** Standard output: the answer, and nothing else. */
  out(text: string): void;
  readonly paint: Paint;
  /** Columns of the live view. */
  readonly width: number;
  /** Columns of standard output; undefined when it is no terminal. */
  readonly outWidth?: number | undefined;
  /** Rows of the terminal; undefined when the live view goes to none. */
  readonly rows?: number | undefined;
  /** Keeps rows under all that is written, until it is called with others or with none; hints stand above them. */
  footer?(rows: Drawn | undefined): void;
}

/** What stands in a line in place of its end: a word that was begun, made whole. */
export interface Completion {
  /** Letters before the cursor that are replaced. */
  readonly replaces: number;
  readonly by: string;
  /** What it may become, where there are several. Safe text. */
  readonly choices: readonly string[];
}

/** What a line may have beside its letters: each is used only where a session asks for it. */
export interface LineExtras {
  /** Lines entered before, the oldest first, for the arrow up. */
  readonly past?: readonly string[];
  /** Completes what stands before the cursor, for Tab. */
  readonly complete?: (before: string) => Completion | undefined;
  /** Opens an external editor on the text; undefined where nothing became of it. */
  readonly editor?: (text: string) => Promise<string | undefined>;
}

/** How a line is read. */
export interface LineOptions extends LineExtras {
  /** False for what must not be shown. */
  readonly echo?: boolean;
  readonly signal?: AbortSignal;
  /** A text of perhaps several rows, as a paste brings them; it is kept for the arrow up. */
  readonly many?: boolean;
  /** What stands in it at first. With it nothing that was typed before is thrown away: never for a question. */
  readonly draft?: string;
}

/** How lines are read while something else is written on the screen. */
export interface AheadOptions extends LineExtras {
  readonly prompt: string;
  /** What stands in the line at first. */
  readonly draft?: string;
  /** Safe rows above the line: what is queued, what goes on. Asked at each drawing. */
  above(): readonly string[];
  entered(text: string): void;
  /** The text that was entered last and is not used yet, given back to be changed. */
  takeBack(): string | undefined;
  /** Ctrl-D in an empty line. */
  ended(): void;
}

/** A line that is open while something else is written. Questions interrupt it; it goes on after them. */
export interface AheadLine {
  redraw(): void;
  /** Ends it; gives what was typed and not entered. */
  close(): string;
}

/** A person at a terminal. */
export interface Keyboard {
  /** Throws away what was typed before, shows `prompt`, and reads one line; undefined at its end. */
  line(prompt: string, options?: LineOptions): Promise<string | undefined>;
  /** Reads lines at the bottom of the screen until it is closed. Absent where only one line at a time can be read. */
  ahead?(options: AheadOptions): AheadLine;
  /** Runs a program of the person's own on this terminal; gives its exit code. Absent where none can be run. */
  program?(words: readonly string[]): Promise<number>;
  /** Runs a line that the person typed in their own shell. Never called with a word of an agent's. */
  shell?(line: string): Promise<CommandOutput>;
  /** Hands a text to the terminal's clipboard (OSC 52); a terminal that allows none drops it. */
  copy?(text: string): void;
}

/** Checks receipts without a kernel. Wired in by main.ts. */
export interface ReceiptCheck {
  /** `reason` is one sentence; `key` is the key that signed. */
  verify(
    receipt: unknown,
    key: string | undefined,
  ): Promise<{ readonly ok: boolean; readonly reason: string; readonly key?: string }>;
}

/** Checks exported logs without a kernel. Wired in by main.ts. */
export interface LogCheck {
  /** `ok`, counts, the first bad event, and the `key` that it was checked with. Throws Fault `invalidInput` for no log. */
  verify(
    bytes: Uint8Array,
    options: { readonly key: string | undefined; readonly head: Digest | undefined },
  ): Promise<{ readonly ok: boolean; readonly key: string }>;
}

/** Checks values against schemas. Wired in by main.ts. */
export interface SchemaCheck {
  /** Why `value` does not fit; undefined when it does. Throws Fault `refused` for a schema that cannot be checked safely. */
  misfit(schema: string, value: Json): string | undefined;
}

/** Presses of Ctrl-C, counted with care. */
export interface Interrupts {
  /**
   * Calls `press` with 1, 2, … for each press, and with at least 2 and its name for a SIGTERM; the returned function
   * stops listening.
   */
  listen(press: (count: number, signal?: "SIGTERM") => void): () => void;
}

/** A site of a story, served on this machine. */
export interface StorySite {
  readonly origin: string;
  close(): Promise<void>;
}

/** Everything a command is handed. */
export interface Powers {
  readonly screen: Screen;
  /** Undefined when nobody is there. */
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
  /** The gateway that hosts talk to. */
  readonly serve: ServePowers;
  /** Copies and checks of databases. */
  readonly backup: BackupPowers;
  /** The service's own lock, door and time. */
  readonly service: ServicePowers;
  readonly mcpStore: McpStore;
  /** A login at a remote MCP server. */
  readonly login: LoginPowers;
  /** Yields after each change of files beneath a folder, until `signal` aborts. */
  watch(folder: string, signal: AbortSignal): AsyncIterable<void>;
  /** Serves the pages of a folder for `--story`. */
  serveSite(folder: string): StorySite;
  /** Starts another Remit with this remit.yaml for `--story`, and makes a token of its peer `name`. */
  startPeer(
    options: { readonly folder: string; readonly config: string; readonly name: string },
  ): Promise<StoryPeer>;
  kernels(places: Places): Kernels;
  /** Gateways of fleets, for `--fleet`. */
  readonly gateways: Gateways;
  /** All of standard input. */
  readInput(): Promise<string>;
  /** Scratch machines for the red team and the evaluations. */
  readonly redteam: RedteamPowers;
  /** Git, checks, private folders and journals of swarms. */
  readonly swarm: SwarmPowers;
  /** Standard input and output, where a protocol is spoken over them. */
  readonly pipe: Pipe;
}

/** The name of a power. A family of commands names those that it is handed; it gets no other. */
export type PowerName = keyof Powers;

/** What most commands need: to print, to read and write files of the operator's, to know where they are, to reach a kernel. */
export const BASIC = ["screen", "disk", "environment", "kernels"] as const;
/** See {@link BASIC}. */
export type Basic = typeof BASIC[number];

/** Makes a power when it is needed first. */
export type PowerSource = <K extends PowerName>(name: K) => Promise<Powers[K]>;

/** What a person who runs it as root should know. */
export const RUNS_AS_ROOT =
  "Remit runs as root: its walls stand around agents, but what you allow reaches all of this machine; an account of its own is safer";
