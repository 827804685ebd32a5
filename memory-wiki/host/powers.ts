/** Powers of the wiki commands: the wiki's process, folders, the web. @module */
import type { Json } from "../../contracts/base/mod.ts";
import type { ParseAsk, Parsed, WikiOpen, WikiStatus } from "../../contracts/wire/mod.ts";

/** The paths a wiki's process may read and write. */
export interface WikiStart {
  /** The wiki's folder, real and absolute. */
  readonly folder: string;
  /** STATE/wiki/ID, real and absolute. */
  readonly stateFolder: string;
  /** STATE/kernel, which holds the record of content trust. */
  readonly kernel: string;
  /** Real files and folders that it may also read. */
  readonly reads: readonly string[];
  readonly create: boolean;
  readonly trustedKeys: WikiOpen["trustedKeys"];
  readonly readOnly: boolean;
}

/** A running wiki process. */
export interface WikiLink {
  /** Status when it was opened. */
  readonly status: WikiStatus;
  /** Requests an operation of contracts/wire/wire_wiki.ts. Rejects with its fault; `gone` after the process ended. */
  ask(op: string, body: Json): Promise<Json>;
  /** Sets the listener for `progress` and `file`; replaces the previous one. */
  onTell(listener: (op: string, body: Json) => void): void;
  /** The path within the process of a real path of {@link WikiStart}. */
  inside(path: string): string;
  /** Ends the process. */
  close(): Promise<void>;
}

/** An entry of a folder. Links are not followed. */
export interface Entry {
  readonly name: string;
  readonly kind: "file" | "folder" | "link" | "other";
}

/** A fetched page. */
export interface Fetched {
  /** The final URL after redirects. */
  readonly url: string;
  /** Lower case without parameters; empty if the server sends none. */
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** Powers beyond ordinary files. */
export interface WikiPowers {
  /** Builds the wiki's program unless it is built. Throws `unavailable`. */
  ready(): Promise<void>;
  /**
   * Starts the process of a wiki and opens the wiki. Throws `notFound` for a folder without one,
   * `unavailable` when the process does not start, `refused` for paths that cannot be granted.
   */
  open(start: WikiStart): Promise<WikiLink>;
  /** Entries of a folder by name; empty for a missing folder; the reason, as a clause, for an unreadable one. */
  entries(folder: string): readonly Entry[] | string;
  /** Undefined for a missing or inaccessible path. A link is a link, whatever it points to. */
  look(path: string): { readonly kind: Entry["kind"]; readonly bytes: number } | undefined;
  /** Whether a path is on the never-list: keys, credentials. */
  isNever(path: string): boolean;
  /**
   * Fetches a URL: http(s), redirects within the host only, no private address unless the URL contains it
   * literally. Throws `refused`, `tooLarge`, `timedOut`, `upstream`, `notFound`, `unavailable`, `cancelled`.
   */
  fetch(url: string, signal: AbortSignal): Promise<Fetched>;
  /** All of standard input. Throws `tooLarge` above `max` bytes. */
  input(max: number): Promise<Uint8Array>;
  /** Opens a file in an editor on this terminal; resolves with the exit code. Throws `unavailable`. */
  edit(editor: string, file: string): Promise<number>;
}

/** Parses documents in processes without permissions, one process per document. */
export interface WikiParser {
  /**
   * Throws `invalidInput` for a damaged document or one of another kind, `tooLarge`, `timedOut` after the deadline,
   * `upstream` when the process ended (out of memory, a crash). A failure does not affect the next document.
   */
  parse(ask: ParseAsk): Promise<Parsed>;
  /** Kills all its processes at once; a pending parse fails with `gone`. Idempotent. */
  close(): Promise<void>;
}
