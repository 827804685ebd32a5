/** Reads a server that an editor hands over, separates its secrets, and computes keys that identify it. @module */
import type { McpServer } from "@agentclientprotocol/sdk";
import { toJson } from "../../contracts/base/mod.ts";
import type { McpServerName } from "../../contracts/exchange/mod.ts";
import { digestOf } from "../../port/digest.ts";
import { absolute, within } from "../../launch/disk/places.ts";
import { type HostServer, readEntry } from "../mcp/import/entry.ts";
import { freshName } from "../mcp/import/hosts.ts";
import type { LookPowers } from "../../bridges/mcp/registry/look.ts";
import { pathsIn, placeWords } from "../../bridges/mcp/registry/paths.ts";
import { keepMcpSecret } from "../../bridges/mcp/registry/secrets.ts";

/** Bytes of a file that are hashed; for a longer one, its length and time stand for the rest. */
const MAX_BYTES = 16_000_000;

/** A server as the editor handed it over. */
export interface Handed extends Pick<HostServer, "said" | "wish" | "secrets" | "notes"> {
  /** Digest of its command, arguments, names of variables and headers, and the folder's files that it may read. */
  readonly same: string;
  /** Digest of the content of its program and files: a change makes it another server. */
  readonly code: string;
  /** The words of its command; empty for a server at an address. */
  readonly words: readonly string[];
  /** Its command line, or its address. */
  readonly line: string;
}

/** Reads a server that was handed over. All its values count as secrets, whatever their names. */
export function readHanded(powers: LookPowers, server: McpServer, folder: string): Handed {
  const { disk, environment } = powers;
  const pairs = "command" in server ? server.env : server.headers;
  const values = Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
  const words = "command" in server ? placeWords(powers, [server.command, ...server.args]) : [];
  const [program = "", ...args] = words;
  const entry = "command" in server
    ? { command: program, args, env: values }
    : { url: server.url, headers: values, type: server.type };
  const read = readEntry(entry, {
    said: server.name,
    name: freshName(server.name, new Set()),
    ...{ home: environment.home, folder, asked: new Map(), literal: true },
    variable: () => undefined,
    isThere: (path) => disk.real(path) !== undefined,
  });
  const wish = "type" in server && server.type === "sse"
    ? { kind: "refused" as const, why: "the older transport (SSE) is not spoken here" }
    : read.wish;
  const all = [
    ...read.secrets,
    ...Object.entries(read.env).map(([env, value]) => ({ place: { env }, value })),
  ];
  // Empty values cannot be kept as secrets, and the server cannot be lent without them.
  const secrets = all.filter(({ value }) => value !== "");
  const notes = all.filter(({ value }) => value === "").map(({ place }) =>
    `${
      "env" in place ? `variable ${place.env}` : `header ${place.header}`
    } is empty: it is not handed over`
  );
  const found = codeOf(powers, wish, folder);
  // Agreeing to the server includes the folder's files that it may read.
  const reads = pathsIn(args).filter((path) => within(disk.real(path) ?? path, folder));
  const same = digestOf(toJson({
    ...{ wish, reads, places: secrets.map(({ place }) => place) },
    files: found.files.map(({ path }) => path),
  }));
  // A bridge to an address is not started: its words may hold the value of a header, so they are not shown.
  const line = wish.kind === "http" ? wish.url : words.join(" ");
  return {
    ...{ said: server.name, wish, secrets, notes: [...read.notes, ...notes], words, line },
    ...{ same, code: digestOf(toJson({ ...found })) },
  };
}

/** Digests of the command's program and of the files that its words name: scripts, preloads, data. */
function codeOf(
  { disk, store, environment }: LookPowers,
  wish: HostServer["wish"],
  folder: string,
): {
  readonly program: string;
  readonly files: readonly { readonly path: string; readonly sha256: string }[];
} {
  // A package's code is pinned with its tree; other files that its words name are data.
  if (wish.kind !== "program" && wish.kind !== "uvRun") return { program: "", files: [] };
  const from = { ...environment, cwd: folder };
  const cwd = absolute(from, ("folder" in wish ? wish.folder : undefined) ?? folder);
  const words = [...wish.args, ...("constraints" in wish ? wish.constraints ?? [] : [])];
  const paths = words.map((word) =>
    absolute({ ...from, cwd }, /^--?[^=/]+=(.+)$/s.exec(word)?.[1] ?? word)
  );
  const files = [...new Set(paths)].flatMap((path) =>
    disk.stat(path)?.plain === true
      ? [{ path, sha256: store.hashFile(path, { most: MAX_BYTES }) ?? "" }]
      : []
  );
  const program = wish.kind === "program" ? store.find(wish.program)?.sha256 : undefined;
  return { program: program ?? "", files };
}

/** Keeps the server's secrets, sealed, under its name here. */
export function keepValues(powers: LookPowers, name: McpServerName, { secrets }: Handed): void {
  for (const { place, value } of secrets) keepMcpSecret(powers, name, place, value);
}
