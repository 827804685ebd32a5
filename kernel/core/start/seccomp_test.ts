import { equal, ok } from "node:assert/strict";
import { type Arch, type Filter, filterBytes, FILTERS } from "./seccomp.ts";

/** What a filter is shown of a call. */
interface Call {
  readonly nr: number;
  readonly args?: readonly number[];
  /** AUDIT_ARCH of another machine than the filter's. */
  readonly machine?: number;
}

const MACHINES: Readonly<Record<Arch, number>> = { x86_64: 0xc000003e, aarch64: 0xc00000b7 };

/** Runs a filter as Linux does: classic BPF over `struct seccomp_data`. Throws where Linux would refuse the filter. */
function verdict(filter: Filter, arch: Arch, { nr, args = [], machine }: Call): string {
  const code = new DataView(filterBytes(filter, arch).buffer);
  const shown = new DataView(new ArrayBuffer(64));
  shown.setUint32(0, nr >>> 0, true);
  shown.setUint32(4, machine ?? MACHINES[arch], true);
  args.forEach((each, n) => shown.setBigUint64(16 + 8 * n, BigInt(each), true));
  let loaded = 0;
  for (let at = 0; at * 8 < code.byteLength;) {
    const [op, yes, no, k] = [
      ...[code.getUint16(at * 8, true), code.getUint8(at * 8 + 2)],
      ...[code.getUint8(at * 8 + 3), code.getUint32(at * 8 + 4, true)],
    ];
    at += 1;
    const jump = (held: boolean): void => void (at += (held ? yes : no) ?? 0);
    if (op === 0x20) loaded = shown.getUint32(k ?? 64, true);
    else if (op === 0x15) jump(loaded === k);
    else if (op === 0x25) jump(loaded > (k ?? 0));
    else if (op === 0x45) jump((loaded & (k ?? 0)) !== 0);
    else if (op === 0x06) {
      if (k === 0x7fff0000) return "allow";
      if (k === 0x80000000) return "kill";
      return `errno ${(k ?? 0) & 0xffff}`;
    } else throw new TypeError(`Cannot run instruction ${op}`);
  }
  throw new TypeError("Cannot run a filter: it ends without an answer");
}

const EPERM = "errno 1", EACCES = "errno 13", ENOSYS = "errno 38", EAFNOSUPPORT = "errno 97";
const SOCKET: Readonly<Record<Arch, number>> = { x86_64: 41, aarch64: 198 };
const SOCKETPAIR: Readonly<Record<Arch, number>> = { x86_64: 53, aarch64: 199 };
const CLONE: Readonly<Record<Arch, number>> = { x86_64: 56, aarch64: 220 };
const UNSHARE: Readonly<Record<Arch, number>> = { x86_64: 272, aarch64: 97 };
const IOCTL: Readonly<Record<Arch, number>> = { x86_64: 16, aarch64: 29 };

