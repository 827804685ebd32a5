/** Gate steps 1 and 2: advertised in this very snapshot, and still what was reviewed. @module */
import { type ProcessRow, type ToolCall } from "../../contracts/mod.ts";
import { descriptorDigest } from "../pins.ts";
import type { JudgeParts, Known, Refusal } from "./parts.ts";
import { quoted, refuse } from "./refusal.ts";

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

/** Marks that models put around a name: another family's namespace, or a channel's mark. */
const AROUND =
  /^(?:functions|function|tools|tool|default_api|default|api)[.:/]+|<\|.*$|^[\s"'`]+|[\s"'`(){}:.]+$|:\d+$/gs;

/** The tool that was meant, where the name differs by marks, case or separators alone. */
function hint(name: string, tools: readonly { readonly name: string }[]): string {
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_");
  let bare = name.slice(0, 256);
  // One mark may stand around another.
  for (let before = ""; before !== bare;) [before, bare] = [bare, bare.replaceAll(AROUND, "")];
  const meant = tools.find((tool) => tool.name === bare) ??
    tools.find((tool) => plain(tool.name) === plain(bare));
  return meant === undefined
    ? ""
    : `; its name is ${quoted(meant.name)}, nothing before or after it`;
}
