/** `kernel`, `serve`, `peers`, `webhooks`, `schedules` of remit.yaml, from the operator's own layers and no other. @module */
import type {
  FleetConfig,
  KernelSetting,
  PeerConfig,
  RemitConfig,
  ScheduleConfig,
  ServeConfig,
  WebhookConfig,
} from "../contracts/policy/mod.ts";
import type { ConfigFile } from "./text.ts";

/** What the operator's layers say of the service. */
export interface ServiceConfig {
  readonly kernel: KernelSetting;
  readonly serve: ServeConfig;
  readonly fleet: FleetConfig;
  readonly peers: Readonly<Record<string, PeerConfig>>;
  readonly webhooks: Readonly<Record<string, WebhookConfig>>;
  readonly schedules: Readonly<Record<string, ScheduleConfig>>;
  /** `FILE:LINE` of an entry such as `peers.alice`; the words themselves where nobody wrote it. */
  at(entry: string): string;
}

const KEYS = ["kernel", "serve", "fleet", "peers", "webhooks", "schedules"] as const;

/** Nobody said anything. */
export const NO_SERVICE: ServiceConfig = Object.freeze({
  kernel: {},
  serve: {},
  fleet: {},
  peers: {},
  webhooks: {},
  schedules: {},
  at: (entry: string) => entry,
});

/** Puts a layer of the operator's over `have`: the service key by key, the others entry by entry. */
export function overlayService(
  have: ServiceConfig,
  file: Pick<ConfigFile, "config" | "at">,
): ServiceConfig {
  const { config } = file;
  if (KEYS.every((key) => config[key] === undefined)) return have;
  const said = new Map<string, string>();
  for (const key of KEYS) {
    const value: Readonly<Record<string, unknown>> = config[key] ?? {};
    for (const name of Object.keys(value)) said.set(`${key}.${name}`, file.at([key, name]));
  }
  return Object.freeze<ServiceConfig>({
    kernel: { ...have.kernel, ...defined(config.kernel) },
    serve: { ...have.serve, ...defined(config.serve) },
    fleet: { ...have.fleet, ...defined(config.fleet) },
    peers: { ...have.peers, ...defined(config.peers) },
    webhooks: { ...have.webhooks, ...defined(config.webhooks) },
    schedules: { ...have.schedules, ...defined(config.schedules) },
    at: (entry) => said.get(entry) ?? have.at(entry),
  });
}

/** What a file that nobody vouched for said of the service: it adds nothing and takes nothing away. */
export function serviceNotes(file: Pick<ConfigFile, "config" | "at">): readonly string[] {
  return KEYS.filter((key) => file.config[key] !== undefined).map((key) =>
    `${file.at([key])}: "${key}" is the operator's`
  );
}

function defined<T>(wish: Readonly<Record<string, T | undefined>> | undefined): Record<string, T>;
function defined(wish: RemitConfig["kernel"]): KernelSetting;
function defined(wish: RemitConfig["serve"]): ServeConfig;
function defined(wish: RemitConfig["fleet"]): FleetConfig;
function defined(wish: object | undefined): object {
  return Object.fromEntries(Object.entries(wish ?? {}).filter(([, value]) => value !== undefined));
}
