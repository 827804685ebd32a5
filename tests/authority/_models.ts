/** A provider in a tester's hands, and tasks that use it: what the kernel takes for a remote one. */
import { SessionId, TaskId } from "../../contracts/authority/mod.ts";
import { NO_POLICY, type PolicySource } from "../../contracts/policy/mod.ts";
import type { Limits, TaskRequest } from "../../contracts/task/mod.ts";
import type { Mount } from "../../contracts/tool/mod.ts";
import type { KernelConfig } from "../../contracts/wire/mod.ts";
import { NOT_BUILT, provideBundles } from "../../launch/program/bundles_powers.ts";
import { digestSources } from "../../launch/program/source_digest_powers.ts";
import { modelPrograms, provideModelProgram } from "../../launch/program/model_programs_powers.ts";
import { serveOpenai } from "../../models/_fixture/providers/mod.ts";
import { besiege, cache, type Siege, type Watched } from "../fake/siege.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** A provider on this machine. */
export type Provider = ReturnType<typeof serveOpenai>;

/** What a test says of a task; the rest is an honest operator's. */
export interface ModelDraft {
  /** More of the configuration: price, rates. */
  readonly config?: object;
  /** A name of the model: another service, at the same provider. */
  readonly model?: string;
  readonly profile?: TaskRequest["profile"];
  readonly colour?: TaskRequest["ingress"]["colour"];
  readonly label?: TaskRequest["ingress"]["label"];
  readonly mounts?: readonly Mount[];
  readonly limits?: Partial<Limits>;
  readonly onQuestion?: TaskRequest["onQuestion"];
  readonly program?: string;
  readonly escalate?: TaskRequest["model"]["escalate"];
}

/** A kernel, a provider, and tasks between them. */
export interface ModelSiege extends Siege {
  readonly provider: Provider;
  /** `model:HOST` of the provider, for clearances. */
  readonly sink: string;
  /** Runs a task whose model is the provider's. */
  think(draft?: ModelDraft): Promise<Watched>;
  /** The model as a request names it. */
  choice(model?: string, config?: object): { readonly ref: string; readonly config: string };
}

/** Runs `f` with a provider that text leaves this machine for: not under a loopback name. */
export async function withProvider(
  f: (siege: ModelSiege) => Promise<void>,
  policyOf: (sink: string) => Partial<PolicySource> = () => ({}),
): Promise<void> {
  const parts = { home: ROOT, cache: cache(), onBuild: () => undefined };
  const [bundles] = await Promise.all([
    provideBundles(parts),
    provideModelProgram("remote", parts),
  ]);
  await using provider = serveOpenai({ key: null });
  // Linux connects 0.0.0.0 to itself; to the kernel it is a host like any other.
  const url = provider.url.replace("127.0.0.1", "0.0.0.0");
  const sink = `model:${new URL(url).host}`;
  const config: Partial<KernelConfig> = {
    policy: { ...NO_POLICY, ...policyOf(sink) },
    bundles: {
      ...bundles.children,
      ...NOT_BUILT,
      remote: modelPrograms(cache(), digestSources(ROOT)).remote,
    },
  };
  await besiege(async (siege) => {
    const choice: ModelSiege["choice"] = (model = "m", more = {}) => ({
      ref: `openai:${model}`,
      config: JSON.stringify({ model, url, ...more }),
    });
    const think = async (draft: ModelDraft = {}): Promise<Watched> => {
      const { task } = await siege.ask("run", requestOf(draft, { siege, choice })) as {
        task: string;
      };
      return await siege.watch(TaskId.parse(task));
    };
    await f({ ...siege, provider, sink, choice, think });
  }, { config });
}

function requestOf(
  draft: ModelDraft,
  { siege, choice }: Pick<ModelSiege, "choice"> & { readonly siege: Siege },
): object {
  return {
    request: "Do what you can.",
    session: SessionId.parse("s000000000000"),
    ingress: {
      channel: "terminal",
      principal: "alice",
      colour: draft.colour ?? "BLUE",
      label: draft.label ?? "public",
    },
    profile: draft.profile ?? "operator",
    mounts: draft.mounts ?? [siege.mount()],
    model: {
      ...choice(draft.model, draft.config),
      ...(draft.escalate === undefined ? {} : { escalate: draft.escalate }),
    },
    limits: draft.limits ?? {},
    onQuestion: draft.onQuestion ?? "queue",
    phase: "work",
    interactive: false,
    ...(draft.program === undefined ? {} : { program: draft.program }),
  };
}
