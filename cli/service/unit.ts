/**
 * `remit serve unit|container`: prints a systemd unit or a Containerfile for the service.
 * @module
 */
import { join } from "node:path";
import { EXIT, Fault } from "../../contracts/base/mod.ts";
import type { Command } from "../command.ts";
import { loadConfig } from "../../config/files.ts";
import { flag, has } from "../arguments/parse_arguments.ts";
import { absolute } from "../../launch/disk/places.ts";

const DRAIN_MS = 10_000;
const DENO = "2.9.6";
const PORT = 7_433;
const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** A Containerfile, to be built in Remit's own folder. */
function containerFile(): string {
  return `# Built in Remit's folder: podman build -t remit -f Containerfile .
# Run: podman run --rm -p 127.0.0.1:${PORT}:${PORT} -v remit-state:/var/lib/remit -v ./config:/etc/remit:ro remit
# Its remit.yaml is /etc/remit/remit.yaml and says "serve: { listen: 0.0.0.0:${PORT}, url: http://127.0.0.1:${PORT} }".
# Walls: inside a container bubblewrap needs user namespaces ("--security-opt seccomp=unconfined", or a runtime that
# allows them). Without them native commands and imported stdio servers are refused: "remit doctor" says what stands.
FROM denoland/deno:bin-${DENO} AS deno

FROM debian:12-slim
RUN apt-get update \\
 && apt-get install -y --no-install-recommends bubblewrap util-linux ca-certificates git \\
 && rm -rf /var/lib/apt/lists/* \\
 && useradd --system --create-home --home-dir /var/lib/remit --shell /usr/sbin/nologin remit
COPY --from=deno /deno /usr/local/bin/deno
COPY . /opt/remit
ENV XDG_CONFIG_HOME=/etc XDG_CACHE_HOME=/var/cache/remit XDG_RUNTIME_DIR=/run/remit \\
    DENO_DIR=/var/cache/remit/deno DENO_NO_UPDATE_CHECK=1 NO_COLOR=1
RUN mkdir -p /var/cache/remit /run/remit /etc/remit \\
 && chown -R remit:remit /var/cache/remit /run/remit /var/lib/remit \\
 && chmod 0700 /var/cache/remit /run/remit /var/lib/remit
USER remit
WORKDIR /var/lib/remit
# Packages and programs are fetched and built here, so that a start needs no network.
RUN { /opt/remit/bin/remit run --json --state /tmp/warm > /tmp/warm.json || { cat /tmp/warm.json; exit 1; }; } \\
 && /opt/remit/bin/remit stop --state /tmp/warm && rm -rf /tmp/warm /tmp/warm.json /tmp/remit-demo-*
VOLUME /var/lib/remit
EXPOSE ${PORT}
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s \\
  CMD ["deno", "eval", "Deno.exit((await fetch('http://127.0.0.1:${PORT}/healthz')).ok ? 0 : 1)"]
ENTRYPOINT ["/opt/remit/bin/remit", "serve", "--state", "/var/lib/remit/state"]
`;
}

/** The inputs of a systemd unit. */
export interface UnitParts {
  /** `user`: for the operator's own manager. `system`: for an account `remit`, with more walls. */
  readonly scope: "user" | "system";
  /** The absolute path of `bin/remit`. */
  readonly program: string;
  /** Words after `remit serve`. */
  readonly args: readonly string[];
  /** `PATH`, where deno and bwrap are found, and the operator's XDG folders. */
  readonly environment: Readonly<Record<string, string>>;
  /** `serve.drainMs`. */
  readonly drainMs: number;
  /** Folders that its tasks may change, for a system unit. */
  readonly folders: readonly string[];
}

/** Seconds after the drain until systemd kills; gateway and links are closed in this time. */
const BEYOND_S = 20;

/** Quotes a word for systemd. Throws `invalidInput` for control characters. */
export function unitWord(text: string, where: "exec" | "value" = "value"): string {
  // deno-lint-ignore no-control-regex -- control characters are refused
  if (/[\u0000-\u001f\u007f]/.test(text)) {
    throw new Fault("invalidInput", "Cannot write the unit: a path has control characters");
  }
  const plain = text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%");
  return `"${where === "exec" ? plain.replaceAll("$", "$$$$") : plain}"`;
}

const COMMON = [
  "# What bubblewrap needs is left: user namespaces, mounts in them, a /proc of its own. So there is no",
  "# RestrictNamespaces, ProtectKernelTunables, ProtectControlGroups, ProtectProc; V8 writes code that it runs,",
  "# so there is no MemoryDenyWriteExecute.",
  "NoNewPrivileges=yes",
  "LockPersonality=yes",
  "RestrictRealtime=yes",
  "RestrictSUIDSGID=yes",
  "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
  "SystemCallArchitectures=native",
  "UMask=0077",
];

