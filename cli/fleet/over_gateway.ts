/**
 * `--fleet URL`: runs commands over the gateway of any kernel of a fleet, in place of this machine's kernel. The link has
 * the interface of a kernel's, so commands need no change; commands that a gateway does not serve are refused first.
 * @module
 */
import * as z from "zod";
import { Fault, FAULT_CODES, isLoopback, isObject, type Json } from "../../contracts/base/mod.ts";
import { FleetAnswer } from "../../contracts/wire/mod.ts";
import { displayText } from "../../text/mod.ts";
import type { DiskRead, DiskWrite, Environment } from "../../launch/disk/machine.ts";
import type { KernelLink, Kernels } from "../../launch/kernel/kernels.ts";
import { loadConfig } from "../../config/files.ts";
import type { Places } from "../../launch/disk/places.ts";
import { openSecretKeep } from "../../config/secret/keep.ts";
import type { Gateways } from "./gateway_powers.ts";

/** The commands that a gateway serves. */
const SERVED: ReadonlySet<string> = new Set([
  ...["run", "questions", "answer", "ps", "task list", "task show", "log", "cost", "audit verify"],
  ...["fleet list", "fleet tasks", "fleet verify", "fleet cordon", "fleet drain", "fleet uncordon"],
]);

/** The variable with the gateway's token, in place of a kept one. */
const TOKEN = "REMIT_FLEET_TOKEN";
/** Stands for the address in remit.yaml. */
const DEFAULT = "default";
/** Milliseconds between two looks at a followed log. */
const LOOK_MS = 500;

/** The address, powers and command of {@link gatewayKernels}. */
export interface GatewayParts {
  readonly gateways: Gateways;
  readonly disk: DiskRead & DiskWrite;
  readonly environment: Pick<Environment, "env" | "cwd">;
  readonly places: Places;
  /** The name of the command. */
  readonly command: string;
  /** As typed: an address, or `default`. */
  readonly url: string;
}

/**
 * The kernels of a fleet, in place of this machine's.
 * @throws Fault `invalidInput` for a command that the gateway does not serve, or a malformed address; `refused` without a
 *   token, or where the token would travel unencrypted
 */
export function gatewayKernels(parts: GatewayParts): Kernels {
  const { gateways, command } = parts;
  if (!SERVED.has(command)) {
    throw new Fault(
      "invalidInput",
      `Cannot run "${command || "a session"}" over a fleet: --fleet takes ${
        [...SERVED].join(", ")
      }; say it on a kernel's machine`,
    );
  }
  const url = gatewayUrl(parts);
  const token = tokenOf(parts, url);
  const link = (): Promise<KernelLink> => Promise.resolve(makeGatewayLink(gateways, url, token));
  return Object.freeze<Kernels>({ find: link, provide: link });
}

/** Parses `https://…`, or `http://` to this machine. */
export function parseGatewayUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== "") {
    throw new Fault(
      "invalidInput",
      `Cannot reach a fleet at "${displayText(text, { max: 200 })}": write https://HOST[:PORT]`,
    );
  }
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    throw new Fault(
      "refused",
      `Cannot reach a fleet at ${url.origin}: its token would travel in the clear; put a proxy with https before it`,
    );
  }
  return url;
}

function gatewayUrl({ url, disk, places, environment }: GatewayParts): URL {
  if (url !== DEFAULT) return parseGatewayUrl(url);
  const { service } = loadConfig(disk, places, { folder: environment.cwd, mounts: [] });
  if (service.fleet.url !== undefined) return parseGatewayUrl(service.fleet.url);
  throw new Fault(
    "invalidInput",
    'Cannot reach a fleet: --fleet default is the address of "fleet.url" in remit.yaml, and there is none; give --fleet URL',
  );
}

/** The "origin" of a gateway's token in the keep: no address has this form, and no kernel receives it. */
export function fleetOrigin(url: URL): string {
  return `fleet:${url.host}`;
}

