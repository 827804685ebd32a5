/** `remit serve` as a person starts it: a real gateway process on a free port. */
import type { Machine } from "./remit.ts";

/** A service that runs. */
export interface Service {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  readonly pid: number;
  /** What it said on standard error so far. */
  said(): string;
  /** Ends with its exit code. */
  readonly ended: Promise<number>;
  kill(signal: Deno.Signal): void;
}

/** Writes the operator's own remit.yaml; `text` follows its version. */
export async function configure(machine: Machine, text: string): Promise<void> {
  const folder = `${machine.env["XDG_CONFIG_HOME"]}/remit`;
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(`${folder}/remit.yaml`, `version: 1\n${text}`);
}

/** Starts it and waits until it serves. `listen` is `HOST:PORT`; absent: a free port. */
export async function startService(
  machine: Machine,
  args: readonly string[] = [],
  listen = "127.0.0.1:0",
): Promise<Service> {
  const [command = "", ...words] = machine.command(["serve", listen, "--json", ...args]);
  const child = new Deno.Command(command, {
    args: words,
    cwd: machine.dir,
    clearEnv: true,
    env: { ...machine.env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let said = "";
  const heard = (async (): Promise<void> => {
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) said += text;
  })();
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  const ended = child.status.then(async ({ code }) => {
    await Promise.all([heard, reader.cancel()]);
    return code;
  });
  if (value === undefined) throw new Error(`Cannot serve: ${await ended} ${said}`);
  const { url } = JSON.parse(new TextDecoder().decode(value));
  return { url, pid: child.pid, said: () => said, ended, kill: (signal) => child.kill(signal) };
}