/** The text of a systemd unit. */
export function systemdUnit(parts: UnitParts): string {
  const { scope, drainMs } = parts;
  const words = [parts.program, "serve", ...parts.args].map((each) => unitWord(each, "exec"));
  const system = scope === "system";
  const lines = [
    "[Unit]",
    "Description=Remit: agents that hold only what they were handed",
    ...(system ? ["After=network-online.target", "Wants=network-online.target"] : []),
    "StartLimitIntervalSec=60",
    "StartLimitBurst=10",
    "",
    "[Service]",
    "# Ready is what /readyz says.",
    "Type=exec",
    `ExecStart=${words.join(" ")}${system ? " --state %S/remit" : ""}`,
    "# Reads remit.yaml again; what cannot change while it runs is said in the journal.",
    "ExecReload=/bin/kill -HUP $MAINPID",
    "Restart=on-failure",
    "RestartSec=2",
    "# The service drains first; the kernel, whose log survives a kill, ends behind it.",
    "KillMode=mixed",
    "KillSignal=SIGTERM",
    `TimeoutStopSec=${Math.ceil(drainMs / 1_000) + BEYOND_S}`,
    "LimitNOFILE=65536",
    ...Object.entries(parts.environment).map(([name, value]) =>
      `Environment=${unitWord(`${name}=${value}`)}`
    ),
    ...(system ? systemLines(parts.folders) : []),
    ...COMMON,
    "",
    "[Install]",
    `WantedBy=${system ? "multi-user.target" : "default.target"}`,
  ];
  return `${lines.join("\n")}\n`;
}

function systemLines(folders: readonly string[]): readonly string[] {
  return [
    "User=remit",
    "StateDirectory=remit",
    "StateDirectoryMode=0700",
    "CacheDirectory=remit",
    "CacheDirectoryMode=0700",
    "RuntimeDirectory=remit",
    "RuntimeDirectoryMode=0700",
    "# The account's remit.yaml is /etc/remit/remit.yaml.",
    "Environment=XDG_CONFIG_HOME=/etc XDG_CACHE_HOME=%C/remit XDG_RUNTIME_DIR=%t/remit HOME=%S/remit",
    "ProtectSystem=strict",
    "ProtectHome=read-only",
    ...folders.map((folder) => `ReadWritePaths=${unitWord(folder)}`),
    "PrivateTmp=yes",
    "PrivateDevices=yes",
    "ProtectClock=yes",
    "ProtectKernelModules=yes",
    "ProtectKernelLogs=no",
    "CapabilityBoundingSet=",
    "AmbientCapabilities=",
  ];
}

/** `serve unit [--system]`. */
export function serveUnit(command: Command): Promise<number> {
  const { powers, places, parsed } = command;
  const config = loadConfig(powers.disk, places, { folder: powers.environment.cwd, mounts: [] });
  const system = has(parsed, "system");
  const state = flag(parsed, "state");
  if (system && state !== undefined) {
    throw new Fault("invalidInput", "Cannot print the unit: --system has a state of its own");
  }
  powers.screen.out(systemdUnit({
    scope: system ? "system" : "user",
    program: join(powers.environment.home, "bin", "remit"),
    args: state === undefined ? [] : ["--state", absolute(powers.environment, state)],
    environment: system ? { PATH: SYSTEM_PATH } : ownEnvironment(command),
    drainMs: config.service.serve.drainMs ?? DRAIN_MS,
    folders: Object.values(config.mounts).filter(({ mode }) => mode !== "ro")
      .map(({ dir }) => absolute(powers.environment, dir)),
  }));
  powers.screen.say(
    system
      ? "As /etc/systemd/system/remit.service, after: useradd --system --home-dir /var/lib/remit remit"
      : "As ~/.config/systemd/user/remit.service; so that it runs without a login: loginctl enable-linger",
  );
  return Promise.resolve(EXIT.success);
}

/** Variables of the operator's shell that the service manager lacks. */
function ownEnvironment({ powers }: Command): Record<string, string> {
  const named = ["PATH", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"].flatMap((name) => {
    const value = powers.environment.env(name);
    return value === undefined ? [] : [[name, value]];
  });
  return { PATH: SYSTEM_PATH, ...Object.fromEntries(named) };
}

/** `serve container`. */
export function serveContainer({ powers }: Command): Promise<number> {
  powers.screen.out(containerFile());
  return Promise.resolve(EXIT.success);
}
