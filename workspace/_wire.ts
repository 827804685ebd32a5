/**
 * Keys and tool names shared by the kernel's and the toolhost's side of the workspace, beyond
 * contracts/wire/wire_toolhost.ts. @module
 */

/** Key in a call's arguments: SHA-256 of the kernel's overlay. Schemas keep models from naming it. */
export const OVERLAY_KEY = "$overlay";

/** Key in a call's arguments: the kernel's whole overlay, sent when the toolhost's is stale. */
export const CHANGES_KEY = "$changes";

/** Key in a call's arguments: only test whether the patch fits the folder; change nothing. */
export const CHECK = "$check";

/** Key in the arguments of {@link UNDO}: create a file again where the folder lost it. */
export const RESTORE = "$restore";

/** Key in a call's arguments: link targets that the gate has let the call read. */
export const FOLLOWED_KEY = "$followed";

/** Key in a fault's detail: the path `MOUNT/relative` to which a link leads. */
export const LEADS_TO = "leadsTo";

/** The toolhost tool that reverts an applied patch. Never advertised to a model. */
export const UNDO = "patch_undo";

/**
 * Key in the arguments of {@link UNDO}: reverts what a crash left of a patch. `half` reverts only a
 * patch that was applied in part, `all` any. The job then has the patch's own name.
 */
export const PUT_BACK = "$putBack";
