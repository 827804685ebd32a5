/**
 * The toolhost process: one for each task. It touches files only as its live leases allow. @module
 */
import "../../port/prelude_powers.ts";
import { WIDE_FRAME_BYTES } from "../../contracts/wire/wire_plugin.ts";
import { serveChild } from "../../port/child_powers.ts";
import { breathe, denoFiles, webSha256 } from "./fs_powers.ts";
import { makeHost } from "./host.ts";

await serveChild(
  // Nothing runs in this process but the calls that it serves.
  () => ({
    ...makeHost({ files: denoFiles(), sha256: webSha256, breathe, now: Date.now }),
    still: () => true,
  }),
  { frameBytes: WIDE_FRAME_BYTES },
);
