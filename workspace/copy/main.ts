/**
 * The copy service: copies a task's mounts for runs of programs, and stages what the programs
 * changed. @module
 */
import "../../port/prelude_powers.ts";
import { WIDE_FRAME_BYTES } from "../../contracts/wire/wire_plugin.ts";
import { serveChild } from "../../port/child_powers.ts";
import { breathe, denoFiles, webSha256 } from "../host/fs_powers.ts";
import { denoCopyFiles } from "./copy_powers.ts";
import { makeCopyService } from "./service.ts";

await serveChild(
  () =>
    makeCopyService({
      ...{ files: denoFiles(), copies: denoCopyFiles(), sha256: webSha256, breathe },
      now: Date.now,
    }),
  { frameBytes: WIDE_FRAME_BYTES },
);
