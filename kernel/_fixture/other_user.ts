/** A user id without other processes: tests run by root use it where a user's rights matter. @module */

// A different id for each test process, because a user's processes are counted; below the ids that a container maps.
const USER = String(61_000 + Deno.pid % 4000);

/** The start line that runs another program as that user. */
export function asOtherUser<
  T extends { readonly program: string; readonly args: readonly string[] },
>(
  line: T,
): T {
  return {
    ...line,
    program: "/usr/bin/setpriv",
    args: ["--reuid", USER, "--regid", USER, "--clear-groups", "--", line.program, ...line.args],
  };
}

/** Gives that user access to a folder that no process writes meanwhile, with everything in it. */
export async function letIn(folder: string): Promise<void> {
  const chmod = new Deno.Command("chmod", { args: ["-R", "a+rX", folder], stderr: "inherit" });
  if (!(await chmod.output()).success) throw new Error(`Cannot open ${folder}`);
}

/** Gives that user access to one folder under `top`: its siblings may be vanishing. */
export async function letThrough(top: string, folder: string): Promise<void> {
  for (let path = folder; path.length > top.length; path = path.slice(0, path.lastIndexOf("/"))) {
    await Deno.chmod(path, 0o755);
  }
}
