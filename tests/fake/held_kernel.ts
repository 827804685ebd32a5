/** A kernel that stays while a test inspects it: one without work or connection ends after some seconds. */
import { placesOf } from "../../launch/disk/places.ts";
import type { Machine } from "./remit.ts";
import { waitUntil } from "./wait_until.ts";

/** The machine's kernel, started where none runs, kept by a connection until it is disposed of. */
export async function heldKernel(machine: Machine): Promise<Disposable> {
  return await waitUntil("a kernel that is held by a connection", async () => {
    // `ps` would not start one.
    await machine.remit(["questions"]);
    return await connected(machine);
  });
}

async function connected(machine: Machine): Promise<Deno.Conn | undefined> {
  const environment = {
    cwd: machine.dir,
    env: (name: string) => machine.env[name],
    uid: Deno.uid() ?? 0,
  };
  const path = placesOf(environment, machine.state).controlSocket;
  try {
    return await Deno.connect({ transport: "unix", path });
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    if (error instanceof Deno.errors.ConnectionRefused) return undefined;
    throw error;
  }
}
