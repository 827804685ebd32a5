/**
 * The filters of system calls (seccomp) around foreign programs. A filter sees numbers: the call's
 * own and its arguments, never the memory behind an argument. So sockets are refused by family,
 * whatever their address, and clone3, whose flags lie in memory, is reported as missing.
 * @module
 */

/** The name of a filter, by the program's needs beyond files, memory, threads and pipes. */
export type Filter = keyof typeof NEEDS;

/** Architectures whose call numbers are known, by Deno's names. */
export type Arch = keyof typeof ARCHES;

/** Families of sockets. An inherited socketpair needs no family: it has no address. */
const UNIX = 1, INET = 2, INET6 = 10, NETLINK = 16;

const NEEDS = Object.freeze({
  /** No sockets and no namespaces. */
  closed: { families: [], namespaces: false },
  /** Deno, which asks for its permissions over a unix socket; every other path is refused by that permission. */
  broker: { families: [UNIX], namespaces: false },
  /** The network of the program's namespace, mostly only its loopback. Netlink lists interfaces. */
  program: { families: [INET, INET6, NETLINK], namespaces: false },
  /** A program with a granted unix socket; its namespace holds no other. */
  holder: { families: [UNIX, INET, INET6, NETLINK], namespaces: false },
  /**
   * Chromium, which makes namespaces for its own sandbox, and ends where it cannot make a unix
   * socket (its lock on a profile). Its namespace holds only libraries and fonts of the machine.
   */
  browser: { families: [UNIX, INET, INET6, NETLINK], namespaces: true },
});

/** Every filter. */
export const FILTERS = Object.freeze(Object.keys(NEEDS)) as readonly Filter[];

/**
 * Refused calls: other processes' memory, the kernel's keys, code and clock, mounts and namespaces,
 * and ways around the filter (io_uring performs operations without calls).
 */
const REFUSED = Object.freeze({
  x86_64: {
    ...{ ptrace: 101, syslog: 103, uselib: 134, pivot_root: 155, chroot: 161, acct: 163 },
    ...{ settimeofday: 164, mount: 165, umount2: 166, swapon: 167, swapoff: 168, reboot: 169 },
    ...{ sethostname: 170, setdomainname: 171, iopl: 172, ioperm: 173, init_module: 175 },
    ...{ delete_module: 176, quotactl: 179, clock_settime: 227, kexec_load: 246, add_key: 248 },
    ...{ request_key: 249, keyctl: 250, migrate_pages: 256, move_pages: 279 },
    ...{ perf_event_open: 298, fanotify_init: 300, open_by_handle_at: 304, clock_adjtime: 305 },
    ...{ setns: 308, process_vm_readv: 310, process_vm_writev: 311, kcmp: 312 },
    ...{ finit_module: 313, kexec_file_load: 320, bpf: 321, userfaultfd: 323 },
  },
  aarch64: {
    ...{ umount2: 39, mount: 40, pivot_root: 41, chroot: 51, quotactl: 60, acct: 89 },
    ...{ kexec_load: 104, init_module: 105, delete_module: 106, clock_settime: 112, syslog: 116 },
    ...{ ptrace: 117, reboot: 142, sethostname: 161, setdomainname: 162, settimeofday: 170 },
    ...{ add_key: 217, request_key: 218, keyctl: 219, swapon: 224, swapoff: 225 },
    ...{ migrate_pages: 238, move_pages: 239, perf_event_open: 241, fanotify_init: 262 },
    ...{ open_by_handle_at: 265, clock_adjtime: 266, setns: 268, process_vm_readv: 270 },
    ...{ process_vm_writev: 271, kcmp: 272, finit_module: 273, bpf: 280, userfaultfd: 282 },
    kexec_file_load: 294,
  },
});

/** Refused calls with the same number on every architecture. */
const REFUSED_EVERYWHERE = Object.freeze({
  ...{ io_uring_setup: 425, io_uring_enter: 426, io_uring_register: 427, open_tree: 428 },
  ...{ move_mount: 429, fsopen: 430, fsconfig: 431, fsmount: 432, fspick: 433 },
  ...{ pidfd_getfd: 438, process_madvise: 440, mount_setattr: 442, quotactl_fd: 443 },
  ...{ process_mrelease: 448, open_tree_attr: 467 },
});

const ARCHES = Object.freeze({
  x86_64: { audit: 0xc000003e, clone: 56, unshare: 272, socket: 41, ioctl: 16 },
  aarch64: { audit: 0xc00000b7, clone: 220, unshare: 97, socket: 198, ioctl: 29 },
});

const CLONE3 = 435;
/** The newest reviewed call, file_setattr; newer ones are reported as missing. */
const LAST = 469;
/** Calls of x86_64 with 32-bit pointers start at this number. */
const X32 = 0x40000000;
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const NEW_NAMESPACES = 0x7e020000;
/** CLONE_NEWTIME, for unshare and clone3 only: in clone's flags these bits are a signal's number. */
const NEW_TIME = 0x80;
/** Both insert input into a terminal as if a person had typed it. */
const TIOCSTI = 0x5412, TIOCLINUX = 0x541c;

const [EPERM, EACCES, ENOSYS, EAFNOSUPPORT] = [1, 13, 38, 97];
const ALLOW = 0x7fff0000, KILL = 0x80000000;
const refuse = (errno: number): number => 0x00050000 | errno;

/** Offsets in the filter's input: the call's number, the architecture, and the lower half of an argument. */
const NUMBER = 0, MACHINE = 4;
const argument = (n: number): number => 16 + 8 * n;

