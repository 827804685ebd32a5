/** The description of `command` for models. @module */
import { GRANTED_PROGRAMS, type GrantedCommand } from "../../contracts/tool/command.ts";
import type { ToolDescriptor } from "../../contracts/tool/tool.ts";

/** Maximum length of a description that providers accept. */
const MAX_DESCRIPTION = 4_096;

/** The sandbox's descriptor plus the granted programs, so that a grant is reviewed as a change. */
export function commandDescriptor(
  sandbox: ToolDescriptor,
  classes: readonly GrantedCommand[],
): ToolDescriptor {
  if (classes.length === 0) return sandbox;
  const lines = classes.map(({ name, args, env }) => {
    const first = args === undefined ? "" : ` (first argument: ${args.join(", ")})`;
    const variables = env.length === 0 ? "" : ` (env: ${env.join(", ")})`;
    return `${name}${first}${variables}`;
  });
  const description = `${sandbox.description} ${GRANTED_PROGRAMS}, over a copy of the mount, ` +
    `without network: ${lines.join("; ")}.`;
  return Object.freeze({ ...sandbox, description: description.slice(0, MAX_DESCRIPTION) });
}
