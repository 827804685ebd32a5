/** How confidential what a task remembers may be, so that its models may read it. @module */
import { type Label, type PolicySource } from "../contracts/mod.ts";
import { cleared } from "../contracts/colour.ts";
import type { ResolvedModel } from "./model_ref.ts";

/**
 * The lowest clearance among the models beyond this machine; `secret` where there is none. A wiki that
 * is handed to a task shows no more than this, unless remit.yaml says `memory: { clearance }`: a page
 * above it would only end the conversation. The kernel judges each inference by itself.
 */
export function modelClearance(
  { choice, providers }: Pick<ResolvedModel, "choice" | "providers">,
  { clearance }: Pick<PolicySource, "clearance">,
): Label {
  const written = new Map(
    Object.entries(clearance).map(([sink, label]) => [sink.toLowerCase(), label]),
  );
  const labels = providers.map(({ host }, n): Label => {
    const sinks = [...(n === 0 ? [choice.ref] : []), host];
    return sinks.map((sink) => written.get(`model:${sink}`.toLowerCase()))
      .find((label) => label !== undefined) ?? "internal";
  });
  return labels.reduce((low, label) => cleared(label, low) ? label : low, "secret");
}
