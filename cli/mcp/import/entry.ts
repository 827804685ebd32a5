/** One server of another host's configuration → what it asks for, with its keys apart. @module */
import { isAbsolute, normalize, resolve } from "node:path";
import { McpEnvName, McpServerName } from "../../../contracts/exchange/mod.ts";
import { displayText } from "../../../text/mod.ts";
import { holdsSecret, isSecret, namesSecret, secretArguments } from "../../../text/looks_secret.ts";
import { httpOf, launchOf, type McpWish } from "../../../bridges/mcp/registry/launch.ts";
import * as z from "zod";

const text = z.string().max(65_536);
/** As hosts write it; what they know beside this is left alone. */
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

/** What a host asks its user for. */
export interface HostInput {
  readonly id: string;
  /** Untrusted. */
  readonly description: string;
  readonly secret: boolean;
  readonly place: HostPlace;
}

/** A server as a configuration has it. */
export interface HostServer {
  /** What it is called there: untrusted. */
  readonly said: string;
  /** What it is called here. */
  readonly name: McpServerName;
  readonly wish: McpWish;
  /** Plain values. */
  readonly env: Readonly<Record<string, string>>;
  /** Values that are kept as secrets, and shown nowhere. */
  readonly secrets: readonly { readonly place: HostPlace; readonly value: string }[];
  /** Values that somebody must still give. */
  readonly inputs: readonly HostInput[];
  /** A sentence each, safe to show; never a value. */
  readonly notes: readonly string[];
  /** The host has it switched off. */
  readonly off: boolean;
}

interface EntryParts {
  readonly said: string;
  readonly name: McpServerName;
  readonly home: string;
  /** What `${workspaceFolder}` and relative paths mean. */
  readonly folder: string;
  readonly variable: (name: string) => string | undefined;
  readonly isThere: (path: string) => boolean;
  /** VS Code's `inputs`, by id. */
  readonly asked: ReadonlyMap<string, { readonly description: string; readonly password: boolean }>;
}

/** Harmless headers: every other one is a secret. */
const PLAIN_HEADERS = new Set(["accept", "accept-language", "content-type", "user-agent"]);
const HEADER = /^[a-z][a-z0-9-]{0,63}$/;

/** Reads it. An entry that asks for something that cannot be is read, too: `wish` says why not. */
export function readEntry(entry: HostEntry, parts: EntryParts): HostServer {
  // A variable that the entry itself gives stands before one of the caller's.
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
  const wish = placed(readWish(entry, fill, notes), fill(entry.cwd ?? "").value, { parts, notes });
  for (const [name, value] of wish.kind === "http" ? [] : Object.entries(given)) {
    if (value === null) continue;
    if (McpEnvName.safeParse(name).success) take({ env: name }, makeFiller(parts)(String(value)));
    else {notes.push(
        `variable ${displayText(name, { max: 64 })} is not handed over: it steers programs`,
      );}
  }
  const headers = wish.kind !== "http" ? [] : [
    // Those of a bridge's arguments are filled already.
    ...Object.entries(wish.headers).map(([name, value]) => [name, plainly(value)] as const),
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
    ...{ said: parts.said, name: parts.name, env, secrets, inputs, notes },
    wish: wish.kind === "http" ? { ...wish, headers: {} } : wish,
    off: entry.disabled === true || entry.enabled === false,
  };
}

/** A command whose words are files of the folder that it was started in there: it runs in a folder of its own here. */
function placed(
  wish: McpWish,
  cwd: string,
  { parts, notes }: { readonly parts: EntryParts; readonly notes: string[] },
): McpWish {
  if (cwd === "" || wish.kind === "http" || wish.kind === "refused") return wish;
  const folder = isAbsolute(cwd) ? normalize(cwd) : resolve(parts.folder, cwd);
  const place = (word: string): string => {
    const [, flag = "", path = ""] = /^(--?[^=/]+=)?(.*)$/s.exec(word) ?? [];
    // A plain word may be a file's name by chance.
    if (!/[./]/.test(path) || path.startsWith("-") || isAbsolute(path)) return word;
    const at = resolve(folder, path);
    return parts.isThere(at) || /^\.{1,2}\//.test(path) ? `${flag}${at}` : word;
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

function plainly(value: string): Filled {
  return { value, missing: [], secret: true };
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
  // Of a bridge to an address they are headers, which are kept as secrets.
  const [key] = secretArguments(plain.slice(1));
  const at = key ?? words.findIndex(({ secret }) => secret) - 1;
  if (at < 0) return wish;
  return refused(
    `its arguments hold a key (word ${at + 2}): arguments are seen by every program; servers ` +
      "take keys from a variable, --secret NAME",
  );
}

// `${…}` in another host's configuration.

interface Filled {
  readonly value: string;
  /** Ids of inputs and names of variables that have no value here. */
  readonly missing: readonly string[];
  /** A value in it came from a variable that is named like a key, or from an input. */
  readonly secret: boolean;
}

interface FillerParts {
  readonly home: string;
  readonly folder: string;
  readonly variable: (name: string) => string | undefined;
}

/**
 * Makes what fills them: `${env:X}`, `${X}`, `${X:-default}`, `${input:x}`, `${workspaceFolder}`, `${userHome}`, and a
 * leading `~/`. One pass: what a value holds is not filled again.
 */
function makeFiller({ home, folder, variable }: FillerParts): (text: string) => Filled {
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
    const known = (name: string, other: string | undefined): string => {
      const value = variable(name) ?? other;
      if (value === undefined) missing.push(name);
      else if (namesSecret(name)) secret = true;
      return value ?? "";
    };
    const value = text.replace(/\$\{([^{}]{1,256})\}/g, (whole: string, inner: string) => {
      const place = Object.hasOwn(places, inner) ? places[inner] : undefined;
      if (place !== undefined) return place;
      const [, kind, name = ""] = /^(env|input):(.*)$/s.exec(inner) ?? [];
      if (kind === "env") return known(name, undefined);
      if (kind === "input") {
        missing.push(name);
        return "";
      }
      const [, plain, other] = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s.exec(inner) ?? [];
      return plain === undefined ? whole : known(plain, other);
    });
    const placed = value === "~" || value.startsWith("~/") ? home + value.slice(1) : value;
    return { value: placed, missing, secret };
  };
}
