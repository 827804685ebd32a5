/** Paths that a server is granted: absolute, real, and never where Remit keeps what is its own. @module */
import { basename, dirname, join } from "node:path";
import { Fault, McpGrants, McpSocket } from "../../../contracts/mod.ts";
import { makePathList, NEVER } from "../../../text/path_list.ts";
import type { Command } from "../../command.ts";
import { within } from "../../disk/mounts.ts";
import { absolute, type Places } from "../../disk/places.ts";

const neverListed = makePathList(NEVER.map((glob) => ({ glob, at: "built-in" })));

type Asked = Pick<Command, "places"> & {
  readonly hands: {
    readonly around: Pick<Command["hands"]["around"], "cwd" | "env" | "home">;
    readonly disk: Pick<Command["hands"]["disk"], "real" | "stat">;
  };
};

/** What no server may reach: state, sockets, keys, the operator's own rules, and Remit's code. */
function own(
  { state, runtime, config, cache }: Places,
  options: { readonly home: string; readonly right: "read" | "write" },
): readonly string[] {
  const secret = [state, runtime, dirname(config)];
  return options.right === "read" ? secret : [...secret, cache, options.home];
}

/**
 * A path as it is granted: `~/x` and relative ones made absolute, links resolved. It must be there: only what is can be
 * shown to a server.
 *
 * @throws Fault `notFound`; `refused` for a path that Remit's own files lie in, above or beneath; `invalidInput` for one
 * that cannot be written into a grant
 */
export function resolveGrant(
  command: Asked,
  text: string,
  right: "read" | "write" = "write",
): string {
  const { around, disk } = command.hands;
  const asked = absolute(around, text);
  const folder = disk.real(dirname(asked));
  const real = disk.real(asked);
  const meant = real ?? (folder === undefined ? undefined : join(folder, basename(asked)));
  const why = meant === undefined ? undefined : whyNever(command, { real: meant, right });
  if (why !== undefined) throw new Fault("refused", `Cannot grant "${text}": ${why}`);
  if (real === undefined) {
    throw new Fault(
      "notFound",
      `Cannot grant "${text}": there is no such file or folder; make it first, or grant a folder around it (--write FILE and --write DIR/ make it where its folder is)`,
    );
  }
  const { folder: isFolder, plain: isFile } = disk.stat(real) ?? { folder: true, plain: false };
  if (!isFolder && !isFile) {
    throw new Fault(
      "refused",
      `Cannot grant "${text}": it is no file or folder; a unix socket is granted by --socket PATH`,
    );
  }
  if (!McpGrants.shape.read.element.safeParse(real).success) {
    throw new Fault(
      "invalidInput",
      `Cannot grant "${text}": its path holds a comma or a control character, or is too long`,
    );
  }
  return real;
}

/**
 * The real path of a unix socket that is granted by name.
 *
 * @throws Fault `notFound`, `invalidInput` for what is no socket, `refused` for one of Remit's own
 */
export function resolveSocket(command: Asked, text: string): string {
  const { around, disk } = command.hands;
  const real = disk.real(absolute(around, text));
  if (real === undefined) {
    throw new Fault("notFound", `Cannot grant socket "${text}": there is none; start its program`);
  }
  const why = whyNever(command, { real, right: "read" });
  if (why !== undefined) throw new Fault("refused", `Cannot grant socket "${text}": ${why}`);
  if (disk.stat(real)?.socket === true && McpSocket.safeParse(`unix:${real}`).success) return real;
  throw new Fault("invalidInput", `Cannot grant socket "${text}": it is no unix socket`);
}

/** Why a real path is granted to nobody; undefined where it may be. */
export function whyNever(
  { hands: { around, disk }, places }: Asked,
  { real, right }: { readonly real: string; readonly right: "read" | "write" },
): string | undefined {
  if (real === "/") return "that is the whole machine";
  const listed = neverListed.find(real.slice(1));
  if (listed !== undefined) {
    return `it is on the never-list (${listed.glob}), which no server and no tool reads`;
  }
  const kept = own(places, { home: around.home, right }).map((path) => disk.real(path) ?? path)
    .find((path) => within(real, path) || within(path, real));
  if (kept === undefined) return undefined;
  return `${within(real, kept) ? "it lies in" : "it holds"} what is Remit's own (${kept})`;
}

/** Why a grant of remit.lock cannot be handed over now; undefined where it leads to what it did when it was given. */
export function whyMoved(
  command: Asked,
  path: string,
  right: "read" | "write",
): string | undefined {
  const { disk } = command.hands;
  const real = disk.real(path);
  if (real === undefined) return `"${path}" is not there`;
  return real === path
    ? whyNever(command, { real, right })
    : `"${path}" leads to another place now`;
}
