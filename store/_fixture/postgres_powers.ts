/**
 * A test's own PostgreSQL server: a process of an ordinary user, its own data folder, a socket and no network.
 * Debian's package `postgresql` is enough; .ci/run installs it. @module
 */
import { join } from "node:path";

/** A server, with functions to stop and restart it. */
export interface TestServer extends AsyncDisposable {
  /** The address of a new, empty database, for the role that may create. */
  database(name: string): Promise<string>;
  /** The same database for another role. */
  as(url: string, role: string, password: string): string;
  /** Sends SIGQUIT, as in a power failure; then starts the server again, and it recovers. */
  crash(): Promise<void>;
  readonly folder: string;
  /** Process id of the server. */
  pid(): number;
  /** With a small disk: fills it to the last byte, and frees the space again. */
  fill(): Promise<void>;
  makeRoom(): Promise<void>;
}

/** A server's own disk: a file system in memory that only the server sees. */
interface SmallDisk {
  /** Start line prefix of a program that sees the disk. */
  readonly words: readonly string[];
  close(): Promise<void>;
}

/**
 * Mounts a disk of `mib` MiB at `at`, in a namespace of its own that lasts until it is closed.
 * @throws Error where this machine does not allow such a namespace
 */
async function makeSmallDisk(at: string, mib: number): Promise<SmallDisk> {
  const inside =
    `mount -t tmpfs -o size=${mib}m,mode=0700 none '${at}' && echo there && exec sleep infinity`;
  const holder = new Deno.Command("unshare", {
    args: ["-rm", "sh", "-c", inside],
    ...{ stdin: "null", stdout: "piped", stderr: "piped" },
  }).spawn();
  const reader = holder.stdout.getReader();
  const { value } = await reader.read();
  if (value === undefined) {
    const why = new TextDecoder().decode(await new Response(holder.stderr).bytes());
    throw new Error(`Cannot make a small disk: this machine has no namespaces for it: ${why}`);
  }
  return {
    // The server refuses to run as root: in one more namespace the same user has an ordinary id.
    words: [
      ...["nsenter", "-t", `${holder.pid}`, "-U", "-m", "--preserve-credentials", "--"],
      ...["unshare", "-U", "--map-user=1000", "--map-group=1000", "--"],
    ],
    async close(): Promise<void> {
      holder.kill("SIGKILL");
      await Promise.all([holder.status, reader.cancel(), holder.stderr.cancel()]);
    },
  };
}

const FOLDERS = ["/usr/lib/postgresql", "/usr/local/pgsql", "/usr/pgsql"];

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch (_error) {
    return false;
  }
}

/** The folder of the server's programs, of the newest version. Undefined where none is installed. */
function findPostgres(): string | undefined {
  const versions = FOLDERS.filter(exists).flatMap((folder) =>
    [...Deno.readDirSync(folder)].map(({ name }) => ({ name, bin: join(folder, name, "bin") }))
  );
  versions.sort((a, b) => Number(b.name) - Number(a.name));
  return versions.find(({ bin }) => exists(join(bin, "postgres")))?.bin;
}

/** The user that the server runs as: it refuses root. */
function asOrdinary(): readonly string[] {
  return Deno.uid() === 0
    ? ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]
    : [];
}

async function run(words: readonly string[]): Promise<void> {
  const [program = "", ...args] = words;
  const done = await new Deno.Command(program, {
    ...{ args, stdin: "null", stdout: "null", stderr: "piped" },
    env: { LC_ALL: "C", PATH: "/usr/bin:/bin" },
  }).output();
  if (!done.success) {
    throw new Error(`Cannot run ${words.join(" ")}: ${new TextDecoder().decode(done.stderr)}`);
  }
}

/** Settings of a server that lives for one test: durable all the same, because tests check durability. */
const SETTINGS = [
  // First, so that a server within a network can replace this entry by its address.
  "listen_addresses=",
  "max_connections=60",
  "shared_buffers=64MB",
  "log_min_messages=fatal",
];

