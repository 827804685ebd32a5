/** How confidential what an imported server can read is. Issue 6; DESIGN section 5. @module */
import { type ImportedServer, type Label, mixLabel, type Mount } from "../../contracts/mod.ts";
import { beneath } from "../lease/scope.ts";

/**
 * The label of what a server was granted: of the mounts that its files lie in or hold, at least `internal` where it has
 * files or secrets at all, `public` otherwise.
 */
export function grantedLabel(
  { grants, secretEnv, secretHeaders }: Pick<
    ImportedServer,
    "grants" | "secretEnv" | "secretHeaders"
  >,
  mounts: readonly Pick<Mount, "dir" | "label" | "marks">[],
): Label {
  const paths = [...grants.read, ...grants.write];
  const own: Label = paths.length + secretEnv.length + secretHeaders.length > 0
    ? "internal"
    : "public";
  return mounts.filter(({ dir }) => paths.some((path) => beneath(dir, path) || beneath(path, dir)))
    .flatMap(({ label, marks }) => [label, ...marks.map((mark) => mark.label ?? label)])
    .reduce(mixLabel, own);
}
