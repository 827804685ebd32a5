/**
 * What mallory's program asks of Linux itself, by number and without a library: another process's memory, the kernel's
 * keys and code, namespaces and mounts of its own, a ring that does what it is told without a call.
 */
import assert from "node:assert/strict";
import { pythonAttack as attack } from "./_python.ts";

const X86 = Deno.build.arch === "x86_64";
const number = (x86: number, arm: number): number => X86 ? x86 : arm;

const CALLS: Readonly<Record<string, readonly [nr: number, ...args: readonly number[]]>> = {
  ptrace: [number(101, 117), 0, 0, 0, 0],
  "process_vm_readv": [number(310, 270), 1, 0, 0, 0, 0, 0],
  "process_vm_writev": [number(311, 271), 1, 0, 0, 0, 0, 0],
  userfaultfd: [number(323, 282), 1],
  add_key: [number(248, 217), 0, 0, 0, 0, 0],
  request_key: [number(249, 218), 0, 0, 0, 0],
  keyctl: [number(250, 219), 0, -3, 0, 0, 0],
  bpf: [number(321, 280), 0, 0, 0],
  perf_event_open: [number(298, 241), 0, 0, -1, -1, 0],
  io_uring_setup: [425, 1, 0],
  io_uring_enter: [426, 0, 0, 0, 0, 0],
  io_uring_register: [427, 0, 0, 0, 0],
  mount: [number(165, 40), 0, 0, 0, 0, 0],
  umount: [number(166, 39), 0, 0],
  pivot_root: [number(155, 41), 0, 0],
  open_tree: [428, -100, 0, 0],
  move_mount: [429, 0, 0, 0, 0, 0],
  fsopen: [430, 0, 0],
  fsmount: [432, 0, 0, 0],
  mount_setattr: [442, -100, 0, 0, 0, 0],
  setns: [number(308, 268), 0, 0],
  "unshare user": [number(272, 97), 0x10000000],
  "unshare mounts": [number(272, 97), 0x00020000],
  "unshare network": [number(272, 97), 0x40000000],
  "clone into a user namespace": [number(56, 220), 0x10000011, 0, 0, 0, 0],
  "clone into a network": [number(56, 220), 0x40000011, 0, 0, 0, 0],
  kexec_load: [number(246, 104), 0, 0, 0, 0],
  kexec_file_load: [number(320, 294), 0, 0, 0, 0, 0],
  init_module: [number(175, 105), 0, 0, 0],
  finit_module: [number(313, 273), 0, 0, 0],
  delete_module: [number(176, 106), 0, 0],
  open_by_handle_at: [number(304, 265), -100, 0, 0],
  pidfd_getfd: [438, 0, 0, 0],
};

attack(
  "mallory's program asks Linux for what no program needs, and is refused each by its number",
  async ({ desk, tries }) => {
    const said = await tries(
      { read: [desk] },
      Object.entries(CALLS).map(([name, [nr, ...args]]) =>
        `said[${JSON.stringify(name)}] = call(${[nr, ...args].join(", ")})`
      ).join("\n"),
    );
    assert.deepEqual(said, Object.fromEntries(Object.keys(CALLS).map((name) => [name, "EPERM"])));
  },
);

attack(
  "a call whose flags no filter can read does not exist, and threads and programs start all the same",
  async ({ desk, tries }) => {
    const said = await tries(
      { read: [desk] },
      `
import threading, subprocess
said["clone3"] = call(435, 0, 0)
said["newer"] = call(480, 0)
ran = []
t = threading.Thread(target=lambda: ran.append("thread")); t.start(); t.join()
said["thread"] = ran[0]
said["program"] = subprocess.run(["/bin/echo", "ran"], capture_output=True, text=True).stdout.strip()
said["loopback"] = tried(lambda: socket.create_server(("127.0.0.1", 0)).close())
said["packets"] = tried(lambda: socket.socket(17, socket.SOCK_RAW))
said["bluetooth"] = tried(lambda: socket.socket(31, socket.SOCK_RAW))
said["vsock"] = tried(lambda: socket.socket(40, socket.SOCK_STREAM))
said["audit"] = tried(lambda: socket.socket(16, socket.SOCK_RAW, 9))
import fcntl
said["types"] = tried(lambda: fcntl.ioctl(0, 0x5412, b"x"))
said["pastes"] = tried(lambda: fcntl.ioctl(0, 0x541c, b"\\x03"))`,
    );
    assert.deepEqual(said, {
      ...{ clone3: "ENOSYS", newer: "ENOSYS", thread: "thread", program: "ran", loopback: "ok" },
      ...{ packets: "EAFNOSUPPORT", bluetooth: "EAFNOSUPPORT", vsock: "EAFNOSUPPORT" },
      ...{ audit: "EAFNOSUPPORT", types: "EPERM", pastes: "EPERM" },
    });
  },
);

attack(
  "mallory's program speaks to Linux as a machine of 32 bits, and its process ends",
  async ({ desk, tries }) => {
    if (!X86) return;
    // getpid as x32 counts it; and getpid by `int 0x80`, put into memory that may run.
    const said = await tries(
      { read: [desk] },
      `
def ends(f):
    pid = os.fork()
    if pid == 0:
        f()
        os._exit(0)
    return str(os.waitpid(pid, 0)[1])
import mmap
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(b"\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3")
at = ctypes.addressof(ctypes.c_char.from_buffer(code))
said["x32"] = ends(lambda: call(0x40000000 + 39))
said["i386"] = ends(lambda: ctypes.CFUNCTYPE(ctypes.c_int)(at)())`,
    );
    // SIGSYS, with or without a core that no limit lets be written; SIGSEGV where Linux was built without 32-bit calls.
    assert.match(said["x32"] ?? "", /^(?:31|159)$/);
    assert.match(said["i386"] ?? "", /^(?:31|159|11|139)$/);
  },
);

attack(
  "mallory's program that closes its output and lives on is found at once, not at the deadline",
  async ({ desk, tries }) => {
    await assert.rejects(
      tries({ read: [desk] }, `os.close(1)\nimport time\ntime.sleep(86399)`),
      /its process ended \(SIGKILL\)/,
    );
  },
);
