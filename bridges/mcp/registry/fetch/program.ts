/** A program of this machine as it is run within a namespace: its real path, its code, nothing else of a home. @module */
import { basename, dirname, join } from "node:path";
import { Fault } from "../../../../contracts/base/mod.ts";
import { McpLaunch } from "../../../../contracts/exchange/mod.ts";
import { displayText } from "../../../../text/mod.ts";
import type { RegistryPowers } from "../store/store.ts";
import type { ProvidedLaunch } from "./npm.ts";
import { whyNever } from "../paths.ts";
import type { McpWish } from "../launch.ts";
import { absolute } from "../../../../launch/disk/places.ts";

type ProgramWish = Extract<McpWish, { readonly kind: "program" }>;

/** What interprets a file that its first plain argument names. */
const INTERPRETERS = /^(?:node(?:js)?|python(?:[0-9.]*)?|bun|deno|ruby|perl|php|sh|bash)$/;
const PYTHON = /^python[0-9.]*$/;
/** Folders of the machine's that every program in a namespace sees. */
const MACHINE = /^\/(?:usr|lib|lib64|bin|sbin)(?:\/|$)/;
const SHEBANG_BYTES = 256;
const DEPTH = 3;

/**
 * Finds it.
 *
 * @throws Fault `notFound`; `refused` for a script that is not there, for a shell's own words
 */
export async function programLaunch(
  powers: RegistryPowers,
  wish: ProgramWish,
  depth = 0,
): Promise<ProvidedLaunch> {
  const { environment, store } = powers;
  const asked = wish.program.includes("/") || wish.program.startsWith("~")
    ? absolute(environment, wish.program)
    : wish.program;
  const name = basename(asked);
  const found = store.find(asked);
  if (found === undefined) {
    throw new Fault(
      "notFound",
      `Cannot find program "${
        displayText(wish.program, { max: 200 })
      }": it is not in PATH, or cannot be run`,
    );
  }
  if (PYTHON.test(name)) return await pythonLaunch(powers, wish, asked);
  const script = firstLine(powers, found.path);
  if (script !== undefined && depth < DEPTH && !INTERPRETERS.test(name)) {
    // The program is a text: what reads it is the program, and it is the first argument.
    const inner = await programLaunch(powers, {
      kind: "program",
      program: script.program,
      args: [...script.args, found.path, ...wish.args],
    }, depth + 1);
    return inner;
  }
  const interprets = INTERPRETERS.test(name);
  const { args, folders, notes } = interprets
    ? placeScript(powers, wish.args)
    : { args: wish.args, folders: codeOf(powers, found.path), notes: [] };
  return provided({ program: found.path, sha256: found.sha256, args, folders }, notes);
}

function provided(
  launch:
    & { program: string; sha256: string; args: readonly string[]; folders: readonly string[] }
    & {
      env?: Readonly<Record<string, string>>;
    },
  notes: readonly string[],
): ProvidedLaunch {
  const parsed = McpLaunch.safeParse({
    ...launch,
    kind: "program",
    folders: [...new Set(launch.folders)].filter((folder) => !MACHINE.test(folder)),
  });
  if (!parsed.success) {
    throw new Fault(
      "refused",
      "Cannot contain it: its arguments are too many or too long, or a path of it holds a comma or a control character",
    );
  }
  return { launch: parsed.data, packages: [], notes };
}

async function pythonLaunch(
  powers: RegistryPowers,
  wish: ProgramWish,
  asked: string,
): Promise<ProvidedLaunch> {
  const python = await powers.store.python(asked);
  if (python === undefined) {
    throw new Fault("refused", `Cannot contain it: "${basename(asked)}" is no Python that works`);
  }
  const module = wish.args[0] === "-m";
  const { args, folders, notes } = module
    ? {
      args: wish.args,
      folders: [],
      notes: ["its code is what this machine's Python has installed: not pinned"],
    }
    : placeScript(powers, wish.args);
  const env = pythonEnv(python.packages);
  return provided({
    ...{ program: python.path, sha256: python.sha256, args },
    folders: [...python.folders, ...folders],
    ...(env === undefined ? {} : { env }),
  }, notes);
}

/** The script among an interpreter's words, by its real path, and the folder that its code lies in. */
function placeScript(
  powers: RegistryPowers,
  args: readonly string[],
): { args: readonly string[]; folders: readonly string[]; notes: readonly string[] } {
  const { environment, disk } = powers;
  const refused = (why: string): Fault => new Fault("refused", `Cannot contain it: ${why}`);
  const at = args.findIndex((word) => !word.startsWith("-"));
  const inline = args.find((word, n) =>
    (at < 0 || n <= at) && /^(?:-c|-e|-p|--eval|--print)$/.test(word)
  );
  if (inline !== undefined) throw refused(`its code stands in its arguments (${inline})`);
  const said = args[at];
  if (said === undefined) throw refused("its interpreter is given no file");
  const file = disk.real(absolute(environment, said));
  if (file === undefined || disk.stat(file)?.folder === true) {
    throw refused(`there is no file "${displayText(said, { max: 200 })}"`);
  }
  return {
    args: args.map((word, n) => n === at ? file : word),
    folders: codeOf(powers, file),
    notes: [unpinnedNote(codeOf(powers, file)[0] ?? file)],
  };
}

/** Says of a folder of code that its content is not pinned. */
export function unpinnedNote(folder: string): string {
  const shown = displayText(folder, { max: 300 });
  return `its files beneath ${shown} are not pinned: whoever changes them changes it`;
}

const ROOTS = ["package.json", "pyproject.toml", "node_modules", "setup.py", "requirements.txt"];
const CLIMB = 6;

/**
 * Where the code of a file lies: the project that holds it, else its folder, else the file alone where that folder
 * holds other things (a home, a folder of programs, Remit's own).
 */
export function codeOf(powers: RegistryPowers, file: string): readonly string[] {
  const { environment, disk } = powers;
  const home = disk.real(environment.env("HOME") ?? "/") ?? "/";
  const fits = (folder: string): boolean =>
    !`${home}/`.startsWith(`${folder}/`) && folder !== "/" && folder !== "/tmp" &&
    !/\/s?bin$/.test(folder) && whyNever(powers, { real: folder, right: "read" }) === undefined;
  let folder = dirname(file);
  for (let n = 0; n < CLIMB && fits(folder); n++) {
    if (ROOTS.some((name) => disk.real(join(folder, name)) !== undefined)) return [folder];
    folder = dirname(folder);
  }
  return [fits(dirname(file)) ? dirname(file) : file];
}

/** What a text's first line says it is read by; undefined for a program of the machine's own kind. */
function firstLine(
  { disk }: Pick<RegistryPowers, "disk">,
  path: string,
): { readonly program: string; readonly args: readonly string[] } | undefined {
  const start = new TextDecoder().decode(disk.read(path)?.subarray(0, SHEBANG_BYTES));
  const [, line = ""] = /^#!\s*([^\n]*)\n/.exec(start) ?? [];
  const [program = "", ...args] = line.trim().split(/\s+/);
  if (program === "") return undefined;
  if (basename(program) !== "env") return { program, args };
  const [name = "", ...rest] = args[0] === "-S" ? args.slice(1) : args;
  return name === "" ? undefined : { program: name, args: rest };
}

/** Its environment: packages of a virtual environment or of a tree, and no files written beside the code. */
export function pythonEnv(
  packages: readonly string[],
): Readonly<Record<string, string>> | undefined {
  if (packages.length === 0) return undefined;
  return { PYTHONPATH: packages.join(":"), PYTHONDONTWRITEBYTECODE: "1" };
}
