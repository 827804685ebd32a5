/** Budgets of sources and of the index, which the kernel counts: asked before each batch that a wiki takes in. @module */
import { amountOf } from "../../../contracts/task/spending.ts";
import { askKernel, type Command } from "../../command.ts";
import { loadConfig } from "../../../config/files.ts";
import type { Basic } from "../../powers.ts";
import type { OnIngest } from "./files.ts";

const OF: ReadonlySet<string> = new Set(["sources", "sourceBytes", "indexBytes"]);

/** Counts what a command takes in; nothing, and no kernel, where remit.yaml has no such budget. */
export function ingestBudgets(
  command: Command<Basic | "wikis">,
  stateFolder: string,
): Pick<OnIngest, "begin"> {
  const { powers: { disk, wikis, environment }, places } = command;
  const { policy } = loadConfig(disk, places, { folder: environment.cwd, mounts: [] });
  if (!(policy.budgets ?? []).some((budget) => OF.has(amountOf(budget).of))) return {};
  const index = (): number => {
    // The database's journal is part of it until it is taken in.
    const files = [stateFolder, `${stateFolder}/index`].flatMap((folder) =>
      disk.list(folder).map((name) => `${folder}/${name}`)
    );
    // A part of an index that is replaced meanwhile is none.
    return files.reduce((sum, path) => {
      const found = wikis.look(path);
      return sum + (found?.kind === "file" ? found.bytes : 0);
    }, 0);
  };
  const doing = "take sources in";
  return {
    async begin({ files, bytes }): Promise<() => Promise<void>> {
      // By how much an index grows is known when it has grown: one that is full already takes nothing more.
      const amounts = { sources: files, sourceBytes: bytes, indexBytes: 1 };
      await askKernel(command, "use", { amounts, doing, past: false });
      const before = index();
      return async () => {
        const grown = Math.max(0, index() - before - 1);
        await askKernel(command, "use", { amounts: { indexBytes: grown }, doing, past: true });
      };
    },
  };
}
