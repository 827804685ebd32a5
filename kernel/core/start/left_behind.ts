/**
 * Ends what a kernel leaves behind. Children end with their kernel by a request of their own (see `--die-with-parent`),
 * which each can make only once it runs: a kernel that is killed between bubblewrap's clone and that request would leave
 * a process that waits for ever. A small process of ours holds a pipe to the kernel, outlives it, and then ends whatever
 * bears the kernel's mark. Should that process be killed, too, the next kernel of the same folder does it.
 * @module
 */
import type { KernelConfig } from "../../../contracts/wire/mod.ts";
import type { SpawnPowers } from "./spawn.ts";

/**
 * Every text here is a constant; marks come as variables, so that no argument of what looks for them holds one.
 * `marked` lists what bears mark $1, as /proc/PID/cmdline. `earlier` judges each of an earlier kernel by one read: a
 * child of this one bears no mark any more once it has become its program. What bears
 * the kernel's own mark is a child of the kernel ($PPID) or of another that bears it, or else an orphan. The exit code of
 * grep tells nothing: it is that of an error where a process ended meanwhile.
 */
const WATCH = `trap '' HUP INT QUIT TERM
marked() { printf '%s\\n' "$1" | grep -lsaFf - /proc/[0-9]*/cmdline; }
earlier() {
  for file in $(marked "$EARLIER"); do
    line=$(tr '\\0' ' ' 2>/dev/null <"$file") || continue
    file=\${file#/proc/}
    case $line in *"$OWN"*) ;; *"$EARLIER"*) kill -9 "\${file%/cmdline}" 2>/dev/null;; esac
  done
}
end() { for file in $files; do file=\${file#/proc/}; kill -9 "\${file%/cmdline}" 2>/dev/null; done; }
parent() { while read -r key value; do case $key in PPid:) echo "$value"; return;; esac; done; }
orphans() {
  files=$(marked "$OWN")
  [ -n "$files" ] || return
  family=" $PPID "
  for file in $files; do file=\${file#/proc/}; family="$family\${file%/cmdline} "; done
  for pid in \${family#" $PPID "}; do
    above=$(parent 2>/dev/null <"/proc/$pid/status") || continue
    case $family in *" $above "*) ;; *) kill -9 "$pid" 2>/dev/null;; esac
  done
}
earlier
while read -r _; do orphans; done
quiet=0
while [ "$quiet" -lt 5 ]; do
  files=$(marked "$OWN")
  if [ -n "$files" ]; then quiet=0; end; else quiet=$((quiet+1)); fi
  sleep 0.2
done`;

const LINE = new Uint8Array([10]);

/** Who ends what is left of a kernel. */
export interface LeftWatch {
  readonly pid: number;
  /** Ends orphans now: after something was ended that may not have begun yet. */
  look(): void;
  /** Ends the watch itself, once all children were ended in an orderly way. */
  close(): Promise<void>;
}

/** Starts that process; undefined where there is no mark, or no program by which the kernel may start a shell. */
export function watchForLeft(
  { mark, programs }: Pick<KernelConfig, "mark" | "programs">,
  spawn: Pick<SpawnPowers, "start">,
): LeftWatch | undefined {
  const { nice, prlimit } = programs;
  const begin = nice === undefined ? [prlimit, "--core=0", "--"] : [nice, "-n", "10"];
  const [program, ...args] = begin;
  if (mark === undefined || program === undefined || programs.bwrap === undefined) return undefined;
  const watcher = spawn.start({
    program,
    args: [...args.filter((each) => each !== undefined), "/bin/sh", "-c", WATCH],
    env: { PATH: "/usr/bin:/bin", EARLIER: mark.slice(0, mark.lastIndexOf("-") + 1), OWN: mark },
    onOutput: () => undefined,
    onStderr: () => undefined,
  });
  return Object.freeze({
    pid: watcher.pid,
    look: () => watcher.write(LINE),
    async close(): Promise<void> {
      watcher.kill();
      await watcher.exited;
    },
  });
}
