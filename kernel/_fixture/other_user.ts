/** A user of no other process: a test of root's has one where rights of a user matter. @module */

// One of a process, for the processes of a user are counted; below what a container maps.
const USER = String(61_000 + Deno.pid % 4000);

/** The line that starts another as that user. */
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

/** Lets that user into a folder that nothing else writes meanwhile, with all that is in it. */
export async function letIn(folder: string): Promise<void> {
  const chmod = new Deno.Command("chmod", { args: ["-R", "a+rX", folder], stderr: "inherit" });
  if (!(await chmod.output()).success) throw new Error(`Cannot open ${folder}`);
}

/** Lets that user into one folder under `top`: what stands beside it may be going away. */
export async function letThrough(top: string, folder: string): Promise<void> {
  for (let path = folder; path.length > top.length; path = path.slice(0, path.lastIndexOf("/"))) {
    await Deno.chmod(path, 0o755);
  }
}
