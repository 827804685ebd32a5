/** Merges `kernel`, `serve`, `fleet`, `peers`, `webhooks`, `schedules` of the operator's own layers. @module */
import type {
  FleetConfig,
  KernelSetting,
  PeerConfig,
  ScheduleConfig,
  ServeConfig,
  WebhookConfig,
} from "../contracts/policy/mod.ts";
import { defined } from "./narrow.ts";
import type { ConfigFile } from "./text.ts";

/** The operator's configuration of the service. */
export interface ServiceConfig {
  readonly kernel: KernelSetting;
  readonly serve: ServeConfig;
  readonly fleet: FleetConfig;
  readonly peers: Readonly<Record<string, PeerConfig>>;
  readonly webhooks: Readonly<Record<string, WebhookConfig>>;
  readonly schedules: Readonly<Record<string, ScheduleConfig>>;
  /** `FILE:LINE` of an entry such as `peers.alice`; the entry's own name where no file has it. */
  at(entry: string): string;
}

const KEYS = ["kernel", "serve", "fleet", "peers", "webhooks", "schedules"] as const;

/** No layer configures the service. */
export const NO_SERVICE: ServiceConfig = Object.freeze({
  kernel: {},
  serve: {},
  fleet: {},
  peers: {},
  webhooks: {},
  schedules: {},
  at: (entry: string) => entry,
});

/** Puts an operator's layer over `have`: kernel, serve and fleet key by key, the others entry by entry. */
export function overlayService(
  have: ServiceConfig,
  file: Pick<ConfigFile, "config" | "at">,
): ServiceConfig {
  const { config } = file;
  if (KEYS.every((key) => config[key] === undefined)) return have;
  const places = new Map<string, string>();
  for (const key of KEYS) {
    const value: Readonly<Record<string, unknown>> = config[key] ?? {};
    for (const name of Object.keys(value)) places.set(`${key}.${name}`, file.at([key, name]));
  }
  return Object.freeze<ServiceConfig>({
    kernel: { ...have.kernel, ...defined(config.kernel) },
    serve: { ...have.serve, ...defined(config.serve) },
    fleet: { ...have.fleet, ...defined(config.fleet) },
    peers: { ...have.peers, ...defined(config.peers) },
    webhooks: { ...have.webhooks, ...config.webhooks },
    schedules: { ...have.schedules, ...config.schedules },
    at: (entry) => places.get(entry) ?? have.at(entry),
  });
}

/** Notes on an untrusted file's settings for the service, which have no effect. */
export function serviceNotes(file: Pick<ConfigFile, "config" | "at">): readonly string[] {
  return KEYS.filter((key) => file.config[key] !== undefined).map((key) =>
    `${file.at([key])}: "${key}" is the operator's`
  );
}
