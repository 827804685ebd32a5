/** A systemd unit for `remit serve`, as text. @module */
import { Fault } from "../../../contracts/mod.ts";

/** What a unit says. */
export interface UnitParts {
  /** `user`: of the operator's own manager. `system`: of an account `remit`, behind more walls. */
  readonly scope: "user" | "system";
  /** Absolute: `bin/remit`. */
  readonly program: string;
  /** Words behind `remit serve`. */
  readonly args: readonly string[];
  /** Where deno and bwrap are found (`PATH`), and where the operator's files are, if not where they mostly are. */
  readonly environment: Readonly<Record<string, string>>;
  /** `serve.drainMs`. */
  readonly drainMs: number;
  /** Folders that its tasks may change, in a unit of the system. */
  readonly folders: readonly string[];
}

/** Seconds beyond the drain until systemd kills: the gateway and the links are closed in them. */
const BEYOND_S = 20;

/** A word as systemd reads it back: quoted, without specifiers or variables. Throws `invalidInput` for control characters. */
export function unitWord(text: string, where: "exec" | "value" = "value"): string {
  // deno-lint-ignore no-control-regex -- they are what is looked for
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

/** Makes the unit. */
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
