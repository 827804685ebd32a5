/** A task's files as a script sees them, in memory, with the staged changes. @module */
import type { Entry, Remit } from "../_remit.ts";
import { type CommandArgs, type CommandValue, runCommand } from "../tool.ts";

const encoder = new TextEncoder();

/** The refusals of host functions, as a script gets them. */
function refusal(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

/** The end of a part, and whether it is the last. */
const partTo = (next: number, bytes: number) => ({ bytes, next, end: next >= bytes });

/** Files by path, and every call that was made. */
export interface Desk {
  readonly remit: Remit;
  readonly staged: Map<string, string>;
  readonly calls: string[];
  run(
    program: string,
    args?: readonly string[],
    more?: Partial<CommandArgs>,
  ): Promise<CommandValue>;
}

/** Makes a desk. Paths under a `secret` folder are refused, as on the never-list. */
export function makeDesk(files: Readonly<Record<string, string | Uint8Array>>): Desk {
  const staged = new Map<string, string>();
  const calls: string[] = [];
  const all = new Map(
    Object.entries(files).map(([path, content]) => [
      path,
      typeof content === "string" ? encoder.encode(content) : content,
    ]),
  );
  const remit: Remit = {
    clock: () => Promise.resolve(1_700_000_000_123),
    fs: {
      read({ path, from = 0, bytes = 1 << 20, encoding = "text" }) {
        calls.push(`read ${path}`);
        if (path.includes("/secret/")) throw refusal("refused", "never-list");
        const content = all.get(path);
        if (content === undefined) throw refusal("notFound", `Cannot read "${path}"`);
        let end = Math.min(content.length, from + bytes);
        if (encoding === "base64") {
          const base64 = content.slice(from, end).toBase64();
          return Promise.resolve({ base64, ...partTo(end, content.length) });
        }
        while (end < content.length && ((content[end] ?? 0) & 0xc0) === 0x80) end--;
        const text = new TextDecoder().decode(content.subarray(from, end));
        return Promise.resolve({ text, ...partTo(end, content.length) });
      },
      list({ path, depth = 1, limit = 500 }) {
        calls.push(`list ${path}`);
        const top = `${path}/`;
        if (all.has(path)) throw refusal("invalidArguments", "it is not a folder");
        const found = new Map<string, Entry>();
        for (const [name, content] of all) {
          if (!name.startsWith(top)) continue;
          const parts = name.slice(top.length).split("/");
          for (let n = 1; n <= Math.min(depth, parts.length); n++) {
            const file = n === parts.length;
            const at = top + parts.slice(0, n).join("/");
            const bytes = file ? content.length : 0;
            found.set(at, { path: at, kind: file ? "file" : "folder", bytes });
          }
        }
        if (found.size === 0) throw refusal("notFound", `Cannot list "${path}"`);
        return Promise.resolve({
          entries: [...found.values()].slice(0, limit),
          cut: found.size > limit,
        });
      },
      write(file) {
        calls.push(`write ${file.path}`);
        if (file.path.startsWith("ro/")) throw refusal("refused", "read-only");
        if ("text" in file) staged.set(file.path, file.text);
        return Promise.resolve(null);
      },
    },
  };
  return {
    remit,
    staged,
    calls,
    run: (program, args = [], more = {}) => runCommand({ program, args, ...more }, remit),
  };
}
