/** Converts a server of another program's configuration; its keys come out apart. @module */
import { isAbsolute, normalize, resolve } from "node:path";
import { McpEnvName, McpServerName } from "../../../contracts/exchange/mod.ts";
import { displayText } from "../../../text/mod.ts";
import { holdsSecret, isSecret, namesSecret, secretArguments } from "../../../text/looks_secret.ts";
import { httpOf, launchOf, type McpWish } from "../../../bridges/mcp/registry/launch.ts";
import * as z from "zod";

const text = z.string().max(65_536);
/** A server as hosts write it; unknown fields are ignored. */
export const HostEntry = z.looseObject({
  type: z.string().max(64).optional(),
  transport: z.string().max(64).optional(),
  command: text.optional(),
  args: z.array(text).max(64).optional(),
  env: z.record(z.string().max(256), z.union([text, z.number(), z.boolean(), z.null()])).optional(),
  envFile: text.optional(),
  cwd: text.optional(),
  url: text.optional(),
  headers: z.record(z.string().max(256), text).optional(),
  disabled: z.boolean().optional(),
  enabled: z.boolean().optional(),
});
/** See {@link HostEntry}. */
export type HostEntry = z.infer<typeof HostEntry>;

type HostPlace = { readonly env: string } | { readonly header: string };

/** A value that a host would ask its user for. */
export interface HostInput {
  readonly id: string;
  /** Untrusted. */
  readonly description: string;
  readonly secret: boolean;
  readonly place: HostPlace;
}

/** A server read from a configuration. */
export interface HostServer {
  /** Its name in the configuration: untrusted. */
  readonly originalName: string;
  /** Its name in remit.lock. */
  readonly name: McpServerName;
  readonly wish: McpWish;
  /** Variables that hold no secret. */
  readonly env: Readonly<Record<string, string>>;
  /** Values to be kept as secrets and never shown. */
  readonly secrets: readonly { readonly place: HostPlace; readonly value: string }[];
  /** Values that a person must still give. */
  readonly inputs: readonly HostInput[];
  /** Sentences that are safe to show and hold no value. */
  readonly notes: readonly string[];
  /** The host has the server switched off. */
  readonly off: boolean;
}

interface EntryParts {
  /** `${…}` and `~` are plain text. */
  readonly literal?: true;
  readonly originalName: string;
  readonly name: McpServerName;
  readonly home: string;
  /** What `${workspaceFolder}` and relative paths mean. */
  readonly folder: string;
  readonly variable: (name: string) => string | undefined;
  readonly exists: (path: string) => boolean;
  /** VS Code's `inputs`, by id. */
  readonly asked: ReadonlyMap<string, { readonly description: string; readonly password: boolean }>;
}

/** Headers that are dropped; every other header's value is a secret. */
const PLAIN_HEADERS = new Set(["accept", "accept-language", "content-type", "user-agent"]);
const HEADER = /^[a-z][a-z0-9-]{0,63}$/;

/** Converts an entry. For one that cannot be imported, `wish` says why. */
export function readEntry(entry: HostEntry, parts: EntryParts): HostServer {
  // A variable of the entry wins over the caller's.
  const given = entry.env ?? {};
  const fill = makeFiller({
    ...parts,
    variable: (name) =>
      (Object.hasOwn(given, name) ? given[name] : undefined)?.toString() ?? parts.variable(name),
  });
  const notes: string[] = [];
  const env: Record<string, string> = {};
  const secrets: { place: HostPlace; value: string }[] = [];
  const inputs: HostInput[] = [];
  const take = (place: HostPlace, filled: Filled): void => {
    const name = "env" in place ? place.env : place.header;
    const { value, missing, secret } = filled;
    const isKey = secret || "header" in place || isSecret(name, value);
    const [first] = missing;
    if (first !== undefined) {
      const { description, password } = parts.asked.get(first) ??
        { description: "", password: false };
      inputs.push({
        id: first,
        description,
        secret: password || isKey || namesSecret(name),
        place,
      });
    } else if (isKey) secrets.push({ place, value });
    else if ("env" in place) env[place.env] = value;
  };
  const wish = withAbsolutePaths(readWish(entry, fill, notes), fill(entry.cwd ?? "").value, {
    parts,
    notes,
  });
  for (const [name, value] of wish.kind === "http" ? [] : Object.entries(given)) {
    if (value === null) continue;
    if (McpEnvName.safeParse(name).success) take({ env: name }, makeFiller(parts)(String(value)));
    else {notes.push(
        `variable ${displayText(name, { max: 64 })} is not handed over: it steers programs`,
      );}
  }
  const headers = wish.kind !== "http" ? [] : [
    // Headers in a bridge's arguments have their variables filled in already.
    ...Object.entries(wish.headers).map(([name, value]) =>
      [name, { value, missing: [], secret: true }] as const
    ),
    ...Object.entries(entry.headers ?? {}).map(([name, value]) =>
      [name.toLowerCase(), fill(value)] as const
    ),
  ];
  for (const [name, value] of headers) {
    if (PLAIN_HEADERS.has(name)) continue;
    if (HEADER.test(name)) take({ header: name }, value);
    else notes.push(`header ${displayText(name, { max: 64 })} is left out: it is no header's name`);
  }
  if (entry.envFile !== undefined) notes.push("its file of variables (envFile) is not read");
  return {
    ...{ originalName: parts.originalName, name: parts.name, env, secrets, inputs, notes },
    wish: wish.kind === "http" ? { ...wish, headers: {} } : wish,
    off: entry.disabled === true || entry.enabled === false,
  };
}

