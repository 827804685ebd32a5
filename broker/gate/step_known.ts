/** Gate steps 1 and 2: the tool is advertised in this snapshot and unchanged since its review. @module */
import { Fault } from "../../contracts/base/fault.ts";
import { toJsonObject } from "../../contracts/base/json.ts";
import type { ToolCall } from "../../contracts/model/chat.ts";
import type { Pid } from "../../contracts/authority/ids.ts";
import type { ProcessRow } from "../../contracts/task/process.ts";
import type { PermissionMode, ToolDescriptor, ToolSnapshot } from "../../contracts/tool/tool.ts";
import { digestOf } from "../../port/digest.ts";
import { descriptorDigest } from "../guards.ts";
import {
  type GateParts,
  type JudgeParts,
  type Known,
  quoted,
  type Refusal,
  refuse,
} from "./parts.ts";
import { grantsTool, lineage } from "./step_authority.ts";

/** Finds the tool that a call names. */
export function knownTool(
  parts: Pick<JudgeParts, "tools" | "pins">,
  process: ProcessRow,
  request: { readonly call: ToolCall; readonly snapshot: string },
): Known | Refusal {
  const { call, snapshot } = request;
  if (call.unmade !== undefined) {
    const { kind, why } = call.unmade;
    return refuse(1, why, {
      code: kind === "surplus" ? "rateLimited" : "invalidArguments",
      rule: "built-in: only whole calls are made, and no more than one answer may hold",
    });
  }
  if (process.snapshot?.id !== snapshot) {
    return refuse(
      1,
      `Cannot call ${
        quoted(call.name)
      }: the tools changed since this turn began; ask for them again`,
      { code: "unknownTool", rule: "built-in: calls name the tools they were made against" },
    );
  }
  const descriptor = process.snapshot.tools.find(({ name }) => name === call.name);
  const binding = descriptor && parts.tools(process).get(descriptor.name);
  if (descriptor === undefined || binding === undefined) {
    return refuse(
      1,
      `Cannot call ${quoted(call.name)}: it is not among the tools of this turn${
        hint(call.name, process.snapshot.tools)
      }`,
      { code: "unknownTool", rule: "built-in: only advertised tools" },
    );
  }
  const digest = descriptorDigest(binding.descriptor);
  const reviewed = binding.reviewed ?? parts.pins.reviewed(descriptor.name);
  if (digest !== descriptorDigest(descriptor) || digest !== reviewed) {
    return refuse(
      2,
      `Cannot call "${descriptor.name}": it is not the tool that was reviewed; ` +
        "the operator must review it again",
      { rule: "built-in: a changed tool is a new tool" },
    );
  }
  const { name: tool } = descriptor;
  return { kind: "known", process, binding, tool, callId: call.id, descriptor, digest };
}

/** Affixes that models add to names: another family's namespace, or a channel marker. */
const AROUND =
  /^(?:functions|function|tools|tool|default_api|default|api)[.:/]+|<\|.*$|^[\s"'`]+|[\s"'`(){}:.]+$|:\d+$/gs;

/** A hint at the intended tool, if the name differs only in affixes, case or separators. */
function hint(name: string, tools: readonly { readonly name: string }[]): string {
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_");
  let bare = name.slice(0, 256);
  // Affixes may be nested.
  for (let before = ""; before !== bare;) [before, bare] = [bare, bare.replaceAll(AROUND, "")];
  const meant = tools.find((tool) => tool.name === bare) ??
    tools.find((tool) => plain(tool.name) === plain(bare));
  return meant === undefined
    ? ""
    : `; its name is ${quoted(meant.name)}, nothing before or after it`;
}

/** Returns a function that makes the snapshot of a turn's tools and records it with the process. */
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
      // An unreviewed tool is not shown to a model: its description may be hostile text.
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

/** Returns the same frozen descriptor for the same tool and mode, so that its digest stays cached. */
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
