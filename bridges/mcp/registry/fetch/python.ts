/**
 * Fetches a Python package and its dependencies into a tree: wheels only, so no package's code
 * runs. Used by provide.ts.
 * @module
 */
import { join } from "node:path";
import { Fault } from "../../../../contracts/base/mod.ts";
import { McpLaunch } from "../../../../contracts/exchange/mod.ts";
import { displayText } from "../../../../text/mod.ts";
import type { RegistryPowers } from "../store/store.ts";
import type { ProvidedLaunch } from "./npm.ts";
import { isPythonNeed, type PythonNeeds, type PythonWish, type UvRunWish } from "../launch.ts";
import { codeOf, programLaunch, pythonEnv, unpinnedNote } from "./program.ts";
import { absolute } from "../../../../launch/disk/places.ts";
import type { LockedPackage } from "../lock.ts";
import { FETCH_MS, type FetchStep, type FetchStepEnd, type FoundPython } from "../store/store.ts";
import * as z from "zod";

/** Paths of the tree inside a namespace: while fetching, and while running (see `McpLaunch`). */
const FETCH_AT = "/dd";
const TREE_AT = "/tree";

/** The part of pip's report, version 1, that is read. */
const Report = z.looseObject({
  install: z.array(z.looseObject({
    metadata: z.looseObject({ name: z.string().max(214), version: z.string().max(128) }),
    download_info: z.looseObject({
      archive_info: z.looseObject({ hashes: z.record(z.string(), z.string().max(256)).optional() })
        .optional(),
    }),
  })).max(10_000),
});

/** Packages to fetch, and the program to run from them. */
interface Fetch {
  /** Its name in messages. */
  readonly name: string;
  /** Requirements in pip's syntax. */
  readonly packages: readonly string[];
  readonly needs: PythonNeeds;
  /** Words after `python`, and folders of this machine, chosen when the draft is complete. */
  run(draft: string): { readonly args: readonly string[]; readonly folders?: readonly string[] };
}

/**
 * Fetches a package with a Python of this machine and its pip.
 *
 * @throws Fault as fetchNpm does; `refused` where there is no pip, or a package would have to be
 * built
 */
export async function fetchPython(
  powers: RegistryPowers,
  wish: PythonWish,
): Promise<ProvidedLaunch> {
  const { wanted, package: name } = wish;
  return await fetchTree(powers, {
    ...{ name, needs: wish },
    packages: [wanted === "" ? name : `${name}==${wanted}`],
    run: (draft) => {
      // `uvx --from PACKAGE python -m MODULE` runs the interpreter itself.
      if (/^python[0-9.]*$/.test(wish.program)) return { args: wish.args };
      return { args: [`${TREE_AT}/${findScript(powers, { draft, wish })}`, ...wish.args] };
    },
  });
}

