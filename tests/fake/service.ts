/** Services as a person starts them: a command that keeps running, with a real gateway process. */
import type { Machine } from "./remit.ts";

/** A running service. */
export interface Service {
  /** `http://127.0.0.1:PORT`, and a path where it has one. */
  readonly url: string;
  readonly pid: number;
  /** The line of JSON that it printed when it was ready. */
  readonly told: Readonly<Record<string, unknown>>;
  /** The text of standard error so far. */
  said(): string;
  /** Ends the service; resolves with its exit code. */
  readonly ended: Promise<number>;
  kill(signal: Deno.Signal): void;
}

/** Writes the operator's own remit.yaml; `text` follows its version. */
export async function configure(machine: Machine, text: string): Promise<void> {
  const folder = `${machine.env["XDG_CONFIG_HOME"]}/remit`;
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(`${folder}/remit.yaml`, `version: 1\n${text}`);
}

/** Starts a service and waits until it serves. `listen` is `HOST:PORT`; absent: a free port. */
export function startService(
  machine: Machine,
  args: readonly string[] = [],
  listen = "127.0.0.1:0",
): Promise<Service> {
  return startServing(machine, ["serve", listen, ...args]);
}

/** Starts a command that serves and prints its address, and waits for that line. */
export async function startServing(machine: Machine, argv: readonly string[]): Promise<Service> {
  const [command = "", ...words] = machine.command([...argv, "--json"]);
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
  const told = JSON.parse(new TextDecoder().decode(value));
  const { url } = told;
  return {
    url,
    told,
    pid: child.pid,
    said: () => said,
    ended,
    kill: (signal) => child.kill(signal),
  };
}
