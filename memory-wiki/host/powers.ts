/** What the commands over wikis are handed beside the rest: the wiki's process, a look at folders, the web. @module */
import type { Json } from "../../contracts/base/mod.ts";
import type { ParseAsk, Parsed, WikiOpen, WikiStatus } from "../../contracts/wire/mod.ts";

/** Where a wiki's process may read and write. */
export interface WikiStart {
  /** The wiki's folder, real and absolute. */
  readonly folder: string;
  /** STATE/wiki/ID, real and absolute. */
  readonly stateFolder: string;
  /** STATE/kernel, where what is known of contents lies. */
  readonly kernel: string;
  /** Real files and folders that it may read besides. */
  readonly reads: readonly string[];
  readonly create: boolean;
  readonly trustedKeys: WikiOpen["trustedKeys"];
  readonly readOnly: boolean;
}

/** A wiki's process that was opened. */
export interface WikiLink {
  /** How the wiki stood when it was opened. */
  readonly status: WikiStatus;
  /** Asks one of the operations of contracts/wire/wire_wiki.ts. Rejects with its fault; `gone` once it has ended. */
  ask(op: string, body: Json): Promise<Json>;
  /** Hears `progress` and `file`. One listener; a later one takes its place. */
  onTell(listener: (op: string, body: Json) => void): void;
  /** Under which path the process sees a real path of the {@link WikiStart}. */
  inside(path: string): string;
  /** Ends the process. */
  close(): Promise<void>;
}

/** One name in a folder. Links are not followed. */
export interface Entry {
  readonly name: string;
  readonly kind: "file" | "folder" | "link" | "other";
}

/** What a URL gave. */
export interface Fetched {
  /** Where it came from, after redirects. */
  readonly url: string;
  /** `text/html`, in lower case and without parameters; empty when the server says nothing. */
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** Everything about wikis that is not on the ordinary disk. */
export interface WikiPowers {
  /** Builds the wiki's program unless these sources have it. Throws `unavailable`. */
  ready(): Promise<void>;
  /**
   * Starts the process of a wiki and opens it. Throws `notFound` for a folder that is none, `unavailable` when it
   * does not start, `refused` for paths that cannot be granted here.
   */
  open(start: WikiStart): Promise<WikiLink>;
  /** What lies in a folder, by name; empty where there is none; a clause that says why when it may not be read. */
  entries(folder: string): readonly Entry[] | string;
  /** Undefined when there is nothing, or it may not be looked at. A link is one, whatever it leads to. */
  look(path: string): { readonly kind: Entry["kind"]; readonly bytes: number } | undefined;
  /** Whether a path is one that no tool touches: keys, credentials. */
  isNever(path: string): boolean;
  /**
   * Gets a URL: http(s), redirects to the same host only, no private address unless the URL names one
   * literally. Throws `refused`, `tooLarge`, `timedOut`, `upstream`, `notFound`, `unavailable`, `cancelled`.
   */
  fetch(url: string, signal: AbortSignal): Promise<Fetched>;
  /** All of standard input. Throws `tooLarge` above `most` bytes. */
  input(most: number): Promise<Uint8Array>;
  /** Opens a file in an editor at this terminal; resolves with the editor's exit code. Throws `unavailable`. */
  edit(editor: string, file: string): Promise<number>;
}

/** Reads documents in processes without permissions, one process for each. */
export interface WikiParser {
  /**
   * Throws a Fault: `invalidInput` for what is damaged or none of its kind, `tooLarge`, `timedOut`
   * after the deadline, `upstream` when its process ended (out of memory, a crash). After each of
   * them the next document is read as if nothing had been.
   */
  parse(ask: ParseAsk): Promise<Parsed>;
  /** Ends every process of it at once; what is being parsed fails with `gone`. Idempotent. */
  close(): Promise<void>;
}
