/** Disks that a test can fill: a file system of a few megabytes, and a limit on the size of files. */
import { needs } from "../needs.ts";

/** A way to run out of room, and to make room again. */
export interface SmallDisk {
  readonly name: string;
  /** Whether this machine can; says so in one line if not. */
  usable(): Promise<boolean>;
  /** Words before the kernel's start line. */
  wrap(state: string): readonly string[];
  fill(kernel: { readonly pid: number; readonly state: string }): Promise<void>;
  makeRoom(kernel: { readonly pid: number; readonly state: string }): Promise<void>;
}

const MOUNT = 'mount -t tmpfs -o size=8m,mode=0700 none "$0" && mkdir -m 700 "$0/kernel" && ' +
  'cd "$0/kernel" && exec "$@"';

/** The kernel's view of a file: the small file system is in a namespace of its own. */
function filler({ pid, state }: { readonly pid: number; readonly state: string }): string {
  return `/proc/${pid}/root${state}/filler`;
}

/** STATE on a tmpfs of 8 MB, filled to the last byte. */
export const TINY_FILE_SYSTEM: SmallDisk = Object.freeze<SmallDisk>({
  name: "a full file system",
  async usable(): Promise<boolean> {
    if (!needs("unshare")) return false;
    return await succeeds("unshare", ["-rm", "mount", "-t", "tmpfs", "none", "/mnt"]) ||
      needs("unshare -rm mount");
  },
  wrap: (state: string) => ["unshare", "-rm", "sh", "-c", MOUNT, state],
  async fill(kernel): Promise<void> {
    using file = await Deno.open(filler(kernel), { write: true, createNew: true });
    for (let size = 65_536; size > 0; size = size === 1 ? 0 : Math.ceil(size / 2)) {
      try {
        for (;;) await file.write(new Uint8Array(size));
      } catch (error) {
        if (!/ENOSPC|No space left/.test(String(error))) throw error;
      }
    }
  },
  makeRoom: (kernel) => Deno.remove(filler(kernel)),
});

/** No file of the kernel's may grow any more: as a device that refuses to write. */
export const REFUSING_DEVICE: SmallDisk = Object.freeze<SmallDisk>({
  name: "a device that refuses to write",
  usable: () => Promise.resolve(needs("prlimit")),
  // SIGXFSZ ignored, so that the write fails instead of ending the kernel.
  wrap: () => ["sh", "-c", "trap '' XFSZ; exec \"$@\"", "sh"],
  fill: ({ pid }) => limit(pid, "4096"),
  makeRoom: ({ pid }) => limit(pid, "unlimited"),
});

async function limit(pid: number, bytes: string): Promise<void> {
  if (await succeeds("prlimit", ["--pid", `${pid}`, `--fsize=${bytes}:unlimited`])) return;
  throw new Error("Cannot set the limit on file sizes");
}

async function succeeds(program: string, args: readonly string[]): Promise<boolean> {
  const { success } = await new Deno.Command(program, {
    args: [...args],
    stdout: "null",
    stderr: "null",
  }).output();
  return success;
}
