/** A kernel and a wiki that its tasks are handed: what tests of the memory's authority besiege. */
import type { Colour, Label } from "../../contracts/authority/mod.ts";
import type { TaskMemory } from "../../contracts/task/mod.ts";
import type { KernelConfig } from "../../contracts/wire/mod.ts";
import { NOT_BUILT, provideBundles } from "../../launch/program/bundles_powers.ts";
import { provideWikiProgram } from "../../memory-wiki/host/process/programs_powers.ts";
import {
  citing,
  makeRig,
  sourceFrom,
  writePages,
  writing,
} from "../../memory-wiki/store/_fixture/wiki_rig.ts";
import type { WikiStore } from "../../memory-wiki/store/wiki_store.ts";
import { besiege, cache, type Siege } from "../fake/siege.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** A besieged kernel with a wiki. */
export interface WikiSiege extends Siege {
  /** The wiki's own store, as it is on the disk. */
  readonly store: WikiStore;
  /** What a task is handed: everything, unless said otherwise. */
  memory(changes?: Partial<TaskMemory>): TaskMemory;
  /** A page that cites a source of its own. */
  page(name: string, text: string, trust?: Trust): Promise<void>;
}

/** How trusted and confidential a source is. */
export interface Trust {
  readonly colour?: Colour;
  readonly label?: Label;
}

/** Runs `f` with a fresh kernel and a fresh wiki. */
export async function withWiki(
  f: (siege: WikiSiege) => Promise<void>,
  config: Partial<KernelConfig> = {},
): Promise<void> {
  const parts = { home: ROOT, cache: cache(), onBuild: () => undefined };
  const [bundles, wiki] = await Promise.all([
    provideBundles(parts),
    provideWikiProgram("wiki", parts),
  ]);
  using rig = makeRig();
  const { store } = await rig.open();
  const { folder, stateFolder } = rig;
  try {
    await besiege((siege) =>
      f(Object.assign(Object.create(siege) as Siege, {
        store,
        memory: (changes: Partial<TaskMemory> = {}): TaskMemory => ({
          ...{ folder, stateFolder, access: "propose", user: "write" },
          ...{ review: [], retention: {}, clearance: "secret", ...changes },
        }),
        async page(name: string, text: string, trust: Trust = {}): Promise<void> {
          const source = await store.sources.add(
            sourceFrom(`file:/docs/${name}.md`, `${text}\n`, trust),
          );
          const body = `# ${name}\n\n${text}[^1]\n\n${citing("1", source, 1)}\n`;
          await writePages(store, [writing(name, body)]);
        },
      })), {
      config: {
        bundles: { ...bundles.children, ...NOT_BUILT, wiki: wiki.bundle },
        ...config,
      },
    });
  } finally {
    store.close();
  }
}

/** A page as a scripted model proposes it. */
export const PROPOSAL = `
  - calls:
    - tool: wiki_propose
      args: { name: gale, title: Gale, kind: concept, base: 0, reason: asked, body: "In a gale they are down." }
  - say: "{{ tool.wiki_propose }}"`;