/** Makes paths relative to the host's `cwd` absolute: here a server has its own folder. */
function withAbsolutePaths(
  wish: McpWish,
  cwd: string,
  { parts, notes }: { readonly parts: EntryParts; readonly notes: string[] },
): McpWish {
  if (cwd === "" || wish.kind === "http" || wish.kind === "refused") return wish;
  const folder = isAbsolute(cwd) ? normalize(cwd) : resolve(parts.folder, cwd);
  const place = (word: string): string => {
    const [, flag = "", path = ""] = /^(--?[^=/]+=)?(.*)$/s.exec(word) ?? [];
    // A word without `.` or `/` may equal a file's name by chance.
    if (!/[./]/.test(path) || path.startsWith("-") || isAbsolute(path)) return word;
    const at = resolve(folder, path);
    return parts.exists(at) || /^\.{1,2}\//.test(path) ? `${flag}${at}` : word;
  };
  const args = wish.args.map(place);
  notes.push(
    `it was started in ${
      displayText(folder, { max: 300 })
    }: its arguments are taken from there, and it runs in a folder of its own`,
  );
  if (wish.kind !== "program" || !wish.program.includes("/")) return { ...wish, args };
  return { ...wish, args, program: place(wish.program) };
}

function readWish(entry: HostEntry, fill: (text: string) => Filled, notes: string[]): McpWish {
  const refused = (why: string): McpWish => ({ kind: "refused", why });
  const address = entry.url;
  const [first, ...rest] = address === undefined
    ? [entry.command, ...(entry.args ?? [])]
    : [address];
  if (first === undefined) return refused("it has neither a command nor an address");
  const words = [first, ...rest].map(fill);
  if (words.some(({ missing }) => missing.length > 0)) {
    return refused("its arguments ask for input: a key belongs into a variable of its environment");
  }
  const plain = words.map(({ value }) => value);
  const wish = address === undefined ? launchOf(plain) : httpOf(plain[0] ?? "", {});
  if (wish.kind === "http") {
    if (holdsSecret(wish.url)) {
      return refused("its address holds a key: no address keeps one; it belongs into a header");
    }
    if (/sse/i.test(entry.type ?? entry.transport ?? "") || /\/sse\/?$/.test(wish.url)) {
      notes.push("it may speak only the older transport (SSE), which is not spoken here");
    }
    return wish;
  }
  // Arguments of a bridge to a URL were read as headers above, which are kept as secrets.
  const [key] = secretArguments(plain.slice(1));
  const at = key ?? words.findIndex(({ secret }) => secret) - 1;
  if (at < 0) return wish;
  return refused(
    `its arguments hold a key (word ${at + 2}): arguments are seen by every program; servers ` +
      "take keys from a variable, --secret NAME",
  );
}

/** A text of a configuration with its `${…}` replaced. */
interface Filled {
  readonly value: string;
  /** Ids of inputs and names of variables without a value here. */
  readonly missing: readonly string[];
  /** Part of it came from an input, or from a variable that is named like a key. */
  readonly secret: boolean;
}

/**
 * Replaces `${env:X}`, `${X}`, `${X:-default}`, `${input:x}`, `${workspaceFolder}`, `${userHome}`,
 * a leading `~/`. One pass: a value that holds `${…}` is not replaced again.
 */
function makeFiller(
  { home, folder, variable, literal }: Pick<EntryParts, "home" | "folder" | "variable" | "literal">,
): (text: string) => Filled {
  if (literal === true) return (value) => ({ value, missing: [], secret: false });
  const places: Readonly<Record<string, string>> = {
    workspaceFolder: folder,
    workspaceRoot: folder,
    userHome: home,
    "/": "/",
    pathSeparator: "/",
  };
  return (text) => {
    const missing: string[] = [];
    let secret = false;
    const valueOf = (name: string, other: string | undefined): string => {
      const value = variable(name) ?? other;
      if (value === undefined) missing.push(name);
      else if (namesSecret(name)) secret = true;
      return value ?? "";
    };
    const value = text.replace(/\$\{([^{}]{1,256})\}/g, (whole: string, inner: string) => {
      const place = Object.hasOwn(places, inner) ? places[inner] : undefined;
      if (place !== undefined) return place;
      const [, kind, name = ""] = /^(env|input):(.*)$/s.exec(inner) ?? [];
      if (kind === "env") return valueOf(name, undefined);
      if (kind === "input") {
        missing.push(name);
        return "";
      }
      const [, plain, other] = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s.exec(inner) ?? [];
      return plain === undefined ? whole : valueOf(plain, other);
    });
    const placed = value === "~" || value.startsWith("~/") ? home + value.slice(1) : value;
    return { value: placed, missing, secret };
  };
}
