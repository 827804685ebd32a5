/** Fetches a package of a Python index with all it needs into a tree: wheels only, so nothing of them runs. Issue 6. @module */
import { join } from "node:path";
import * as z from "zod";
import { Fault, McpLaunch } from "../../../contracts/mod.ts";
import { displayText } from "../../../text/mod.ts";
import type { Command } from "../../command.ts";
import type { ProvidedLaunch } from "./npm.ts";
import { pipSettings } from "./pip.ts";
import type { McpWish } from "../launch/launch.ts";
import { pythonEnv } from "./python_env.ts";
import type { LockedPackage } from "../lock/lock.ts";
import { FETCH_MS, type FetchStepEnd } from "../store/hands.ts";

type PythonWish = Extract<McpWish, { readonly kind: "python" }>;

/** Where the tree lies at fetching, and where at running (contracts, `McpLaunch`). */
const FETCH_AT = "/dd";
const TREE_AT = "/tree";

/** Of pip's report, version 1. */
const Report = z.looseObject({
  install: z.array(z.looseObject({
    metadata: z.looseObject({ name: z.string().max(214), version: z.string().max(128) }),
    download_info: z.looseObject({
      archive_info: z.looseObject({ hashes: z.record(z.string(), z.string().max(256)).optional() })
        .optional(),
    }),
  })).max(10_000),
});

/**
 * Fetches it with this machine's python3 and pip.
 *
 * @throws Fault as fetchNpm does; `refused` where there is no pip, or a package would have to be built
 */
export async function fetchPython(command: Command, wish: PythonWish): Promise<ProvidedLaunch> {
  const { hands: { mcpStore, disk }, places } = command;
  const python = await mcpStore.python("python3");
  if (python === undefined || !python.pip) {
    throw new Fault(
      "refused",
      `Cannot contain "${wish.package}": packages of Python are fetched with python3 and pip, and this machine has no ${
        python === undefined ? "python3" : "pip"
      }`,
    );
  }
  const draft = mcpStore.draft(places.mcpTrees);
  try {
    const end = await mcpStore.step({
      program: python.path,
      args: [
        ...["-I", "-m", "pip", "install", "--target", `${FETCH_AT}/lib`, "--only-binary=:all:"],
        ...["--no-input", "--no-cache-dir", "--no-compile", "--no-warn-script-location", "--quiet"],
        ...[
          "--disable-pip-version-check",
          "--no-color",
          "--report",
          `${FETCH_AT}/report.json`,
          "--",
        ],
        wish.wanted === "" ? wish.package : `${wish.package}==${wish.wanted}`,
      ],
      ...pipSettings(command, python),
      writes: { from: draft, at: FETCH_AT },
      net: true,
      deadlineMs: FETCH_MS,
    });
    if (end.code !== 0) throw whyNot(wish, end);
    const packages = readReport(disk.read(join(draft, "report.json")));
    disk.remove(join(draft, "report.json"));
    const program = findScript(command, { draft, wish });
    const tree = mcpStore.keep(draft, { trees: places.mcpTrees, prefix: "py" });
    return {
      launch: McpLaunch.parse({
        ...{ kind: "program", program: python.path, sha256: python.sha256 },
        ...{ args: [`${TREE_AT}/${program}`, ...wish.args], tree },
        folders: python.folders.filter((folder) => !folder.startsWith("/usr")),
        env: pythonEnv([`${TREE_AT}/lib`]),
      }),
      packages,
      notes: [`runs with this machine's Python ${displayText(python.version, { max: 16 })}`],
    };
  } catch (error) {
    mcpStore.drop(draft);
    throw error;
  }
}

function findScript(
  { hands: { disk } }: Command,
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

/** A sentence for a fetch that failed. What pip said is untrusted. */
function whyNot(wish: PythonWish, { said, code }: FetchStepEnd): Fault {
  const about = `Cannot fetch "${wish.package}"`;
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
