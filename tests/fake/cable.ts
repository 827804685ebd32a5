/**
 * Two machines and the cable between them: network namespaces of this machine, joined by a pair of virtual devices. While
 * the cable is cut, packets are lost without notice; after the repair TCP's retransmissions arrive.
 */

/** A cable. */
export interface Cable extends AsyncDisposable {
  /** Start line prefix of a program on the near machine, which has this address. */
  readonly near: { readonly words: readonly string[]; readonly address: string };
  /** Start line prefix of a program on the far machine: it reaches the near one, and nothing else. */
  readonly far: readonly string[];
  cut(): Promise<void>;
  mend(): Promise<void>;
}

const NEAR = "10.77.0.1", FAR = "10.77.0.2";

const LAY = `set -e
ip link set lo up
ip link add near type veth peer name far
unshare -n sleep infinity & far=$!
until [ "$(readlink /proc/$far/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.05; done
ip link set far netns $far
ip addr add ${NEAR}/30 dev near
ip link set near up
nsenter -t $far -n sh -ec 'ip link set lo up; ip addr add ${FAR}/30 dev far; ip link set far up'
echo $far
exec sleep infinity
`;

/**
 * Creates a cable.
 * @throws Error where this machine does not allow such namespaces
 */
export async function layCable(): Promise<Cable> {
  const holder = new Deno.Command("unshare", {
    args: ["-rn", "sh", "-c", LAY],
    ...{ stdin: "null", stdout: "piped", stderr: "piped" },
  }).spawn();
  const reader = holder.stdout.getReader();
  const { value } = await reader.read();
  if (value === undefined) {
    const why = new TextDecoder().decode(await new Response(holder.stderr).bytes());
    throw new Error(`Cannot lay a cable: this machine has no namespaces for it: ${why}`);
  }
  const far = Number(new TextDecoder().decode(value).trim());
  const enter = (pid: number): string[] => [
    ...["nsenter", "-t", `${pid}`, "-U", "-n", "--preserve-credentials", "--"],
  ];
  // In one more namespace the same user has its own id, or one other than root's.
  const as = (user: number, group: number): string[] => [
    ...["unshare", "-U", `--map-user=${user}`, `--map-group=${group}`, "--"],
  ];
  const link = async (state: "up" | "down"): Promise<void> => {
    const [program = "", ...args] = [...enter(holder.pid), "ip", "link", "set", "near", state];
    const done = await new Deno.Command(program, { args }).output();
    if (!done.success) throw new Error(new TextDecoder().decode(done.stderr));
  };
  return Object.freeze<Cable>({
    near: { words: [...enter(holder.pid), ...as(1_000, 1_000)], address: NEAR },
    far: [...enter(far), ...as(Deno.uid() ?? 0, Deno.gid() ?? 0)],
    cut: () => link("down"),
    mend: () => link("up"),
    async [Symbol.asyncDispose](): Promise<void> {
      Deno.kill(far, "SIGKILL");
      holder.kill("SIGKILL");
      await Promise.all([holder.status, reader.cancel(), holder.stderr.cancel()]);
    },
  });
}
