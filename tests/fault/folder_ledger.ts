/** Counts, from outside, how often each file of a folder was put in place. */

/** Effects on a folder, as the operating system told of them. */
export interface FolderLedger {
  /** How often a file was put in this place by a rename, or taken from it, so far. */
  effects(name: string): Promise<number>;
  close(): void;
}

/** Begins to count. The folder must exist. */
export async function watchFolder(folder: string): Promise<FolderLedger> {
  const counts = new Map<string, number>();
  const markers = new Map<string, () => void>();
  const watcher = Deno.watchFs(folder, { recursive: false });
  void (async () => {
    for await (const { kind, paths } of watcher) {
      const [path = "", second] = paths;
      // A rename is told of three times: for each of its names, and for both together.
      if (second !== undefined) continue;
      const name = path.slice(folder.length + 1);
      if (kind === "create") markers.get(name)?.();
      if (kind === "rename" || kind === "remove") counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  })();
  let next = 0;
  const settled = async (): Promise<void> => {
    // Events come in order: once this file's is here, all before it are.
    const name = `.marker-${++next}`;
    const seen = new Promise<void>((resolve) => markers.set(name, resolve));
    await Deno.writeTextFile(`${folder}/${name}`, "");
    await seen;
    await Deno.remove(`${folder}/${name}`);
  };
  await settled();
  return {
    async effects(name): Promise<number> {
      await settled();
      return counts.get(name) ?? 0;
    },
    close: () => watcher.close(),
  };
}