async function fetchTree(powers: RegistryPowers, wish: Fetch): Promise<ProvidedLaunch> {
  const { store, disk, environment, places } = powers;
  const asked = wish.needs.python ?? "python3";
  const python = await findPython(powers, asked);
  if (python === undefined || !python.pip) {
    throw new Fault(
      "refused",
      `Cannot contain "${wish.name}": packages of Python are fetched with ${asked} and its pip, and this machine has no ${
        python === undefined ? displayText(asked, { max: 100 }) : "pip of it"
      }`,
    );
  }
  const constraints = (wish.needs.constraints ?? []).map((given) => {
    const file = disk.real(absolute(environment, given));
    if (file !== undefined && disk.stat(file)?.folder !== true) return file;
    throw new Fault("notFound", `Cannot read constraints "${given}": there is no such file`);
  });
  const draft = store.draft(places.mcpTrees);
  const settings = pipSettings(powers, python);
  const reads = [...settings.reads, ...constraints.map((file) => ({ from: file, at: file }))];
  try {
    const end = await store.step({
      program: python.path,
      args: [
        ...["-I", "-m", "pip", "install", "--target", `${FETCH_AT}/lib`, "--only-binary=:all:"],
        ...["--no-input", "--no-cache-dir", "--no-compile", "--no-warn-script-location", "--quiet"],
        ...["--disable-pip-version-check", "--no-color", "--report", `${FETCH_AT}/report.json`],
        ...constraints.flatMap((file) => ["--constraint", file]),
        "--",
        ...wish.packages,
        ...(wish.needs.with ?? []),
      ],
      ...{ ...settings, reads },
      writes: { from: draft, at: FETCH_AT },
      net: true,
      deadlineMs: FETCH_MS,
    });
    if (end.code !== 0) throw whyNot(wish, end);
    const packages = readReport(disk.read(join(draft, "report.json")));
    disk.remove(join(draft, "report.json"));
    const { args, folders = [] } = wish.run(draft);
    await compile(powers, { python, draft });
    const tree = store.keep(draft, { trees: places.mcpTrees, prefix: "py" });
    return {
      launch: McpLaunch.parse({
        ...{ kind: "program", program: python.path, sha256: python.sha256, args, tree },
        folders: [...python.folders, ...folders].filter((folder) => !folder.startsWith("/usr")),
        env: pythonEnv([`${TREE_AT}/lib`]),
      }),
      packages,
      notes: [
        `runs with this machine's Python ${displayText(python.version, { max: 16 })}`,
        "UNVERIFIED: no signature or attestation of its packages was checked; that they are what their authors published is the index's word",
      ],
    };
  } catch (error) {
    store.drop(draft);
    throw error;
  }
}

/** Finds a Python by path, by name along PATH, or by version in the folders of pyenv and uv. */
async function findPython(
  { store, disk, environment }: RegistryPowers,
  asked: string,
): Promise<FoundPython | undefined> {
  if (/[/~]/.test(asked)) return await store.python(absolute(environment, asked));
  const found = await store.python(asked);
  const [, version] = /^python([0-9]+\.[0-9]+(?:\.[0-9]+)?)$/.exec(asked) ?? [];
  const home = environment.env("HOME");
  if (found !== undefined || version === undefined || home === undefined) return found;
  for (
    const [folder, prefix] of [[".pyenv/versions", ""], [".local/share/uv/python", "cpython-"]]
  ) {
    const all = join(home, folder ?? "");
    if (disk.stat(all)?.folder !== true) continue;
    const name = disk.list(all).find((each) =>
      each === `${prefix}${version}` || each.startsWith(`${prefix}${version}.`) ||
      each.startsWith(`${prefix}${version}-`)
    );
    const kept = name === undefined
      ? undefined
      : await store.python(join(all, name, "bin/python3"));
    if (kept !== undefined) return kept;
  }
  return undefined;
}

/**
 * Compiles the packages once; otherwise every start would. Compiling runs none of their code. The
 * bytecode records no time of its source: the tree's hash pins both.
 */
