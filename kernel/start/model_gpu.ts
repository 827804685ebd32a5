/**
 * What a build of the native engine for graphics cards finds in its namespace beside what every one
 * has: device nodes, the driver's files, and what the system says about the card. All of it is bound
 * only where it is there, so that a missing driver is told by the engine, not by bubblewrap.
 * @module
 */
import type { Gpu } from "../../contracts/mod.ts";

/** Cards of one machine. */
const MOST_CARDS = 16;

/** NVIDIA's: one node a card, the ones that all share, and those of a card's parts (MIG). */
const NVIDIA = [
  ...["/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset"],
  "/dev/nvidia-caps",
  ...Array.from({ length: MOST_CARDS }, (_, n) => `/dev/nvidia${n}`),
];

/** Where NVIDIA's own packages, Arch, NixOS and WSL keep libraries that no default path leads to. */
const CUDA_LIBRARIES = [
  "/usr/local/cuda/lib64",
  "/usr/local/cuda-13/lib64",
  "/usr/local/cuda-12/lib64",
  "/opt/cuda/lib64",
  "/run/opengl-driver/lib",
  "/usr/lib/wsl/lib",
];

/** Drivers know a card by what the system says of its device; read only. */
const SYSTEM = ["/sys/dev/char", "/sys/devices", "/sys/bus/pci"];

interface GpuFiles {
  /** Nodes that are read and written. */
  readonly devices: readonly string[];
  readonly read: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const FILES: Readonly<Record<Gpu, GpuFiles>> = {
  cuda: {
    // WSL's one node stands for the card of the machine around it.
    devices: [...NVIDIA, "/dev/dxg"],
    read: [...CUDA_LIBRARIES, ...SYSTEM],
    env: { LD_LIBRARY_PATH: CUDA_LIBRARIES.join(":") },
  },
  vulkan: {
    // NVIDIA's Vulkan driver does not go through /dev/dri alone.
    devices: ["/dev/dri", ...NVIDIA],
    read: ["/usr/share/vulkan", "/etc/vulkan", ...SYSTEM],
    env: {},
  },
};

/** Arguments of bubblewrap that bind a graphics card and its driver, and nothing else. */
export function gpuBinds(gpu: Gpu): readonly string[] {
  const { devices, read, env } = FILES[gpu];
  return [
    ...devices.flatMap((node) => ["--dev-bind-try", node, node]),
    ...read.flatMap((path) => ["--ro-bind-try", path, path]),
    ...Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value]),
  ];
}

/**
 * MiB that a driver keeps for itself on this side: compiled programs, rings, what goes to and from the
 * card. Measured with a software driver, which keeps everything here; room to spare for the others.
 */
export const GPU_DATA = 2_048;