function tokenOf({ environment, disk, places }: GatewayParts, url: URL): string {
  const token = environment.env(TOKEN) ?? openSecretKeep(disk, places).loadFleet(fleetOrigin(url));
  if (token !== undefined && /^[\x21-\x7e]{8,512}$/.test(token)) return token;
  throw new Fault(
    "refused",
    `Cannot ask the fleet at ${url.origin}: there is no token; set ${TOKEN}, or keep it with "remit fleet login ${url.origin}"`,
  );
}

/** A link that sends one request for each question. */
function makeGatewayLink(gateways: Gateways, url: URL, token: string): KernelLink {
  const closed = Promise.withResolvers<Error>();
  let over = false;
  let listener = (_op: string, _body: Json): void => undefined;
  const at = new URL("fleet", url.href.endsWith("/") ? url : `${url.href}/`).href;

  const ask = async (op: string, body: Json): Promise<Json> => {
    const answer = await gateways.post(at, { token, body: JSON.stringify({ op, body }) });
    return valueOf(answer, url);
  };
  const close = (why: string): void => {
    over = true;
    closed.resolve(new Error(why));
  };
  const follow = async (task: string, from: number): Promise<void> => {
    let ended: Json | undefined;
    for (let n = from; !over;) {
      const page = await ask("log", { task, from: n });
      const events = Array.isArray(page) ? page : [];
      for (const event of events) {
        listener("event", event);
        const end = endOf(task, event);
        ended = end ?? ended;
        if (end === undefined && isObject(event) && event["event"] === "taskStatus") {
          ended = undefined;
        }
      }
      n += events.length;
      if (events.length > 0) continue;
      if (ended !== undefined) listener("end", ended);
      ended = undefined;
      await gateways.pause(LOOK_MS);
    }
  };

  return Object.freeze<KernelLink>({
    async ask(op, body): Promise<Json> {
      if (op !== "watch") return await ask(op, body);
      const { task, from } = z.object({ task: z.string(), from: z.number() }).parse(body);
      follow(task, from).catch((error: unknown) => close(String(error)));
      return null;
    },
    onTell(next): void {
      listener = next;
    },
    closed: closed.promise,
    close: () => close("done"),
    gateway: true,
    ...{ pid: 0, harness: "", head: "", receiptKey: "", rules: "", secrets: "" },
  });
}

const QUIET = new Set(["done", "failed", "cancelled", "expired", "needsApproval"]);

/** The end that a watch reports for an event after which a task is over or waits; undefined for other events. */
function endOf(task: string, event: Json): Json | undefined {
  if (!isObject(event) || event["event"] !== "taskStatus" || !isObject(event["body"])) return;
  const { status, exit } = event["body"];
  if (typeof status !== "string" || !QUIET.has(status)) return undefined;
  return { task, status, exit: typeof exit === "number" ? exit : null };
}

/** TRUST: anyone may answer at that address. */
function valueOf(
  { status, body }: { readonly status: number; readonly body: string },
  url: URL,
): Json {
  if (status === 401) {
    throw new Fault(
      "denied",
      `Cannot ask the fleet at ${url.origin}: it does not know the token; make one there with "remit fleet token create NAME"`,
    );
  }
  if (status === 429) {
    throw new Fault(
      "rateLimited",
      `Cannot ask the fleet at ${url.origin}: too often; wait a little`,
    );
  }
  const answer = FleetAnswer.safeParse(status === 200 ? tryJson(body) : undefined);
  if (!answer.success) {
    throw new Fault(
      "upstream",
      `Cannot ask the fleet at ${url.origin}: no gateway of this version answers there (status ${status})`,
    );
  }
  if ("value" in answer.data) return answer.data.value;
  const { code, message } = answer.data.fault;
  const known = FAULT_CODES.find((each) => each === code) ?? "upstream";
  throw new Fault(known, displayText(message, { max: 20_000 }));
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