async function compile(
  { store }: Pick<RegistryPowers, "store">,
  { python, draft }: { readonly python: FoundPython; readonly draft: string },
): Promise<void> {
  await store.step({
    program: python.path,
    args: [
      ...["-I", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"],
      ...["-s", FETCH_AT, "-p", TREE_AT, `${FETCH_AT}/lib`],
    ],
    env: { HOME: "/tmp", LANG: "C.UTF-8" },
    reads: ["/usr", "/bin", ...python.folders].map((path) => ({ from: path, at: path })),
    writes: { from: draft, at: FETCH_AT },
    net: false,
    deadlineMs: FETCH_MS,
  });
}

/**
 * A launch for `uv run`. The packages that a script lists are fetched; a project's program must be
 * in the environment that `uv sync` made, since building a project runs its code.
 *
 * @throws Fault as fetchPython does; `notFound`
 */
export async function runWithUv(powers: RegistryPowers, wish: UvRunWish): Promise<ProvidedLaunch> {
  const { disk, environment } = powers;
  const folder = wish.folder === undefined ? environment.cwd : absolute(environment, wish.folder);
  const [first = "", ...args] = wish.args;
  const inVenv = (name: string): string | undefined => {
    const path = join(folder, ".venv", "bin", name);
    return disk.stat(path) === undefined ? undefined : path;
  };
  const isScript = wish.script || /\.pyw?$/.test(first);
  if (isScript) {
    const file = disk.real(absolute({ ...environment, cwd: folder }, first));
    if (file === undefined) {
      throw new Fault(
        "notFound",
        `Cannot run "${displayText(first, { max: 200 })}": there is no such file`,
      );
    }
    const own = scriptNeeds(file, new TextDecoder().decode(disk.read(file)));
    const packages = [...own, ...(wish.with ?? [])];
    if (packages.length > 0) {
      const { with: _with, ...needs } = wish;
      const code = codeOf(powers, file);
      const provided = await fetchTree(powers, {
        ...{ name: first, packages, needs },
        run: () => ({ args: [file, ...args], folders: code }),
      });
      return { ...provided, notes: [...provided.notes, unpinnedNote(code[0] ?? file)] };
    }
    const program = wish.python ?? inVenv("python") ?? "python3";
    return await programLaunch(powers, { kind: "program", program, args: [file, ...args] });
  }
  const program = inVenv(first);
  if (program === undefined || (wish.with ?? []).length > 0) {
    throw new Fault(
      "refused",
      `Cannot contain it: "uv run" builds a project before it runs it; run "uv sync" in ${
        displayText(folder, { max: 300 })
      } first, or name a package (uvx PACKAGE)`,
    );
  }
  const { launch, ...rest } = await programLaunch(powers, { kind: "program", program, args });
  // The environment refers to the project's own code beside it: bind that, too.
  const [code = program] = codeOf(powers, join(disk.real(folder) ?? folder, "pyproject.toml"));
  const isBound = launch.kind !== "program" || launch.folders.includes(code) ||
    disk.stat(code)?.folder !== true;
  return { ...rest, launch: isBound ? launch : { ...launch, folders: [...launch.folders, code] } };
}

/** The packages that a script lists in its comment `# /// script`. Throws `refused`. */
function scriptNeeds(file: string, text: string): readonly string[] {
  const [, block] = /^# \/\/\/ script\r?\n((?:#(?: .*)?\r?\n)+?)# \/\/\/\r?$/m.exec(text) ?? [];
  if (block === undefined) return [];
  const toml = block.replaceAll(/^# ?/gm, "").replaceAll(/^\s*#.*$/gm, "");
  const [, list = ""] = /^dependencies\s*=\s*\[([^]*?)\]\s*$/m.exec(toml) ?? [];
  const needs = [...list.matchAll(/"([^"\n]*)"|'([^'\n]*)'/g)].map(([, a, b]) =>
    (a ?? b ?? "").trim()
  );
  const wrong = needs.find((need) => !isPythonNeed(need));
  if (wrong === undefined) return needs;
  throw new Fault(
    "refused",
    `Cannot contain "${file}": it needs "${
      displayText(wrong, { max: 100 })
    }", which is no package of an index`,
  );
}

function findScript(
  { disk }: Pick<RegistryPowers, "disk">,
  { draft, wish }: { readonly draft: string; readonly wish: PythonWish },
): string {
  const bin = join(draft, "lib", "bin");
  if (disk.read(join(bin, wish.program)) !== undefined) return `lib/bin/${wish.program}`;
  const names = disk.list(bin).filter((name) => /^[A-Za-z0-9._-]+$/.test(name)).slice(0, 8);
  throw new Fault(
    "refused",
    `Cannot run "${wish.package}": it has no program "${wish.program}"${
      names.length === 0 ? "" : `; uvx --from ${wish.package} NAME, of ${names.join(", ")}`
    }`,
  );
}

function readReport(bytes: Uint8Array | undefined): LockedPackage[] {
  const wrong = new Fault("upstream", "Cannot fetch: what pip wrote down is of an unknown form");
  let read: unknown;
  try {
    read = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw wrong;
  }
  const report = Report.safeParse(read);
  if (!report.success) throw wrong;
  return report.data.install.map(({ metadata, download_info: { archive_info } }) => {
    const { sha256 } = archive_info?.hashes ?? {};
    return {
      ...{ name: metadata.name, version: metadata.version, verified: false },
      integrity: sha256 === undefined ? "" : `sha256-${sha256}`,
    };
  }).sort((a, b) => a.name < b.name ? -1 : 1);
}

/** The fault of a failed fetch. pip's output is untrusted. */
function whyNot(wish: Pick<Fetch, "name">, { said, code }: FetchStepEnd): Fault {
  const about = `Cannot fetch "${wish.name}"`;
  if (
    /NewConnectionError|Name or service not known|Temporary failure in name resolution/.test(said)
  ) {
    return new Fault(
      "unavailable",
      `${about}: the index cannot be reached; is this machine online?`,
    );
  }
  const versions = /\(from versions: ([^)]*)\)/.exec(said)?.[1] ?? "";
  if (/No matching distribution found/.test(said)) {
    return versions === "none" || versions === ""
      ? new Fault(
        "refused",
        `${about}: the index has no wheel of it, or none for this Python; to build it would be to run its code`,
      )
      : new Fault("notFound", `${about}: the index has no such version of it`);
  }
  const lines = said.split("\n").filter((each) => each.startsWith("ERROR:"));
  const line = lines.at(-1)?.replace(/^ERROR: /, "") ?? `pip ended with ${code}`;
  return new Fault("upstream", `${about}: ${displayText(line, { max: 300 })}`);
}

