/**
 * A PostgreSQL server of a test's own: an ordinary user's process, a data folder of its own, a socket and no network.
 * Debian's package `postgresql` is enough; .ci/run installs it. @module
 */
import { join } from "node:path";

/** A server, and how it is stopped and started again. */
export interface TestServer extends AsyncDisposable {
  /** The address of a new, empty database, for the role that may create. */
  database(name: string): Promise<string>;
  /** The same database for another role. */
  as(url: string, role: string, password: string): string;
  /** SIGQUIT: as when the machine loses power; then it is started anew and recovers. */
  crash(): Promise<void>;
  readonly folder: string;
  /** Process id of the server. */
  pid(): number;
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

/** Where the server's programs lie: of several versions the newest. Undefined where there is none. */
function findPostgres(): string | undefined {
  const versions = FOLDERS.filter(exists).flatMap((folder) =>
    [...Deno.readDirSync(folder)].map(({ name }) => ({ name, bin: join(folder, name, "bin") }))
  );
  versions.sort((a, b) => Number(b.name) - Number(a.name));
  return versions.find(({ bin }) => exists(join(bin, "postgres")))?.bin;
}

/** Who the server runs as: it refuses root. */
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

/** Settings of a server that lives for one test: durable all the same, because durability is what is tested. */
const SETTINGS = [
  "listen_addresses=",
  "max_connections=60",
  "shared_buffers=64MB",
  "log_min_messages=fatal",
];

/**
 * Starts a server. A machine without one fails the test: a store that nobody tried is no store.
 */
export async function startPostgres(): Promise<TestServer> {
  const bin = findPostgres();
  if (bin === undefined) {
    throw new Error(
      'Cannot start PostgreSQL: it is not installed; .ci/run does that, or "apt-get install postgresql"',
    );
  }
  // A socket's path holds 107 bytes at most.
  const folder = Deno.makeTempDirSync({ dir: "/tmp", prefix: "rpg-" });
  const ordinary = asOrdinary();
  if (ordinary.length > 0) Deno.chownSync(folder, 65534, 65534);
  Deno.chmodSync(folder, 0o711);
  const data = join(folder, "db");
  await run([
    ...ordinary,
    join(bin, "initdb"),
    ...["-D", data, "-U", "remit_admin", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C"],
  ]);
  // Roles prove who they are, as they would from another machine.
  Deno.writeTextFileSync(
    join(data, "pg_hba.conf"),
    "local all remit_admin trust\nlocal all all scram-sha-256\n",
  );
  const options = [
    "unix_socket_permissions=0777",
    `unix_socket_directories=${folder}`,
    ...SETTINGS,
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
    pid: () => Number(Deno.readTextFileSync(join(data, "postmaster.pid")).split("\n")[0]),
    async [Symbol.asyncDispose](): Promise<void> {
      await stop("immediate").catch(() => undefined);
      Deno.removeSync(folder, { recursive: true });
    },
  });
}