for (const arch of ["x86_64", "aarch64"] as const) {
  Deno.test(`on ${arch} a filter refuses sockets by family, whatever else is asked with them`, () => {
    const socket = (filter: Filter, ...args: readonly number[]): string =>
      verdict(filter, arch, { nr: SOCKET[arch], args });
    for (const type of [1, 2, 5, 1 | 0o2000000]) {
      equal(socket("program", 1, type), EACCES);
      equal(socket("closed", 1, type), EACCES);
      equal(socket("broker", 1, type), "allow");
      equal(socket("holder", 1, type), "allow");
      equal(socket("program", 2, type), "allow");
      equal(socket("program", 10, type), "allow");
      for (const filter of ["closed", "broker"] as const) {
        equal(socket(filter, 2, type), EAFNOSUPPORT);
        equal(socket(filter, 10, type), EAFNOSUPPORT);
      }
    }
    // Linux reads the lower half of an argument alone.
    equal(socket("program", 2 ** 32 + 1, 1), EACCES);
    equal(socket("program", 16, 3, 0), "allow");
    for (const protocol of [2, 9, 15, 16]) equal(socket("program", 16, 3, protocol), EAFNOSUPPORT);
    // Bluetooth, packets, vsock, XDP, and a family that nobody knows.
    for (const family of [17, 31, 38, 40, 44, 99]) {
      for (const filter of FILTERS) equal(socket(filter, family, 1), EAFNOSUPPORT);
    }
    equal(verdict("closed", arch, { nr: SOCKETPAIR[arch], args: [1, 1] }), "allow");
  });

  Deno.test(`on ${arch} a filter lets nobody make namespaces but Chromium, and no thread is refused`, () => {
    const kinds = [
      ...[0x00020000, 0x02000000, 0x04000000, 0x08000000],
      ...[0x10000000, 0x20000000, 0x40000000],
    ];
    for (const kind of kinds) {
      const args = [kind | 17];
      for (const filter of FILTERS) {
        const expected = filter === "browser" ? "allow" : EPERM;
        equal(verdict(filter, arch, { nr: CLONE[arch], args }), expected);
        equal(verdict(filter, arch, { nr: UNSHARE[arch], args: [kind] }), expected);
        equal(verdict(filter, arch, { nr: 435, args: [0x1000, 88] }), ENOSYS);
      }
    }
    equal(verdict("program", arch, { nr: UNSHARE[arch], args: [0x80] }), EPERM);
    // CLONE_VM | FS | FILES | SIGHAND | THREAD | SYSVSEM | SETTLS and more: what a thread is made with.
    equal(verdict("program", arch, { nr: CLONE[arch], args: [0x3d0f00] }), "allow");
    equal(verdict("program", arch, { nr: CLONE[arch], args: [0x01200011] }), "allow");
  });

  Deno.test(`on ${arch} a filter refuses what types into a terminal, and what is newer than the filter`, () => {
    for (const filter of FILTERS) {
      equal(verdict(filter, arch, { nr: IOCTL[arch], args: [0, 0x5412] }), EPERM);
      equal(verdict(filter, arch, { nr: IOCTL[arch], args: [0, 2 ** 32 + 0x5412] }), EPERM);
      equal(verdict(filter, arch, { nr: IOCTL[arch], args: [0, 0x541c] }), EPERM);
      equal(verdict(filter, arch, { nr: IOCTL[arch], args: [0, 0x5401] }), "allow");
      // io_uring, open_tree to fspick, pidfd_getfd, mount_setattr, open_tree_attr.
      for (const nr of [425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 442, 467]) {
        equal(verdict(filter, arch, { nr }), EPERM);
      }
      equal(verdict(filter, arch, { nr: 470 }), ENOSYS);
      equal(verdict(filter, arch, { nr: 10_000 }), ENOSYS);
      equal(verdict(filter, arch, { nr: 0, machine: 0x40000003 }), "kill");
      equal(verdict(filter, arch, { nr: 0, machine: 0x40000028 }), "kill");
    }
  });
}

Deno.test("a filter refuses other processes' memory, keys, mounts and modules by each machine's numbers", () => {
  const refused: Readonly<Record<Arch, readonly number[]>> = {
    // ptrace, mount, umount2, pivot_root, add_key, request_key, keyctl, perf_event_open, bpf, userfaultfd, setns,
    // process_vm_readv, process_vm_writev, init_module, finit_module, kexec_load, kexec_file_load, open_by_handle_at.
    x86_64: [
      ...[101, 165, 166, 155, 248, 249, 250, 298, 321, 323, 308, 310, 311, 175, 313, 246],
      ...[320, 304],
    ],
    aarch64: [
      ...[117, 40, 39, 41, 217, 218, 219, 241, 280, 282, 268, 270, 271, 105, 273, 104],
      ...[294, 265],
    ],
  };
  for (const arch of ["x86_64", "aarch64"] as const) {
    for (const nr of refused[arch]) {
      for (const filter of FILTERS) equal(verdict(filter, arch, { nr }), EPERM, `${arch} ${nr}`);
    }
  }
});

Deno.test("on x86_64 a call with 32-bit pointers ends its process", () => {
  for (const filter of FILTERS) {
    for (const nr of [0x40000000, 0x40000029, 0xffffffff]) {
      equal(verdict(filter, "x86_64", { nr }), "kill");
    }
  }
});

Deno.test("a filter is short enough for Linux", () => {
  for (const filter of FILTERS) {
    for (const arch of ["x86_64", "aarch64"] as const) {
      const { length } = filterBytes(filter, arch);
      ok(length % 8 === 0 && length / 8 < 4_096, String(length));
    }
  }
});
