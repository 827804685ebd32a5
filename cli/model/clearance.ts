/** How confidential what a task remembers may be, so that its models may read it. @module */
import { cleared, type Label, makeModelClearance, type PolicySource } from "../../contracts/mod.ts";
import type { ResolvedModel } from "./ref.ts";

/**
 * The lowest clearance among the models beyond this machine; `secret` where there is none. A wiki that
 * is handed to a task shows no more than this, unless remit.yaml says `memory: { clearance }`: a page
 * above it would only end the conversation. The kernel judges each inference by itself.
 */
export function modelClearance(
  { providers }: Pick<ResolvedModel, "providers">,
  { clearance }: Pick<PolicySource, "clearance">,
): Label {
  const clearanceOf = makeModelClearance(clearance);
  const labels = providers.map(({ ref, host }) => clearanceOf({ ref, host, remote: true }).label);
  return labels.reduce((low, label) => cleared(label, low) ? label : low, "secret");
}
