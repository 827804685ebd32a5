/** What the commands of the command line are handed: everything they can touch. @module */
import type { Pipe } from "./acp/pipe_powers.ts";
import type { Digest } from "../contracts/authority/mod.ts";
import type { Json } from "../contracts/base/mod.ts";
import type { BrowserChoice, PolicySource } from "../contracts/policy/mod.ts";
import type { CommandClass, ForeignAgent } from "../contracts/tool/mod.ts";
import type { Paint } from "./terminal/paint.ts";
import type { Drawn } from "./terminal/footer.ts";
import type { StoryPeer } from "./a2a/story_peer.ts";
import type { CommandOutput } from "./session/attach.ts";
import type { McpStore } from "../bridges/mcp/registry/store/store.ts";
import type { LoginPowers } from "../bridges/mcp/registry/login/login.ts";
import type { ModelHands } from "./model/hands.ts";
import type { Gateways } from "./fleet/gateway_powers.ts";
import type { Places } from "../launch/disk/places.ts";
import type { PluginKit } from "../tools-wasm/kit/kit.ts";
import type { RedteamHands } from "../redteam/mod.ts";
import type { SwarmHands } from "../swarm/mod.ts";
import type { ServeHands } from "./mcp_serve/gateway_process.ts";
import type { BackupHands } from "../service/backup/mod.ts";
import type { ServiceHands } from "./service/hands.ts";
import type { WikiHands } from "../memory-wiki/host/powers.ts";

/** Where words go. Everything given to it must be safe text. */
export interface Screen {
  /** Standard output: the answer, and nothing else. */
  out(text: string): void;
  /** One line of the live view, on standard error. */
  say(line: string): void;
  /** A line that the next one replaces; does nothing off a terminal. */
  hint(line: string): void;
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

/** What stands at a path, behind links. */
export interface FileFacts {
  readonly folder: boolean;
  /** A file, no device, pipe or socket. */
  readonly plain: boolean;
  /** A unix socket. */
  readonly socket: boolean;
  /** The permission bits. */
  readonly mode: number;
  readonly uid: number;
}

/** What lies beneath a folder. */
export interface TreeFacts {
  readonly files: number;
  readonly bytes: number;
  /** Changes with whatever changes there: hex, of names, sizes and times. Quick. */
  readonly seen: string;
  /** SHA-256 of names and contents, hex: reads all of it. */
  digest(): string;
}

/** Reads files of the operator's own. */
export interface DiskRead {
  /** Looks through a folder. Throws Fault `tooLarge` past 200,000 files. */
  tree(path: string): TreeFacts;
  /**
   * Undefined when there is no such file. With `most`, of a file that anyone may have put there: a plain one of at most so
   * many bytes. Throws Fault `refused`, `tooLarge`.
   */
  read(path: string, options?: { readonly most?: number }): Uint8Array | undefined;
  /** Names in a folder; empty when there is none. */
  list(path: string): readonly string[];
  /** The real path behind links; undefined when there is nothing. */
  real(path: string): string | undefined;
  /** Undefined when there is nothing. */
  stat(path: string): FileFacts | undefined;
  /**
   * Why nothing can be written at `path`, which need not be there yet, in words for a person: no right to, a disk that is
   * full or read-only. Undefined where it can.
   */
  obstacle(path: string): string | undefined;
}

/** Writes files of the operator's own. */
export interface DiskWrite {
  /**
   * Whole or not at all, by rename. `mode` is 0600 when not given. `fresh` leaves a file that is
   * there already as it is.
   */
  write(
    path: string,
    bytes: Uint8Array | string,
    options?: { readonly mode?: number; readonly fresh?: boolean },
  ): void;
  /** A file, or a folder with all in it; nothing when there is none. */
  remove(path: string): void;
  /** With its parents. 0700 when not given. */
  makeFolder(path: string, mode?: number): void;
  /** To what is there, whose mode stays as it is; a new file is 0600. */
  append(path: string, text: string): void;
  /** Empties a file where it is: a pipe or a device stays one, and its mode as it was. */
  clear(path: string): void;
  /** A symbolic link at `path` to `target`, which need not be there. */
  link(path: string, target: string): void;
  /** A fresh folder of the system's temporary place. */
  temporary(prefix: string): string;
}

/** The caller's surroundings. */
export interface Around {
  /** Absolute: what relative paths are taken against. */
  readonly cwd: string;
  env(name: string): string | undefined;
  readonly uid: number;
  /** Root is at work, and what it allows reaches all of this machine. */
  readonly root: boolean;
  readonly linux: boolean;
  /** How the person calls this program: `bin/remit`, or where it lies. */
  readonly command: string;
  /** Remit's own folder. */
  readonly home: string;
  now(): number;
  /** `prefix` and 12 characters of `[0-9a-z]`. */
  id(prefix: string): string;
  /** Why the folder that XDG_RUNTIME_DIR names is not used: words for a person. */
  readonly unusableRuntime?: string;
}

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

/** Which walls stand on this machine. */
export interface Walls {
  /** One line each: a name, whether it stands, and what that means. */
  look(): Promise<
    readonly { readonly wall: string; readonly stands: boolean; readonly says: string }[]
  >;
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
export interface Hands {
  readonly screen: Screen;
  /** Undefined when nobody is there. */
  readonly keyboard: Keyboard | undefined;
  readonly disk: DiskRead & DiskWrite;
  readonly around: Around;
  readonly interrupts: Interrupts;
  readonly receipts: ReceiptCheck;
  readonly logs: LogCheck;
  readonly schemas: SchemaCheck;
  readonly walls: Walls;
  readonly plugins: PluginKit;
  readonly models: ModelHands;
  readonly wikis: WikiHands;
  /** The gateway that hosts talk to. */
  readonly serve: ServeHands;
  /** Copies and checks of databases. */
  readonly backup: BackupHands;
  /** The service's own lock, door and time. */
  readonly service: ServiceHands;
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
  readonly redteam: RedteamHands;
  /** Git, checks, private folders and journals of swarms. */
  readonly swarm: SwarmHands;
  /** Standard input and output, where a protocol is spoken over them. */
  readonly pipe: Pipe;
}

/** The name of a power. A family of commands names those that it is handed; it gets no other. */
export type PowerName = keyof Hands;

/** What most commands need: to print, to read and write files of the operator's, to know where they are, to reach a kernel. */
export const BASIC = ["screen", "disk", "around", "kernels"] as const;
/** See {@link BASIC}. */
export type Basic = typeof BASIC[number];

/** Makes a power when it is needed first. */
export type PowerSource = <K extends PowerName>(name: K) => Promise<Hands[K]>;

/** What a person who runs it as root should know. */
export const RUNS_AS_ROOT =
  "Remit runs as root: its walls stand around agents, but what you allow reaches all of this machine; an account of its own is safer";
