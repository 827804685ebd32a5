/** Everything that remit.yaml gives to others, settled before anything is served. @module */
import { Fault, type ImportedServer } from "../../../contracts/mod.ts";
import type { Command } from "../../command.ts";
import type { KernelLink } from "../../hands.ts";
import { kernelFor } from "../../run/kernel_for.ts";
import { lendMcp } from "../../mcp/registry/handover.ts";
import { lendKeys, provideModelPrograms } from "../../model/ready.ts";
import type { RunSetting } from "../../run/run_setting.ts";
import { settleCalls } from "../../mcp_serve/setting.ts";
import { type SettledGiven, settleGiven } from "./given_request.ts";
import { registryOf } from "../../mcp/work.ts";

/** Kinds of entries that make tasks. */
export type GivenKind = "peer" | "webhook" | "schedule";

/** What the service is made of. */
export interface ServiceSetting {
  /** What hosts over MCP call with, and all layers of configuration. */
  readonly calls: RunSetting;
  settled(kind: GivenKind, name: string): SettledGiven;
  readonly all: readonly SettledGiven[];
}

/** Settles it. Throws for the first entry that does not stand, named with its `FILE:LINE`. */
export async function settleService(command: Command): Promise<ServiceSetting> {
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

/** The kernel that serves all of it: models built, keys and servers' secrets lent. Throws as `kernelFor`. */
export async function serviceKernel(
  command: Command,
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

/** Builds the models of all of it, and lends a kernel their keys and servers' secrets. */
export async function lendService(
  command: Command,
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
