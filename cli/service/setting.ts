/** Settles all that remit.yaml gives to others, before anything is served. @module */
import type * as z from "zod";
import type { SessionId } from "../../contracts/authority/mod.ts";
import { Fault } from "../../contracts/base/mod.ts";
import type { ImportedServer } from "../../contracts/exchange/mod.ts";
import type { WebhookConfig } from "../../contracts/policy/mod.ts";
import { type Ingress, TaskRequest } from "../../contracts/task/mod.ts";
import { instructionsIn, limitsOf } from "../run/agent_choice.ts";
import type { Command } from "../command.ts";
import { reachFields } from "../run/run_task.ts";
import { type RunSetting, settle } from "../run/run_setting.ts";
import type { Basic } from "../powers.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import { kernelFor } from "../run/kernel_for.ts";
import { lendMcp } from "../../bridges/mcp/registry/handover.ts";
import { registryOf } from "../mcp/work.ts";
import { lendKeys, provideModelPrograms } from "../model/ready.ts";
import { hostParts, settleCalls } from "../mcp_serve/host_setting.ts";
import type { LoginService } from "../../bridges/mcp/registry/login/login.ts";
import { loginUrl, makeLoginNet, sameIssuer } from "../../bridges/mcp/registry/login/net.ts";
import { openKeyRing } from "../../config/key/ring.ts";
import { openSecretKeep } from "../../config/secret/keep.ts";
import { VERSION } from "../../launch/kernel/version.ts";
import type { ServiceParts } from "../../service/mod.ts";
import { openHost } from "../../service/hosts/mod.ts";
import type { KeyFetch } from "../../service/peer/mod.ts";

/** remit.yaml's settings for tasks that others start: of a peer, a webhook, a schedule. */
export type Given = Partial<
  Pick<WebhookConfig, "agent" | "profile" | "model" | "mounts" | "mcp" | "limits">
>;

/** The caller, as the service knows it: never taken from the request. */
export interface GivenBy extends Ingress {
  readonly session: SessionId;
  /** Whether the task stays open for more turns. */
  readonly interactive: boolean;
}

/** A settled entry of remit.yaml: its model, folders, agent and limits exist. */
export interface SettledGiven {
  readonly setting: RunSetting;
  request(text: string, by: GivenBy): TaskRequest;
}

/**
 * Settles one entry. `where` names it in refusals: `peers.alice (FILE:LINE)`.
 *
 * @throws Fault as `settle`, and `invalidInput` for a folder that `mounts` does not name
 */
export async function settleGiven(
  command: Command<Basic | "keyboard" | "mcpStore" | "models" | "wikis">,
  given: Given,
  where: string,
): Promise<SettledGiven> {
  const { powers, parsed } = command;
  const flags = new Map(parsed.flags);
  flags.set("on-question", ["queue"]);
  flags.set("profile", [given.profile ?? "guest"]);
  if (given.agent === undefined) flags.delete("agent");
  else flags.set("agent", [given.agent]);
  if (given.model !== undefined) flags.set("model", [given.model]);
  let settled: RunSetting;
  try {
    settled = await settle({
      ...command,
      // The command has already reported what was left out of the layers.
      powers: { ...powers, screen: { ...powers.screen, say: () => undefined } },
      parsed: { ...parsed, flags },
    }, { folder: powers.environment.cwd, mounts: [] });
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw new Fault(error.code, `${where}: ${error.message}`, { cause: error });
  }
  const wanted = given.mounts ?? [];
  for (const name of wanted) {
    if (settled.mounts.some((mount) => mount.name === name)) continue;
    throw new Fault(
      "invalidInput",
      `${where}: Cannot hand over folder "${name}": "mounts" of remit.yaml does not name it, or its agent may not see it`,
    );
  }
  const servers = given.mcp ?? [];
  for (const name of servers) {
    if (settled.mcp.some((server) => server.name === name)) continue;
    throw new Fault(
      "invalidInput",
      `${where}: Cannot hand over "${name}": no approved server or peer has this name; see "remit mcp list"`,
    );
  }
  const mounts = settled.mounts.filter(({ name }) => wanted.some((each) => each === name));
  const setting: RunSetting = {
    ...settled,
    mounts,
    mcp: settled.mcp.filter(({ name }) => servers.includes(name)),
    limits: limitsOf({ limits: given.limits ?? {} }, settled.limits),
    instructions: instructionsIn(mounts, (path) => powers.disk.stat(path) !== undefined),
    // Others get the operator's memory only if the agent's specification permits it.
    memory: settled.agent?.memory === undefined ? undefined : settled.memory,
  };
  const same = sameOf(setting);
  return Object.freeze<SettledGiven>({
    setting,
    request: (text, { session, interactive, channel, principal, colour, label }) => ({
      ...{ ...same, request: text, session, interactive },
      ingress: { channel, principal, colour, label },
    }),
  });
}

const OwnFields = { request: true, session: true, interactive: true, ingress: true } as const;
const Same = TaskRequest.omit(OwnFields);

/** The fields common to all requests of an entry, checked once. */
function sameOf(setting: RunSetting): z.infer<typeof Same> {
  const { agent, memory, wikis, instructions } = setting;
  return Same.parse({
    profile: setting.profile,
    mounts: setting.mounts,
    model: setting.model,
    limits: setting.limits,
    ...(agent === undefined ? {} : { agent }),
    ...(memory === undefined ? {} : { memory }),
    ...(wikis.length === 0 ? {} : { wikis }),
    ...(instructions.length === 0 ? {} : { instructions }),
    ...reachFields(setting),
    onQuestion: "queue",
    phase: "work",
  });
}

