/** Memory of each kind of model service after its first answer, medians of several. @module */
import { makeTinyGguf } from "../models/_fixture/tiny_gguf.ts";
import { memoryOf } from "./_memory.ts";
import { type BenchModels, makeBenchModels, NEVER, question } from "./models/service.ts";
import { median } from "./quantile.ts";
import type { Row } from "./row.ts";
import { startLineProcess } from "./_line_process.ts";

const SERVICES = 5;
const SCENARIO = "scenario: one word\nturns:\n  - { name: end, say: Done. }";

/** Megabytes that a service may take for itself, without a model's weights. */
const MAX = { scripted: 60, remote: 90, local: 330, native: 120 } as const;

/** Gives a row for each kind; the baseline is a bare `deno run` of an empty program. */
export async function modelMemoryBench(): Promise<Row[]> {
  await using server = await startLineProcess([
    new URL("./models/stream_server.ts", import.meta.url).pathname,
  ]);
  await using models = await makeBenchModels(["model", "remote", "local", "native"]);
  const tiny = makeTinyGguf({ seed: 7 });
  const url = `${server.greeting}/v1`;
  const kinds: Partial<Record<keyof typeof MAX, { ref: string; config: string }>> = {
    scripted: {
      ref: "scripted:s.yaml",
      config: JSON.stringify({ file: "s.yaml", text: SCENARIO }),
    },
    remote: { ref: `openai:bench@${url}`, config: JSON.stringify({ model: "bench", url }) },
    local: { ref: "gguf:tiny", config: await models.keep(tiny, "wasm") },
    ...models.addon === undefined
      ? {}
      : { native: { ref: "gguf:tiny", config: await models.keep(tiny, "native") } },
  };
  const bare = await bareMemory(models);
  const rows: Row[] = [];
  for (const [kind, choice] of Object.entries(kinds)) {
    const most = MAX[kind as keyof typeof MAX];
    const [pss, rss] = await measured(models, choice);
    rows.push(
      {
        name: `${kind} model service, proportional memory`,
        ...{ value: pss, unit: "MB", baseline: bare.pss, ratio: pss / bare.pss },
        ...{ target: `≤ ${most} MB`, ok: pss <= most },
      },
      {
        name: `${kind} model service, resident memory`,
        ...{ value: rss, unit: "MB", baseline: bare.rss, ratio: rss / bare.rss },
        ...{ target: "shown", ok: true },
      },
    );
  }
  return rows;
}

async function measured(
  { services, pids }: BenchModels,
  { ref, config }: { readonly ref: string; readonly config: string },
): Promise<readonly [pss: number, rss: number]> {
  const began = pids.length;
  const open: Awaited<ReturnType<typeof services.provide>>[] = [];
  for (let n = 0; n < SERVICES; n++) {
    // Another configuration is another process.
    const other = ref.startsWith("scripted") ? { file: `${n}.yaml` } : { seed: n };
    const own = JSON.stringify({ ...JSON.parse(config), ...other });
    const model = await services.provide({ ref, config: own });
    await model.infer(question("the path"), { signal: NEVER, onChunk: () => {} });
    open.push(model);
  }
  const found = await Promise.all(pids.slice(began).map((pid) => memoryOf([pid])));
  for (const model of open) model.release();
  return [median(found.map(({ pss }) => pss)), median(found.map(({ rss }) => rss))];
}

/** As many empty programs, so that what is shared is shared alike. */
async function bareMemory({ world }: BenchModels): Promise<{ pss: number; rss: number }> {
  const empty = `${world.dir}/wait.js`;
  await Deno.writeTextFile(
    empty,
    'Deno.stdout.writeSync(new TextEncoder().encode("ready\\n"));\n' +
      "await Deno.stdin.read(new Uint8Array(1));",
  );
  await using all = new AsyncDisposableStack();
  const found = [];
  const pids: number[] = [];
  for (let n = 0; n < SERVICES; n++) pids.push(all.use(await startLineProcess([empty])).pid);
  for (const pid of pids) found.push(await memoryOf([pid]));
  return { pss: median(found.map(({ pss }) => pss)), rss: median(found.map(({ rss }) => rss)) };
}
