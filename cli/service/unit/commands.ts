/** `remit serve unit|container`: what keeps the service running, printed to be looked at. @module */
import { join } from "node:path";
import { EXIT, Fault } from "../../../contracts/mod.ts";
import type { Command } from "../../command.ts";
import { loadConfig } from "../../config/files.ts";
import { flag, has } from "../../arguments/parse_arguments.ts";
import { absolute } from "../../disk/places.ts";
import { containerFile } from "./container_file.ts";
import { systemdUnit } from "./unit.ts";

const DRAIN_MS = 10_000;
const DENO = "2.9.6";
const PORT = 7_433;
const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** `serve unit [--system]`. */
export function serveUnit(command: Command): Promise<number> {
  const { hands, places, parsed } = command;
  const config = loadConfig(hands.disk, places, { folder: hands.around.cwd, mounts: [] });
  const system = has(parsed, "system");
  const state = flag(parsed, "state");
  if (system && state !== undefined) {
    throw new Fault("invalidInput", "Cannot print the unit: --system has a state of its own");
  }
  hands.screen.out(systemdUnit({
    scope: system ? "system" : "user",
    program: join(hands.around.home, "bin", "remit"),
    args: state === undefined ? [] : ["--state", absolute(hands.around, state)],
    environment: system ? { PATH: SYSTEM_PATH } : ownEnvironment(command),
    drainMs: config.service.serve.drainMs ?? DRAIN_MS,
    folders: Object.values(config.mounts).filter(({ mode }) => mode !== "ro")
      .map(({ dir }) => absolute(hands.around, dir)),
  }));
  hands.screen.say(
    system
      ? "As /etc/systemd/system/remit.service, after: useradd --system --home-dir /var/lib/remit remit"
      : "As ~/.config/systemd/user/remit.service; so that it runs without a login: loginctl enable-linger",
  );
  return Promise.resolve(EXIT.success);
}

/** What the operator's shell has and their service manager has not. */
function ownEnvironment({ hands }: Command): Record<string, string> {
  const named = ["PATH", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"].flatMap((name) => {
    const value = hands.around.env(name);
    return value === undefined ? [] : [[name, value]];
  });
  return { PATH: SYSTEM_PATH, ...Object.fromEntries(named) };
}

/** `serve container`. */
export function serveContainer({ hands }: Command): Promise<number> {
  hands.screen.out(containerFile({ deno: DENO, port: PORT }));
  return Promise.resolve(EXIT.success);
}
