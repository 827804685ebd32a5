/** The tools that a process sees, with the mode that the policy gives each. @module */
import {
  Fault,
  type PermissionMode,
  type Pid,
  toJsonObject,
  type ToolDescriptor,
  type ToolSnapshot,
} from "../../contracts/mod.ts";
import { digestOf } from "../../port/digest.ts";
import { descriptorDigest } from "../pins.ts";
import type { GateParts } from "./parts.ts";
import { grantsTool, lineage } from "./step_authority.ts";

/** Makes the snapshot of a turn's tools, records it with the process, and returns it. */
export function advertiser(
  parts: Pick<GateParts, "processes" | "policy" | "tools" | "pins">,
): (pid: Pid) => ToolSnapshot {
  const moded = modedDescriptors();
  const snapshots = new Map<string, ToolSnapshot>();

  return (pid) => {
    const process = parts.processes.get(pid);
    if (process === undefined) {
      throw new Fault("gone", `Cannot show tools to process ${pid}: it has ended`);
    }
    const holders = [...lineage(parts.processes, process)];
    const tools: ToolDescriptor[] = [];
    for (const [name, binding] of parts.tools(process)) {
      if (!holders.every(({ capabilities }) => grantsTool(capabilities, name))) continue;
      // A tool that nobody reviewed is not explained to a model: its description is hostile text.
      const reviewed = binding.reviewed ?? parts.pins.reviewed(name);
      if (reviewed !== descriptorDigest(binding.descriptor)) continue;
      const { mode } = parts.policy.offered({
        profile: process.profile,
        phase: process.phase,
        tool: name,
        category: binding.descriptor.category,
        effect: binding.effect,
        paths: [],
        ...(binding.granted === undefined ? {} : { granted: binding.granted }),
      });
      if (mode !== "suppress") tools.push(moded(binding.descriptor, mode));
    }
    tools.sort((a, b) => a.name < b.name ? -1 : 1);
    const shape = tools.map((tool) => `${descriptorDigest(tool)}${tool.permission}`).join();
    let snapshot = snapshots.get(shape);
    if (snapshot === undefined) {
      snapshot = Object.freeze({
        id: digestOf(tools.map(toJsonObject)),
        tools: Object.freeze(tools),
      });
      if (snapshots.size >= 256) snapshots.clear();
      snapshots.set(shape, snapshot);
    }
    parts.processes.advertise(pid, snapshot);
    return snapshot;
  };
}

/** The same frozen descriptor for the same tool and mode: digests are then kept, not made again. */
function modedDescriptors(): (of: ToolDescriptor, mode: PermissionMode) => ToolDescriptor {
  const made = new WeakMap<ToolDescriptor, Map<PermissionMode, ToolDescriptor>>();
  return (of, permission) => {
    const byMode = made.get(of) ?? new Map<PermissionMode, ToolDescriptor>();
    made.set(of, byMode);
    const before = byMode.get(permission);
    if (before !== undefined && descriptorDigest(before) === descriptorDigest(of)) return before;
    const descriptor = Object.freeze({ ...of, permission });
    byMode.set(permission, descriptor);
    return descriptor;
  };
}