/** Kinds of entries that make tasks. */
export type GivenKind = "peer" | "webhook" | "schedule";

/** All settled entries of remit.yaml for others. */
export interface ServiceSetting {
  /** The setting for hosts over MCP, with all layers of configuration. */
  readonly calls: RunSetting;
  settled(kind: GivenKind, name: string): SettledGiven;
  readonly all: readonly SettledGiven[];
}

/** Settles all entries. Throws for the first that does not settle, with its `FILE:LINE`. */
export async function settleService(
  command: Command<Basic | "keyboard" | "mcpStore" | "models" | "wikis">,
): Promise<ServiceSetting> {
  const calls = await settleCalls(command);
  const { service } = calls.config;
  const entries = [
    ...Object.entries(service.peers).map((each) => ["peer", ...each] as const),
    ...Object.entries(service.webhooks).map((each) => ["webhook", ...each] as const),
    ...Object.entries(service.schedules).map((each) => ["schedule", ...each] as const),
  ];
  const known = new Set((service.serve.skills ?? []).map(({ id }) => id));
  for (const { id, agent } of service.serve.skills ?? []) {
    if (agent === undefined || Object.hasOwn(calls.config.agents, agent)) continue;
    const entry = "serve.skills";
    throw new Fault(
      "invalidInput",
      `${entry} (${
        service.at(entry)
      }): Cannot offer skill "${id}": "agents" names no agent "${agent}"`,
    );
  }
  const settled = new Map<string, SettledGiven>();
  for (const [kind, name, given] of entries) {
    const entry = `${kind}s.${name}`;
    const where = `${entry} (${service.at(entry)})`;
    const skill = "skills" in given ? given.skills?.find((id) => !known.has(id)) : undefined;
    if (skill !== undefined) {
      throw new Fault("invalidInput", `${where}: "serve.skills" names no skill "${skill}"`);
    }
    settled.set(`${kind}.${name}`, await settleGiven(command, given, where));
  }
  return Object.freeze<ServiceSetting>({
    calls,
    all: [...settled.values()],
    settled(kind, name): SettledGiven {
      const found = settled.get(`${kind}.${name}`);
      if (found === undefined) throw new TypeError(`Cannot serve ${kind} "${name}": not settled`);
      return found;
    },
  });
}

/** The kernel of a service: models built, keys and secrets lent. Throws as `kernelFor`. */
export async function serviceKernel(
  command: Command<Basic | "mcpStore" | "models">,
  setting: ServiceSetting,
): Promise<KernelLink> {
  for (const { setting: each } of setting.all) await provideModelPrograms(command, each.resolved);
  const link = await kernelFor(command, setting.calls);
  try {
    await lendService(command, link, setting);
  } catch (error) {
    link.close();
    throw error;
  }
  return link;
}

/** Builds all models, and lends a kernel their keys and servers' secrets. */
async function lendService(
  command: Command<Basic | "mcpStore" | "models">,
  link: KernelLink,
  { calls, all }: ServiceSetting,
): Promise<void> {
  const settings = [calls, ...all.map(({ setting }) => setting)];
  for (const { resolved } of settings) await provideModelPrograms(command, resolved);
  const servers = new Map<string, ImportedServer>();
  for (const { mcp } of settings) for (const server of mcp) servers.set(server.name, server);
  for (const { resolved } of settings) await lendKeys(link, resolved);
  await lendMcp(registryOf(command), link, [...servers.values()]);
}

/** Connections to the kernel: one for requests, and one for each receiver of notices. */
export interface ServiceLinks {
  readonly main: KernelLink;
  readonly peers: KernelLink;
  readonly page: KernelLink;
}

/** The powers that a command hands to its service. */
export function servicePowers(
  command: Command<
    Basic | "keyboard" | "login" | "mcpStore" | "models" | "serve" | "service" | "wikis"
  >,
  { links, note }: { readonly links: ServiceLinks; note(text: string): void },
): Omit<ServiceParts<ServiceSetting>, "rules" | "page" | "url" | "render"> {
  const { powers, places } = command;
  return {
    ...{ links, note, disk: powers.disk, places, version: VERSION, id: powers.environment.id },
    ...{ after: powers.service.after, random: powers.service.random },
    now: () => powers.environment.now(),
    signer: openKeyRing(powers.disk, places).provideService(),
    keys: keyFetch(command),
    hookSecret: (name) => openSecretKeep(powers.disk, places).loadHook(name),
    lend: (setting) => lendService(command, links.main, setting),
    openHost({ calls }, { session, holder, tell }) {
      const shared = hostParts(command, { setting: calls, link: Promise.resolve(links.main) });
      return openHost({ ...shared, tell, own: false }, session, holder);
    },
    startGateway: powers.serve.start,
  };
}

/** Fetches issuers' documents with its own net service, restarted after a failure. */
function keyFetch({ powers }: Command<Basic | "login">): KeyFetch & { close(): Promise<void> } {
  let service: Promise<LoginService> | undefined;
  const close = async (): Promise<void> => {
    const held = service;
    service = undefined;
    await held?.then((each) => each.close(), () => undefined);
  };
  return Object.freeze({
    ...{ close, vet: loginUrl, same: sameIssuer },
    async get(url: URL, issuer: URL) {
      service ??= powers.login.start();
      try {
        return await makeLoginNet((await service).link, issuer).get(url);
      } catch (error) {
        await close();
        throw error;
      }
    },
  });
}
