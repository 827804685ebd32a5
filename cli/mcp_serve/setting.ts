/** What the sessions of hosts are made of: once for a command, from flags and remit.yaml. @module */
import {
  type Colour,
  type Ingress,
  type Label,
  type Limits,
  type Profile,
  SessionId,
  TaskId,
  TaskRequest,
  toJson,
} from "../../contracts/mod.ts";
import type { Command } from "../command.ts";
import type { KernelLink } from "../hands.ts";
import { type RunSetting, settle } from "../run/run_setting.ts";
import { CALLER_PROGRAM } from "./caller.ts";
import { HOST_SINK } from "./result.ts";

/** Limits of a session's task where nothing else limits it: it lives as long as its host. */
const SESSION_LIMITS: Partial<Limits> = {
  wallClockMs: 12 * 60 * 60_000,
  toolCalls: 5_000,
  questions: 500,
  resultBytes: 512_000_000,
};

/** The play of a model that is never asked: the caller program infers nothing. */
const NO_PLAY = JSON.stringify({
  scenario: "a host's session",
  turns: [{ say: "Nothing is asked here." }],
});

/** A host, as the kernel knows it. */
export interface HostName {
  readonly profile: Profile;
  /** The one at this very terminal, over a pipe: not worse than YELLOW. */
  readonly own: boolean;
  /** Its token, or what it calls itself. */
  readonly principal: string;
  readonly session: SessionId;
}

/** Settles what calls are made with. */
export async function settleCalls(command: Command): Promise<RunSetting> {
  return await settle(command, { folder: command.hands.around.cwd, mounts: [], play: NO_PLAY });
}

/** The most confidential text that hosts are told. */
export function hostClearance({ config }: Pick<RunSetting, "config">): Label {
  return config.policy.clearance[HOST_SINK] ?? "internal";
}

/** What a host's words are worth. */
function hostColour({ profile, own }: Pick<HostName, "profile" | "own">): Colour {
  return own && profile === "operator" ? "YELLOW" : "RED";
}

function ingressOf(host: HostName): Ingress {
  return {
    channel: "mcp",
    principal: `mcp:${host.principal}`.slice(0, 128),
    colour: hostColour(host),
    label: "internal",
  };
}

/** Asks the kernel for a task of a host. Only a session's own tasks run the caller program. */
export async function createHostTask(
  link: KernelLink,
  setting: RunSetting,
  host: HostName,
  asked: { readonly request: string; readonly interactive: boolean },
): Promise<TaskId> {
  const { memory, wikis, mounts, agent, profile: _operators, limits } = setting;
  const clearance = hostClearance(setting);
  const request = TaskRequest.parse({
    request: asked.request,
    session: host.session,
    ingress: ingressOf(host),
    profile: host.profile,
    mounts,
    model: setting.model,
    limits: asked.interactive ? { ...SESSION_LIMITS, ...limits } : limits,
    ...(agent === undefined ? {} : { agent }),
    ...(memory === undefined
      ? {}
      : { memory: { ...memory, clearance: lower(memory.clearance, clearance) } }),
    ...(wikis.length === 0 ? {} : { wikis }),
    ...(asked.interactive || setting.instructions.length === 0
      ? {}
      : { instructions: setting.instructions }),
    ...("mcp" in setting ? { mcp: setting.mcp } : {}),
    onQuestion: "queue",
    phase: "work",
    interactive: asked.interactive,
    // A turn is one call: the host says when its changes are to be reviewed, as an agent does.
    ...(asked.interactive ? { program: CALLER_PROGRAM, review: "asked" } : {}),
  });
  const answer = await link.ask("run", toJson(request));
  return TaskId.parse((answer as { readonly task?: unknown } | null)?.task);
}

const ORDER: readonly Label[] = ["public", "internal", "secret"];

function lower(a: Label, b: Label): Label {
  return ORDER.indexOf(a) <= ORDER.indexOf(b) ? a : b;
}
