/** Tasks of a besieged kernel whose model service is real, or is mallory's program in its place. */
import { SessionId, TaskId } from "../../../contracts/authority/mod.ts";
import type { KernelConfig } from "../../../contracts/wire/mod.ts";
import { NOT_BUILT, provideBundles } from "../../../launch/program/bundles_powers.ts";
import { digestSources } from "../../../launch/program/source_digest_powers.ts";
import {
  modelPrograms,
  provideModelProgram,
} from "../../../launch/program/model_programs_powers.ts";
import { besiege, cache, type Siege, type Watched } from "../../fake/siege.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;

/** What a test says of a task with a model of its own. */
export interface ModelTask {
  /** As `openai:m@…`. */
  readonly ref: string;
  readonly config: object;
  readonly limits?: object;
}

/** Runs a task with that model. */
export async function think(
  siege: Siege,
  { ref, config, limits = {} }: ModelTask,
): Promise<Watched> {
  const { task } = await siege.ask("run", {
    ...{
      request: "Do what you can.",
      session: SessionId.parse("s000000000000"),
      profile: "operator",
    },
    ...{ onQuestion: "queue", phase: "work", interactive: false, limits },
    ingress: { channel: "terminal", principal: "alice", colour: "BLUE", label: "public" },
    mounts: [siege.mount()],
    model: { ref, config: JSON.stringify(config) },
  }) as { task: string };
  return await siege.watch(TaskId.parse(task));
}

/** The reason with which a task ended. */
export async function reasonOf(task: Watched): Promise<string> {
  return String((await task.task())["reason"]);
}

/** Runs `f` against a kernel with the programs of model services, or others in their place. */
export async function withServices(
  f: (siege: Siege) => Promise<void>,
  { bundles: own, ...config }: Omit<Partial<KernelConfig>, "bundles"> & {
    readonly bundles?: Partial<KernelConfig["bundles"]>;
  } = {},
): Promise<void> {
  const parts = { home: ROOT, cache: cache(), onBuild: () => undefined };
  const [bundles] = await Promise.all([
    provideBundles(parts),
    provideModelProgram("remote", parts),
    provideModelProgram("local", parts),
  ]);
  const { remote, local } = modelPrograms(cache(), digestSources(ROOT));
  await besiege(f, {
    config: { ...config, bundles: { ...bundles.children, ...NOT_BUILT, remote, local, ...own } },
  });
}
