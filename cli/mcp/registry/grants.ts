/** What a server is granted: a fresh one nothing, and each grant added to those before. Pure. @module */
import { Fault, type Label, type McpGrants, McpHost, NO_GRANTS } from "../../../contracts/mod.ts";
import type { ProvidedLaunch } from "./fetch/npm.ts";
import type { LockedServer } from "./lock.ts";

/** What a person grants. */
export interface MoreGrants {
  readonly grants: McpGrants;
  /** Of `grants.write`: changes there are not staged. */
  readonly direct?: readonly string[];
  /** Tools, by the server's names, that only read, and that do not. */
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly secretEnv: readonly string[];
  readonly secretHeaders: readonly string[];
  /** Tokens for what it may ask a model, in each task; absent: as it was. */
  readonly sampling?: number;
  /** The most confidential text that it may be told; absent: as it was. */
  readonly clearance?: Label;
}

const HTTPS = 443;

/** Reads `HOST[:PORT]`. Throws Fault `invalidInput`. */
export function parseHost(text: string): string {
  const host = text.includes(":") ? text.toLowerCase() : `${text.toLowerCase()}:${HTTPS}`;
  if (McpHost.safeParse(host).success && Number(host.split(":")[1]) <= 65_535) return host;
  throw new Fault(
    "invalidInput",
    `Cannot grant the network: "${text}" is no HOST or HOST:PORT`,
  );
}

/** Whether a server can send on what it is told. */
export function reachesOut({ launch, grants }: Pick<LockedServer, "launch" | "grants">): boolean {
  return launch.kind === "http" || grants.net.length > 0;
}

/** The most confidential text that a server may be told: what a person chose, else by what it can reach. */
function clearanceOf(server: Pick<LockedServer, "launch" | "grants" | "clearanceChosen">): Label {
  return server.clearanceChosen ?? (reachesOut(server) ? "public" : "internal");
}

/** Each once, in the order of the first. */
export const unique = (list: readonly string[]): string[] => [...new Set(list)];

/** A server with nothing granted, and none of its tools approved. */
export function freshServer(
  name: LockedServer["name"],
  provided: ProvidedLaunch,
  more: Pick<LockedServer, "from" | "addedAt">,
): LockedServer {
  const { launch, packages, notes } = provided;
  return {
    ...{ name, launch, ...more },
    grants: { read: [...NO_GRANTS.read], write: [...NO_GRANTS.write], net: [...NO_GRANTS.net] },
    ...{ env: {}, secretEnv: [], secretHeaders: [], offers: { resources: false, prompts: false } },
    ...{ samplingTokens: 0, elicitation: true, clearance: "internal", state: "added" },
    packages: [...packages],
    reviewed: [],
    notes: [...notes],
  };
}

/**
 * A server with these grants, too. A folder that it may change is not listed as one to read. A clearance was chosen for
 * the hosts that the server reached then: with another host it is chosen anew.
 */
export function withGrants(
  server: LockedServer,
  more: MoreGrants,
): LockedServer {
  const write = unique([...server.grants.write, ...more.grants.write]);
  const grants: McpGrants = {
    write,
    read: unique([...server.grants.read, ...more.grants.read]).filter((path) =>
      !write.includes(path)
    ),
    net: unique([...server.grants.net, ...more.grants.net]),
  };
  const { direct = [], reads = [], writes = [] } = more;
  // What was said last of a path, or of a tool, holds.
  const kept = (list: readonly string[] = [], gone: readonly string[]): string[] =>
    list.filter((each) => !gone.includes(each));
  const said = {
    ...(write.length === 0 ? {} : {
      direct: unique([...kept(server.direct, more.grants.write), ...direct]),
    }),
    ...(reads.length + writes.length === 0 ? {} : {
      reads: unique([...kept(server.reads, writes), ...reads]),
      writes: unique([...kept(server.writes, reads), ...writes]),
    }),
  };
  const env = { ...server.env, ...more.env };
  for (const name of more.secretEnv) delete env[name];
  const wider = grants.net.some((host) => !server.grants.net.includes(host));
  const { clearanceChosen: before, ...rest } = server;
  const chosen = more.clearance ?? (wider ? undefined : before);
  const clearanceChosen = chosen === undefined ? {} : { clearanceChosen: chosen };
  return {
    ...{ ...rest, ...clearanceChosen },
    ...said,
    ...{ grants, env, samplingTokens: more.sampling ?? server.samplingTokens },
    clearance: clearanceOf({ launch: server.launch, grants, ...clearanceChosen }),
    secretEnv: unique([...server.secretEnv, ...more.secretEnv]).filter((name) =>
      more.env[name] === undefined
    ),
    secretHeaders: unique([...server.secretHeaders, ...more.secretHeaders]),
  };
}
