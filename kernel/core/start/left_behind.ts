/**
 * Ends processes that a killed kernel leaves behind. Children ask to die with their kernel
 * (`--die-with-parent`), but can ask only once they run: a kernel that is killed between
 * bubblewrap's clone and that request would leave a process that waits for ever. A small shell
 * process holds a pipe to the kernel, outlives it, and then kills every process with the kernel's
 * mark. When the shell process is killed too, the next kernel of the same folder does this.
 * @module
 */
import type { KernelConfig } from "../../../contracts/wire/mod.ts";
import type { SpawnPowers } from "./spawn.ts";

/**
 * The script is a constant; marks come as variables, so that the arguments of the searching
 * programs hold no mark. `marked` lists the processes with mark $1, as /proc/PID/cmdline. `earlier`
 * judges each process of an earlier kernel by one read, because a child of this kernel loses its
 * mark once it has become its program. A process with this kernel's own mark is a child of the
 * kernel ($PPID), a child of another marked process, or else an orphan. grep's exit code is
 * ignored: it reports an error where a process ended meanwhile.
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

/** The process that ends leftovers of a kernel. */
export interface LeftWatch {
  readonly pid: number;
  /** Ends orphans now: called after killing a process that may not have started fully. */
  look(): void;
  /** Ends the watching process, after all children have ended. */
  close(): Promise<void>;
}

/** Starts the watching process; undefined without a mark, or without a program through which the kernel may start a shell. */
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
