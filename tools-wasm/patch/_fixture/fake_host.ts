/** A workspace in memory, with the interface of the host's functions. @module */
import type { PatchHost } from "../tool.ts";

/** The files, the requests for them, and the host. */
export interface FakeHost {
  readonly remit: PatchHost;
  readonly files: Map<string, string>;
  /** `write desk/x`, `delete desk/x`, in order. */
  readonly changes: string[];
}

/** Makes a workspace with these `entries`. Reads come in parts of `part` characters. */
export function makeFakeHost(
  entries: Readonly<Record<string, string>>,
  part = 1_000_000,
): FakeHost {
  const files = new Map(Object.entries(entries));
  const changes: string[] = [];
  const remit: PatchHost = {
    fs: {
      read: ({ path, from = 0 }) => {
        const text = files.get(path);
        if (text === undefined) {
          return Promise.reject(Object.assign(new Error("no such file"), { code: "notFound" }));
        }
        const next = Math.min(text.length, from + part);
        return Promise.resolve({ text: text.slice(from, next), bytes: text.length, next });
      },
      write: ({ path, text }) => {
        files.set(path, text);
        changes.push(`write ${path}`);
        return Promise.resolve(null);
      },
      delete: ({ path }) => {
        files.delete(path);
        changes.push(`delete ${path}`);
        return Promise.resolve(null);
      },
    },
  };
  return { remit, files, changes };
}
