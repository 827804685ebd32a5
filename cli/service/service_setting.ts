/** Everything that remit.yaml gives to others, settled before anything is served. Issue 7. @module */
import { Fault, type ImportedServer } from "../../contracts/mod.ts";
import type { Command } from "../command.ts";
import type { KernelLink } from "../hands.ts";
import { kernelFor } from "../kernel_for.ts";
import { lendMcp } from "../mcp_choice.ts";
import { lendKeys, provideModelPrograms } from "../model_ready.ts";
import type { RunSetting } from "../run_setting.ts";
import { settleCalls } from "../serve_setting.ts";
import { type SettledGiven, settleGiven } from "./given_request.ts";

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
  { calls, all }: ServiceSetting,
): Promise<KernelLink> {
  for (const { setting } of all) await provideModelPrograms(command, setting.resolved);
  const servers = new Map<string, ImportedServer>();
  for (const { mcp } of [calls, ...all.map(({ setting }) => setting)]) {
    for (const server of mcp) servers.set(server.name, server);
  }
  const link = await kernelFor(command, calls);
  try {
    for (const { setting } of all) await lendKeys(link, setting.resolved);
    await lendMcp(command, link, [...servers.values()]);
  } catch (error) {
    link.close();
    throw error;
  }
  return link;
}
