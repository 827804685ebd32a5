/**
 * Ends what a kernel leaves behind. Children end with their kernel by a request of their own (see `--die-with-parent`),
 * which each can make only once it runs: a kernel that is killed between bubblewrap's clone and that request would leave
 * a process that waits for ever. A small process of ours holds a pipe to the kernel, outlives it, and then ends whatever
 * bears the kernel's mark. Should that process be killed, too, the next kernel of the same folder does it.
 * @module
 */
import type { KernelConfig } from "../../contracts/mod.ts";
import type { OsProcess, SpawnPowers } from "./spawn.ts";

/**
 * Every text here is a constant; marks come as variables, so that no argument of what looks for them holds one.
 * `left` lists processes whose arguments hold a text of $1 and none of $2, as /proc/PID/cmdline.
 */
const WATCH = `trap '' HUP INT QUIT TERM
left() {
  files=$(printf '%s\\n' "$1" | grep -lsaFf - /proc/[0-9]*/cmdline) || return 1
  [ -z "$2" ] || files=$(printf '%s\\n' "$2" | grep -LsaFf - $files)
  for file in $files; do file=\${file#/proc/}; kill -9 "\${file%/cmdline}" 2>/dev/null; done
}
left "$EARLIER" "$OWN"
while read -r _; do :; done
quiet=0
while [ "$quiet" -lt 5 ]; do
  if left "$OWN" ""; then quiet=0; else quiet=$((quiet+1)); fi
  sleep 0.2
done`;

/**
 * Starts that process; undefined where there is no mark, or no program by which the kernel may start a shell. Whoever
 * ends all children in an orderly way ends it, too.
 */
export function watchForLeft(
  { mark, programs }: Pick<KernelConfig, "mark" | "programs">,
  spawn: Pick<SpawnPowers, "start">,
): OsProcess | undefined {
  const { nice, prlimit } = programs;
  const begin = nice === undefined ? [prlimit, "--core=0", "--"] : [nice, "-n", "10"];
  const [program, ...args] = begin;
  if (mark === undefined || program === undefined || programs.bwrap === undefined) return undefined;
  return spawn.start({
    program,
    args: [...args.filter((each) => each !== undefined), "/bin/sh", "-c", WATCH],
    env: { PATH: "/usr/bin:/bin", EARLIER: mark.slice(0, mark.lastIndexOf("-") + 1), OWN: mark },
    onOutput: () => undefined,
    onStderr: () => undefined,
  });
}
