/** Asks the kernel before each batch whether the budgets of sources and index allow it. @module */
import { amountOf } from "../../../contracts/task/spending.ts";
import { askKernel, type Command } from "../../command.ts";
import { loadConfig } from "../../../config/files.ts";
import type { Basic } from "../../powers.ts";
import type { OnIngest } from "./files.ts";

const BUDGETED: ReadonlySet<string> = new Set(["sources", "sourceBytes", "indexBytes"]);

/** The `begin` hook of an ingest; without such budgets none, so that no kernel starts. */
export function ingestBudgets(
  command: Command<Basic | "wikis">,
  stateFolder: string,
): Pick<OnIngest, "begin"> {
  const { powers: { disk, wikis, environment }, places } = command;
  const { policy } = loadConfig(disk, places, { folder: environment.cwd, mounts: [] });
  if (!(policy.budgets ?? []).some((budget) => BUDGETED.has(amountOf(budget).of))) return {};
  const indexBytes = (): number => {
    // The database's journal lies in the state folder and counts until SQLite merges it.
    const files = [stateFolder, `${stateFolder}/index`].flatMap((folder) =>
      disk.list(folder).map((name) => `${folder}/${name}`)
    );
    // A file that was replaced since the listing counts nothing.
    return files.reduce((sum, path) => {
      const found = wikis.look(path);
      return sum + (found?.kind === "file" ? found.bytes : 0);
    }, 0);
  };
  const doing = "take sources in";
  return {
    async begin({ files, bytes }): Promise<() => Promise<void>> {
      // The index's growth is known afterwards; asking for one byte now refuses when it is full.
      const amounts = { sources: files, sourceBytes: bytes, indexBytes: 1 };
      await askKernel(command, "use", { amounts, doing, past: false });
      const before = indexBytes();
      return async () => {
        const grown = Math.max(0, indexBytes() - before - 1);
        await askKernel(command, "use", { amounts: { indexBytes: grown }, doing, past: true });
      };
    },
  };
}
