/** The start lines of model services: one origin, one file of weights, or nothing. docs/decision/0011. @module */
import { cacheBeside } from "../../../contracts/base/built_program.ts";
import { Fault } from "../../../contracts/base/fault.ts";
import type { Gpu } from "../../../contracts/model/mod.ts";
import type { KernelConfig } from "../../../contracts/wire/mod.ts";
import {
  DENIED,
  denoLine,
  environment,
  filtered,
  NAMESPACE,
  namespace,
  SIZES,
  started,
  type StartLine,
  type WallConfig,
} from "./line_parts.ts";
import type { Walls } from "./walls.ts";

const MiB = 1024 * 1024;
/** The address space of 32 bits, in pages of 64 KiB. */
const MAX_PAGES = 65_536;
const PAGES_PER_MIB = 16;
/** Least MiB of keys, values and scratch: in WASM, and in native code. */
const MIN_CONTEXT = 256, MIN_NATIVE_CONTEXT = 512;

/** Files by which host names are resolved. */
export const NAMES = ["/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf"];

type LineConfig = WallConfig & Pick<KernelConfig, "bundles" | "denoDir">;

/**
 * The start line of a model in WASM: like a worker, with room for `bytes` of weights twice (as they
 * arrive, and in the engine) and for a conversation of `contextTokens`.
 */
export function lineOfLocal(
  config: LineConfig,
  walls: Walls,
  { bytes, contextTokens }: { readonly bytes: number; readonly contextTokens: number },
): StartLine {
  const weights = Math.ceil(bytes / MiB);
  const context = contextOf(Math.max(MIN_CONTEXT, weights), contextTokens);
  const { heap, pages, data, file } = SIZES.local;
  const sizes = {
    ...{ heap, file },
    pages: Math.min(MAX_PAGES, pages + (weights + context) * PAGES_PER_MIB),
    data: data + 2 * weights + context,
  };
  const line = denoLine(config.programs.deno, "local", config.bundles.local, DENIED, sizes);
  // Memory of pieces that the engine has read returns to the system at once.
  const env = { ...environment(config.denoDir), MALLOC_MMAP_THRESHOLD_: String(MiB) };
  return started(config, walls, "local", line, env, sizes);
}

/** MiB of keys, values and scratch: measured, about the weights' size for 4,096 tokens. */
function contextOf(weights: number, contextTokens: number): number {
  return Math.ceil(weights * contextTokens / 4_096);
}

/**
 * The start line of a provider's service: one origin of the network, in a namespace where possible.
 * Without `at` the service has no permission.
 */
export function lineOfRemote(
  config: LineConfig,
  walls: Walls,
  at: { readonly host: string; readonly port: number } | undefined,
): StartLine {
  const { bwrap, deno } = config.programs;
  const { remote: bundle } = config.bundles;
  if (at === undefined) {
    const inner = denoLine(deno, "remote", bundle, DENIED);
    return started(config, walls, "remote", inner, environment(config.denoDir));
  }
  const rights = [
    ...["--ignore-env", `--allow-net=${at.host}:${at.port}`],
    ...DENIED.filter((flag) => flag !== "--deny-net" && flag !== "--deny-env"),
  ];
  if (!walls.bwrap || bwrap === undefined) {
    const inner = denoLine(deno, "remote", bundle, rights);
    return started(config, walls, "remote", inner, environment(config.denoDir));
  }
  const wall = [
    ...namespace(bwrap, deno, environment(NAMESPACE.denoDir), ["--share-net"]),
    ...["--tmpfs", "/tmp"],
    ...["--ro-bind", bundle, bundle],
    ...["--ro-bind-try", cacheBeside(bundle), NAMESPACE.denoDir],
    ...NAMES.flatMap((file) => ["--ro-bind-try", file, file]),
    // Deno's HTTP client looks up its own executable, and fails where it cannot.
    ...["--symlink", NAMESPACE.deno, "/proc/self/exe"],
    ...["--remount-ro", "/", "--chdir", "/", "--"],
    ...denoLine(NAMESPACE.deno, "remote", bundle, rights),
  ];
  const inner = filtered(config, walls.filter ? "program" : undefined, wall);
  return started(config, { ...walls, setpriv: false }, "remote", inner, {});
}

/**
 * The start line of llama.cpp's native engine: it reads and runs its addon's folder, reads one file
 * of weights, and sees nothing else; with `gpu`, also the card's nodes and its driver's files.
 * Deno's permissions stay the same, because only native code opens a driver's files.
 *
 * @throws Fault `unavailable` without bubblewrap: native code has no other wall
 */
