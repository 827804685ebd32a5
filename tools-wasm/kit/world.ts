/** The test environment of a plugin: files in memory, and a web of given answers. @module */
import { Fault, type Json, type JsonObject } from "../../contracts/base/mod.ts";
import type { HostFunction } from "../../contracts/tool/mod.ts";
import type { ServeHost } from "./kit.ts";
import type { ToolCase } from "./cases.ts";

const READ_BYTES = 4 * 1024 * 1024;

/** One case's world. Host functions answer like a task's kernel, without gate, leases or people. */
export interface ToolWorld {
  readonly serve: ServeHost;
  /** Files written since the world was made; null for deleted ones. */
  readonly writes: () => Readonly<Record<string, string | null>>;
}

function textIn(args: JsonObject, name: string): string {
  const value = args[name];
  if (typeof value === "string") return value;
  throw new Fault("invalidArguments", `Cannot use argument "${name}": it is missing`);
}

function countIn(args: JsonObject, name: string, other: number): number {
  const value = args[name] ?? other;
  if (typeof value === "number" && Number.isInteger(value) && value >= 0) return value;
  throw new Fault("invalidArguments", `Cannot use argument "${name}": it is no whole number`);
}

/** Makes a case's world. */
export function makeToolWorld({ files, http }: Pick<ToolCase, "files" | "http">): ToolWorld {
  const contents = new Map<string, Uint8Array>(
    Object.entries(files).map(([path, text]) => [path, new TextEncoder().encode(text)]),
  );
  const changed = new Set<string>();

  const read = (args: JsonObject): Json => {
    const path = textIn(args, "path");
    const whole = contents.get(path);
    if (whole === undefined) {
      throw new Fault("notFound", `Cannot read "${path}": it does not exist`);
    }
    const from = countIn(args, "from", 0);
    const piece = whole.subarray(
      from,
      from + Math.min(countIn(args, "bytes", READ_BYTES), READ_BYTES),
    );
    const next = from + piece.length;
    const content = args["encoding"] === "base64"
      ? { base64: new Uint8Array(piece).toBase64() }
      : { text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(piece) };
    return { ...content, bytes: whole.length, next, end: next >= whole.length };
  };

  const list = (args: JsonObject): Json => {
    const under = `${textIn(args, "path").replace(/\/+$/, "")}/`;
    const depth = countIn(args, "depth", 1);
    const limit = countIn(args, "limit", 1_000);
    const found = new Map<string, Json>();
    for (const [path, bytes] of contents) {
      if (!path.startsWith(under)) continue;
      const parts = path.slice(under.length).split("/");
      for (let n = 1; n <= Math.min(depth, parts.length); n++) {
        const at = under + parts.slice(0, n).join("/");
        const folder = n < parts.length;
        found.set(at, {
          path: at,
          kind: folder ? "folder" : "file",
          bytes: folder ? 0 : bytes.length,
        });
      }
    }
    const entries = [...found.entries()].sort(([a], [b]) => a < b ? -1 : 1).map(([, entry]) =>
      entry
    );
    return { entries: entries.slice(0, limit), cut: entries.length > limit };
  };

  const write = (args: JsonObject): Json => {
    const path = textIn(args, "path");
    const bytes = typeof args["base64"] === "string"
      ? Uint8Array.fromBase64(args["base64"])
      : new TextEncoder().encode(textIn(args, "text"));
    contents.set(path, bytes);
    changed.add(path);
    return null;
  };

  const remove = (args: JsonObject): Json => {
    const path = textIn(args, "path");
    if (!contents.delete(path)) {
      throw new Fault("notFound", `Cannot delete "${path}": it does not exist`);
    }
    changed.add(path);
    return null;
  };

  const webAnswer = (args: JsonObject): Json => {
    const url = textIn(args, "url");
    const answer = http[url];
    if (answer === undefined) {
      throw new Fault("notFound", `Cannot fetch "${url}": the case's "http" does not name it`);
    }
    return { ...answer, url, cut: false };
  };

  const serve = (fn: HostFunction, args: JsonObject): Json => {
    switch (fn) {
      case "fs.read":
        return read(args);
      case "fs.list":
        return list(args);
      case "fs.write":
        return write(args);
      case "fs.delete":
        return remove(args);
      case "http.fetch":
        return webAnswer(args);
      case "secret.use":
        return { handle: `secret:${textIn(args, "name")}` };
      case "progress":
        return null;
      default:
        throw new Fault("unavailable", `Cannot use ${fn} in a test: there is no task around it`);
    }
  };
  return Object.freeze({
    // Async, so that a refusal rejects.
    serve: async (fn: HostFunction, args: JsonObject) => await serve(fn, args),
    writes: () =>
      Object.fromEntries(
        [...changed].sort().map((path) => {
          const bytes = contents.get(path);
          return [path, bytes === undefined ? null : new TextDecoder().decode(bytes)];
        }),
      ),
  });
}