/**
 * Starts a server. A machine without PostgreSQL fails the test: a skipped store would be untested.
 */
export async function startPostgres(
  { diskMib, within }: {
    readonly diskMib?: number;
    /** Start line prefix of the server's programs: a namespace with this address, at which roles reach the server. */
    readonly within?: { readonly words: readonly string[]; readonly address: string };
  } = {},
): Promise<TestServer> {
  const bin = findPostgres();
  if (bin === undefined) {
    throw new Error(
      'Cannot start PostgreSQL: it is not installed; .ci/run does that, or "apt-get install postgresql"',
    );
  }
  // A socket's path holds at most 107 bytes.
  const folder = Deno.makeTempDirSync({ dir: "/tmp", prefix: "rpg-" });
  Deno.chmodSync(folder, 0o711);
  const data = join(folder, "db");
  if (diskMib !== undefined) Deno.mkdirSync(data);
  const small = diskMib === undefined ? undefined : await makeSmallDisk(data, diskMib);
  const ordinary = within?.words ?? small?.words ?? asOrdinary();
  if (small === undefined && within === undefined && ordinary.length > 0) {
    Deno.chownSync(folder, 65534, 65534);
  }
  await run([
    ...ordinary,
    join(bin, "initdb"),
    ...["-D", data, "-U", "remit_admin", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C"],
    ...(small === undefined ? [] : ["--wal-segsize=1"]),
  ]);
  // Roles authenticate, as they would from another machine.
  const rules = join(folder, "pg_hba.conf");
  Deno.writeTextFileSync(
    rules,
    "local all remit_admin trust\nlocal all all scram-sha-256\nhost all remit_admin all trust\n",
  );
  const options = [
    "unix_socket_permissions=0777",
    `unix_socket_directories=${folder}`,
    `hba_file=${rules}`,
    `external_pid_file=${join(folder, "pid")}`,
    ...(within === undefined ? SETTINGS : SETTINGS.slice(1)),
    ...(within === undefined ? [] : [`listen_addresses=${within.address}`]),
    ...(small === undefined ? [] : ["max_wal_size=2MB", "min_wal_size=2MB"]),
  ];
  const start = (): Promise<void> =>
    run([
      ...ordinary,
      join(bin, "pg_ctl"),
      ...["-D", data, "-w", "-t", "60", "-l", join(folder, "log")],
      ...["-o", options.map((each) => `-c '${each}'`).join(" "), "start"],
    ]);
  const stop = (mode: string): Promise<void> =>
    run([...ordinary, join(bin, "pg_ctl"), "-D", data, "-w", "-m", mode, "stop"]);
  await start();
  const at = (role: string, password: string, name: string): string =>
    `postgres://${role}:${password}@localhost/${name}?host=${encodeURIComponent(folder)}`;
  return Object.freeze({
    folder,
    async database(name: string): Promise<string> {
      await run([join(bin, "createdb"), "-h", folder, "-U", "remit_admin", name]);
      return at("remit_admin", "", name);
    },
    as: (url: string, role: string, password: string) =>
      at(role, password, new URL(url).pathname.slice(1)),
    async crash(): Promise<void> {
      await stop("immediate");
      await start();
    },
    pid: () => Number(Deno.readTextFileSync(join(folder, "pid")).split("\n")[0]),
    fill: () =>
      run([
        ...ordinary,
        ...["sh", "-c", `dd if=/dev/zero of='${data}/filler' bs=4096 2>/dev/null || true`],
      ]),
    makeRoom: () => run([...ordinary, "rm", "-f", join(data, "filler")]),
    async [Symbol.asyncDispose](): Promise<void> {
      await stop("immediate").catch(() => undefined);
      await small?.close();
      Deno.removeSync(folder, { recursive: true });
    },
  });
}
