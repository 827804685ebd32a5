/** What kernel side and toolhost side of the workspace say beyond contracts/wire/wire_toolhost.ts. @module */

/** Key in a call's arguments: SHA-256 of the kernel's overlay. Schemas keep models from naming it. */
export const OVERLAY_KEY = "$overlay";

/** Key in a call's arguments: the kernel's overlay, whole; sent when the toolhost's copy is stale. */
export const CHANGES_KEY = "$changes";

/** Key in a call's arguments: only whether the patch fits the folder is looked at. */
export const CHECK = "$check";

/** Key in the arguments of {@link UNDO}: a file that is gone is made again. */
export const RESTORE = "$restore";

/** Key in a call's arguments: paths that links led to, each let through by the gate. */
export const FOLLOWED_KEY = "$followed";

/** Key in a fault's detail: the path, `MOUNT/relative`, that a link leads to. */
export const LEADS_TO = "leadsTo";

/** The toolhost tool that takes an applied patch back. Never advertised to a model. */
export const UNDO = "patch_undo";

/**
 * Key in the arguments of {@link UNDO}: what a crash left of a patch is put back, `half` only where
 * it did not go in whole, `all` in any case. The job then has the patch's own name.
 */
export const PUT_BACK = "$putBack";