export function lineOfNative(
  config: LineConfig,
  walls: Walls,
  { addon, weights, bytes, contextTokens, gpu }: {
    /** Absolute path of llama-addon.node; its libraries lie beside it. */
    readonly addon: string;
    /** Absolute path of the weights. */
    readonly weights: string;
    readonly bytes: number;
    readonly contextTokens: number;
    /** The graphics interface of the addon's build; absent: none. */
    readonly gpu?: Gpu;
  },
): StartLine {
  const { bwrap, deno } = config.programs;
  if (!walls.bwrap || !walls.filter || bwrap === undefined) {
    throw new Fault(
      "unavailable",
      "Cannot use the native engine: it needs bubblewrap and seccomp, which this machine lacks (see `remit doctor`); " +
        "without `accelerated` the model runs in WASM",
    );
  }
  const folder = addon.slice(0, addon.lastIndexOf("/"));
  const rights = [
    ...["--ignore-env", `--allow-ffi=${folder}`, `--allow-read=${folder},${NATIVE_WEIGHTS}`],
    ...DENIED.filter((flag) => !["--deny-read", "--deny-ffi", "--deny-env"].includes(flag)),
  ];
  const mapped = Math.ceil(bytes / MiB);
  const context = Math.max(MIN_NATIVE_CONTEXT, contextOf(mapped, contextTokens));
  const base = SIZES.native.data + (gpu === undefined ? 0 : GPU_DATA);
  const data = base + 2 * mapped + context;
  // A software driver keeps its working memory in one unnamed file.
  const file = gpu === "vulkan" ? data : SIZES.native.file;
  const sizes = { ...SIZES.native, data, file };
  const wall = [
    ...namespace(bwrap, deno, environment(NAMESPACE.denoDir)),
    ...["--proc", "/proc", "--tmpfs", "/tmp"],
    ...["--ro-bind", config.bundles.native, config.bundles.native],
    ...["--ro-bind-try", cacheBeside(config.bundles.native), NAMESPACE.denoDir],
    ...["--ro-bind", folder, folder, "--ro-bind", weights, NATIVE_WEIGHTS],
    ...(gpu === undefined ? [] : gpuBinds(gpu)),
    ...["--remount-ro", "/", "--chdir", "/", "--"],
    ...denoLine(NAMESPACE.deno, "native", config.bundles.native, rights, sizes),
  ];
  const inner = filtered(config, "closed", wall);
  return started(config, { ...walls, setpriv: false }, "native", inner, {}, sizes);
}

/** The weights' path inside the native engine's namespace. */
export const NATIVE_WEIGHTS = "/weights.gguf";

// A native engine's build for graphics cards needs more in its namespace: device nodes, the
// driver's files, and the system's description of the card. Each is bound only where it exists, so
// that the engine reports a missing driver, not bubblewrap.

/** Cards of one machine, at most. */
const MAX_CARDS = 16;

/** NVIDIA's device nodes: one per card, the shared ones, and those of a card's parts (MIG). */
const NVIDIA = [
  ...["/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset"],
  "/dev/nvidia-caps",
  ...Array.from({ length: MAX_CARDS }, (_, n) => `/dev/nvidia${n}`),
];

/** Library folders outside the default path: of NVIDIA's own packages, Arch, NixOS and WSL. */
const CUDA_LIBRARIES = [
  "/usr/local/cuda/lib64",
  "/usr/local/cuda-13/lib64",
  "/usr/local/cuda-12/lib64",
  "/opt/cuda/lib64",
  "/run/opengl-driver/lib",
  "/usr/lib/wsl/lib",
];

/** The system's descriptions of devices, by which drivers identify a card; read-only. */
const SYSTEM = ["/sys/dev/char", "/sys/devices", "/sys/bus/pci"];

interface GpuFiles {
  /** Nodes bound for reading and writing. */
  readonly devices: readonly string[];
  readonly read: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const FILES: Readonly<Record<Gpu, GpuFiles>> = {
  cuda: {
    // WSL's one node represents the host's card.
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
  npu: { devices: ["/dev/accel"], read: SYSTEM, env: {} },
};

/** Arguments of bubblewrap that bind a graphics card and its driver. */
function gpuBinds(gpu: Gpu): readonly string[] {
  const { devices, read, env } = FILES[gpu];
  return [
    ...devices.flatMap((node) => ["--dev-bind-try", node, node]),
    ...read.flatMap((path) => ["--ro-bind-try", path, path]),
    ...Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value]),
  ];
}

/**
 * MiB that a driver itself takes in main memory: compiled programs, rings, buffers to and from the card. Measured with a
 * software driver, which keeps everything in main memory; other drivers need less.
 */
const GPU_DATA = 2_048;
