/** Address of a database, as a URL. @module */
import { Fault } from "../base/fault.ts";

/** A parsed database address. */
export interface Address {
  /** Host name or IP address, or the folder of the server's unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** The kernel's name in the fleet, if given. */
  readonly kernel?: string;
  /** Seconds of a kernel's lease, if given. */
  readonly lease?: number;
  /** A folder that kernels of one machine share, if given. */
  readonly work?: string;
}

const KERNEL_NAME = /^[a-z0-9][a-z0-9_-]{0,47}$/;

/**
 * Parses `postgres://ROLE:PASSWORD@HOST:PORT/DATABASE`. `?host=/FOLDER` names the folder of a unix
 * socket instead, `work=/FOLDER` a folder that kernels of one machine share for staged files,
 * `?kernel=NAME` the kernel's name in the fleet, `?lease=SECONDS` how long its hold on tasks lasts
 * without renewal.
 * @throws Fault `invalidInput`
 */
export function parseAddress(url: string): Address {
  const refuse = (why: string): Fault =>
    new Fault(
      "invalidInput",
      `Cannot use this store: ${why}; its address is postgres://ROLE:PASSWORD@HOST:PORT/DATABASE?kernel=NAME, ` +
        "with host=/FOLDER for a unix socket",
    );
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^postgres(ql)?:$/.test(parsed.protocol)) {
    throw refuse("its address does not begin with postgres://");
  }
  const query = parsed.searchParams;
  const host = query.get("host") ?? decodeURIComponent(parsed.hostname);
  const [kernel, lease, work] = [query.get("kernel"), query.get("lease"), query.get("work")];
  if (kernel !== null && !KERNEL_NAME.test(kernel)) {
    throw refuse("a kernel's name holds small letters, digits, - and _, at most 48");
  }
  if (lease !== null && !/^[1-9]\d{0,3}$/.test(lease)) throw refuse("a lease is 1 to 9999 seconds");
  if (/[,\s]/.test(host)) throw refuse("a host holds no comma and no space");
  if (work !== null && !/^\/[^,]{1,200}$/.test(work)) {
    throw refuse("a work folder is an absolute path without a comma");
  }
  return Object.freeze({
    host: host === "" ? "localhost" : host.replace(/^\[|\]$/g, ""),
    port: Number(parsed.port === "" ? 5432 : parsed.port),
    user: decodeURIComponent(parsed.username),
    password: decodeURIComponent(parsed.password),
    database: decodeURIComponent(parsed.pathname.slice(1)) || "postgres",
    ...(kernel === null ? {} : { kernel }),
    ...(lease === null ? {} : { lease: Number(lease) }),
    ...(work === null ? {} : { work }),
  });
}