/** One instruction of classic BPF: code, jump if true, jump if false, operand. */
type Instruction = readonly [code: number, yes: number, no: number, k: number];
const load = (at: number): Instruction => [0x20, 0, 0, at];
const end = (how: number): Instruction => [0x06, 0, 0, how];
/** Runs `then` where the loaded number equals `k`, else skips it. */
const when = (k: number, then: readonly Instruction[], code = 0x15): readonly Instruction[] => [
  [code, 0, then.length, k],
  ...then,
];
const whenAbove = (k: number, then: readonly Instruction[]): readonly Instruction[] =>
  when(k, then, 0x25);
const whenAnyOf = (bits: number, then: readonly Instruction[]): readonly Instruction[] =>
  when(bits, then, 0x45);

/** A filter in the format of `bwrap --seccomp`: instructions of eight bytes, little-endian. */
export function filterBytes(filter: Filter, arch: Arch): Uint8Array<ArrayBuffer> {
  const { families, namespaces } = NEEDS[filter];
  const { audit, clone, unshare, socket, ioctl } = ARCHES[arch];
  const refused = Object.values({ ...REFUSED[arch], ...REFUSED_EVERYWHERE });
  // Chromium's sandbox moves its processes into an empty root with chroot.
  const spared = namespaces ? [REFUSED[arch].chroot] : [];
  const instructions: readonly Instruction[] = [
    load(MACHINE),
    // Call numbers of another architecture, as of 32-bit programs, would be misread.
    [0x15, 1, 0, audit],
    end(KILL),
    load(NUMBER),
    ...(arch === "x86_64" ? whenAbove(X32 - 1, [end(KILL)]) : []),
    ...whenAbove(LAST, [end(refuse(ENOSYS))]),
    ...when(CLONE3, [end(refuse(ENOSYS))]),
    ...refused.filter((n) => !spared.includes(n)).flatMap((n) => when(n, [end(refuse(EPERM))])),
    ...when(socket, [
      load(argument(0)),
      ...families.flatMap((family) =>
        when(family, [
          // Only netlink's routing protocol, which lists interfaces and routes.
          ...(family === NETLINK ? [load(argument(2)), ...when(0, [end(ALLOW)])] : [end(ALLOW)]),
          ...(family === NETLINK ? [end(refuse(EAFNOSUPPORT))] : []),
        ])
      ),
      ...when(UNIX, [end(refuse(EACCES))]),
      end(refuse(EAFNOSUPPORT)),
    ]),
    ...when(ioctl, [
      load(argument(1)),
      ...when(TIOCSTI, [end(refuse(EPERM))]),
      ...when(TIOCLINUX, [end(refuse(EPERM))]),
      end(ALLOW),
    ]),
    ...(namespaces ? [] : [
      ...when(clone, [
        load(argument(0)),
        ...whenAnyOf(NEW_NAMESPACES, [end(refuse(EPERM))]),
        end(ALLOW),
      ]),
      ...when(unshare, [
        load(argument(0)),
        ...whenAnyOf(NEW_NAMESPACES | NEW_TIME, [end(refuse(EPERM))]),
        end(ALLOW),
      ]),
    ]),
    end(ALLOW),
  ];
  const bytes = new DataView(new ArrayBuffer(instructions.length * 8));
  instructions.forEach(([code, yes, no, k], n) => {
    bytes.setUint16(n * 8, code, true);
    bytes.setUint8(n * 8 + 2, yes);
    bytes.setUint8(n * 8 + 3, no);
    bytes.setUint32(n * 8 + 4, k >>> 0, true);
  });
  return new Uint8Array(bytes.buffer);
}

/** The path of a filter's file in a kernel's folder. */
export function filterPath(dir: string, filter: Filter): string {
  return `${dir}/seccomp-${filter}`;
}

/** Parses Deno's name of an architecture; undefined where its call numbers are unknown. */
export function archOf(name: string): Arch | undefined {
  return name === "x86_64" || name === "aarch64" ? name : undefined;
}

/**
 * Words that run the following command with the filter's file open, because bubblewrap takes a
 * descriptor and Deno passes none on. The script is a constant; its parameters come as arguments.
 */
export function opening(dir: string, filter: Filter): readonly string[] {
  return ["/bin/sh", "-c", `exec "$@" ${DESCRIPTOR}<"$0"`, filterPath(dir, filter)];
}

/**
 * Like {@link opening}, with standard output moved to another descriptor. The walls' own processes
 * then hold no copy of the pipe, since bubblewrap closes non-standard descriptors in its parents,
 * and the pipe ends when the program closes it. The line's inner words must be {@link speaking}.
 */
export function openingAside(dir: string, filter: Filter): readonly string[] {
  const [shell, flag, script, ...rest] = opening(dir, filter);
  return [shell ?? "", flag ?? "", `${script} ${ASIDE}>&1 1>/dev/null`, ...rest];
}

/** Words inside the walls that restore the standard output of the following command. */
export const speaking = (): readonly string[] => [
  ...["/bin/sh", "-c", `exec "$@" 1>&${ASIDE} ${ASIDE}>&-`, "sh"],
];
const ASIDE = 3;

/** One digit, because shells other than bash know no longer descriptors. */
const DESCRIPTOR = 9;

/** Arguments of the bubblewrap that applies the opened filter. */
export const FILTERING: readonly string[] = ["--seccomp", String(DESCRIPTOR)];
