/** Searches everything that a run leaves for a key, byte by byte and in every form in which it might be there. */
import type { Machine } from "./remit.ts";
import { ifThere, namesIn } from "./files_beneath.ts";
import { descendants } from "./processes.ts";

/** One form of a key. */
export interface Form {
  readonly name: string;
  readonly bytes: Uint8Array;
}

const encoder = new TextEncoder();

/** Base64 of a key among other bytes: the part that is certain whatever the neighbouring bytes. */
function base64Forms(key: string): readonly Form[] {
  return [0, 1, 2].flatMap((before) => {
    const whole = encoder.encode("\0".repeat(before) + key);
    const sure = whole.subarray(0, whole.length - whole.length % 3).toBase64()
      .slice(Math.ceil(before * 8 / 6));
    return [
      { name: `base64 at ${before}`, bytes: encoder.encode(sure) },
      {
        name: `base64url at ${before}`,
        bytes: encoder.encode(sure.replaceAll("+", "-").replaceAll("/", "_")),
      },
    ];
  });
}

/** Every searched form of a key. */
export function formsOf(key: string): readonly Form[] {
  const json = JSON.stringify(key).slice(1, -1);
  const each = (f: (code: number) => string): string =>
    [...key].map((char) => f(char.charCodeAt(0))).join("");
  const hex = (code: number): string => code.toString(16).padStart(2, "0");
  const texts: Readonly<Record<string, string>> = {
    plain: key,
    "JSON": json,
    "JSON in JSON": JSON.stringify(json).slice(1, -1),
    "JSON by numbers": each((code) => `\\u00${hex(code)}`),
    "JSON by numbers in JSON": each((code) => `\\\\u00${hex(code)}`),
    "percent-encoded": encodeURIComponent(key),
    "percent-encoded as a form": new URLSearchParams({ k: key }).toString().slice(2),
    "percent-encoded whole": each((code) => `%${hex(code)}`),
    hex: each(hex),
    "HEX": each(hex).toUpperCase(),
    "UTF-16": each((code) => `${String.fromCharCode(code)}\0`),
  };
  return [
    ...Object.entries(texts).map(([name, text]) => ({ name, bytes: encoder.encode(text) })),
    ...base64Forms(key),
  ];
}

/** The names of the forms that `bytes` contain. */
export function formsIn(bytes: Uint8Array, forms: readonly Form[]): readonly string[] {
  // Latin-1 keeps each byte as one character, so that text search is byte search.
  const text = new TextDecoder("latin1").decode(bytes);
  const lower = text.toLowerCase();
  return forms.filter(({ name, bytes: form }) => {
    const wanted = new TextDecoder("latin1").decode(form);
    return name.startsWith("percent")
      ? lower.includes(wanted.toLowerCase())
      : text.includes(wanted);
  }).map(({ name }) => name);
}

/** `PATH: FORM` of every file beneath `folder` that contains the key; names of files count, too. */
export async function huntFolder(
  folder: string,
  forms: readonly Form[],
  { since = 0 }: { readonly since?: number } = {},
): Promise<{ readonly hits: readonly string[]; readonly files: number }> {
  const hits: string[] = [];
  let files = 0;
  const look = async (at: string): Promise<void> => {
    for (const { name, isFile, isDirectory, isSymlink } of await ifThere(namesIn(at)) ?? []) {
      const path = `${at}/${name}`;
      hits.push(...formsIn(encoder.encode(name), forms).map((form) => `${path}: name ${form}`));
      if (isSymlink) {
        const target = encoder.encode(await ifThere(Deno.readLink(path)) ?? "");
        hits.push(...formsIn(target, forms).map((form) => `${path}: link ${form}`));
      } else if (isDirectory) await look(path);
      else if (isFile) {
        const bytes = await changedSince(path, since);
        if (bytes === undefined) continue;
        files += 1;
        hits.push(...formsIn(bytes, forms).map((form) => `${path}: ${form}`));
      }
    }
  };
  await look(folder);
  return { hits, files };
}

async function bytesOf(path: string): Promise<Uint8Array> {
  try {
    return await Deno.readFile(path);
  } catch {
    return new Uint8Array(); // it has ended meanwhile
  }
}

/** Observed processes of a run. */
export interface ProcessHunt {
  /** Observed command lines, without duplicates. */
  readonly seen: ReadonlySet<string>;
  readonly hits: readonly string[];
}

/** Excluded processes. */
export interface HuntOptions {
  /** Processes whose environment may hold the key: a person's own command. */
  readonly except?: (pid: number, command: string) => boolean;
}

/** Inspects the command lines and environments of these processes. */
export async function huntProcesses(
  pids: Iterable<number>,
  forms: readonly Form[],
  { except = () => false }: HuntOptions = {},
): Promise<ProcessHunt> {
  const hits: string[] = [];
  const seen = new Set<string>();
  for (const pid of pids) {
    const line = await bytesOf(`/proc/${pid}/cmdline`);
    const command = new TextDecoder().decode(line).replaceAll("\0", " ").trim();
    if (command !== "") seen.add(command);
    hits.push(...formsIn(line, forms).map((form) => `${command} (cmdline): ${form}`));
    if (except(pid, command)) continue;
    const environ = await bytesOf(`/proc/${pid}/environ`);
    hits.push(...formsIn(environ, forms).map((form) => `${command} (environ): ${form}`));
  }
  return { seen, hits };
}

/** Every process that now uses a machine's folders or its kernel. */
export async function processesOf(machine: Machine): Promise<ReadonlySet<number>> {
  const found = new Set(await machine.processes());
  for (const pid of [...found]) for (const child of await descendants(pid)) found.add(child.pid);
  return found;
}

/** Inspects all processes of a machine repeatedly, until `done` settles. */
export async function huntWhile(
  machine: Machine,
  forms: readonly Form[],
  { done, ...options }: HuntOptions & { readonly done: Promise<unknown> },
): Promise<ProcessHunt> {
  let over = false;
  void done.finally(() => over = true);
  const seen = new Set<string>();
  const hits = new Set<string>();
  do {
    const hunt = await huntProcesses(await processesOf(machine), forms, options);
    for (const each of hunt.seen) seen.add(each);
    for (const each of hunt.hits) hits.add(each);
    // TIMER: the start of another process gives no event.
    await new Promise((resolve) => setTimeout(resolve, 10));
  } while (!over);
  return { seen, hits: [...hits] };
}

/** The content of a file that changed since; undefined for any other, and for one that a kernel removed meanwhile. */
async function changedSince(path: string, since: number): Promise<Uint8Array | undefined> {
  const mtime = (await ifThere(Deno.stat(path)))?.mtime ?? undefined;
  return mtime === undefined || mtime.getTime() < since
    ? undefined
    : await ifThere(Deno.readFile(path));
}