/** Variables by which pip finds its index. */
const PIP_VARIABLES = [
  "PIP_INDEX_URL",
  "PIP_EXTRA_INDEX_URL",
  "PIP_FIND_LINKS",
  "PIP_NO_INDEX",
  "PIP_DEFAULT_TIMEOUT",
];
const CERTIFICATE_VARIABLES = ["PIP_CERT", "SSL_CERT_FILE"];
const MAX_CONFIG_BYTES = 100_000;

/** Environment and readable files of a pip step, from the user's own pip settings. */
function pipSettings(
  powers: RegistryPowers,
  python: Pick<FoundPython, "folders">,
): Pick<FetchStep, "env" | "reads"> {
  const { disk, environment } = powers;
  const text = (path: string | undefined): string | undefined => {
    const bytes = path === undefined ? undefined : disk.read(path);
    return bytes === undefined
      ? undefined
      : new TextDecoder().decode(bytes.subarray(0, MAX_CONFIG_BYTES));
  };
  const home = environment.env("HOME");
  const own =
    (home === undefined ? [] : [join(home, ".config/pip/pip.conf"), join(home, ".pip/pip.conf")])
      .find((path) => text(path) !== undefined);
  const shared = "/etc/pip.conf";
  const said = PIP_VARIABLES.flatMap((name) => {
    const value = environment.env(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  const named = [text(own), text(shared), ...said.map(([, value]) => value)].flatMap((each) =>
    localPaths(each ?? "")
  );
  const certificates = CERTIFICATE_VARIABLES.flatMap((name) => environment.env(name) ?? []).slice(
    0,
    1,
  );
  const reads = [
    ...["/usr", "/bin", "/sbin", ...python.folders.filter((folder) => !folder.startsWith("/usr"))],
    ...[own, shared].filter((path) => path !== undefined),
    ...named,
    ...certificates,
  ].filter((path) => disk.real(path) !== undefined);
  return {
    env: {
      ...{ HOME: "/tmp", LANG: "C.UTF-8", PYTHONDONTWRITEBYTECODE: "1" },
      ...Object.fromEntries(said),
      ...(own === undefined ? {} : { PIP_CONFIG_FILE: own }),
      ...(certificates[0] === undefined ? {} : { PIP_CERT: certificates[0] }),
    },
    reads: [...new Set(reads)].map((path) => ({ from: disk.real(path) ?? path, at: path })),
  };
}

/** Local folders that pip settings name as an index or a list of links. */
function localPaths(text: string): readonly string[] {
  return [...text.matchAll(/(?:^|[\s=,])(?:file:\/\/[^/\s]*)?(\/[A-Za-z0-9._/+-]+)/g)]
    .flatMap(([, path]) => path === undefined || path.includes("..") || path === "/" ? [] : [path])
    .slice(0, 16);
}
