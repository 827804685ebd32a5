import assert from "node:assert/strict";
import type { Gpu } from "../../../contracts/model/mod.ts";
import type { KernelConfig } from "../../../contracts/wire/mod.ts";
import { lineOfLocal, lineOfNative, lineOfRemote } from "./model_line.ts";
import type { Walls } from "./walls.ts";

const MiB = 1024 * 1024;
const config = {
  programs: { deno: "/deno", bwrap: "/bwrap", prlimit: "/prlimit" },
  bundles: { local: "/b/local.js", native: "/b/native.js" },
  denoDir: "/dd",
} as unknown as KernelConfig;
const walls = { bwrap: true, filter: true, setpriv: false, nice: false, prlimit: true } as Walls;

/** MiB of memory that a start line allows. */
function dataOf({ args }: { readonly args: readonly string[] }): number {
  const [flag = ""] = args.filter((arg) => arg.startsWith("--data="));
  return Number(flag.slice("--data=".length)) / MiB;
}
const native = (weights: number, contextTokens: number): number =>
  dataOf(lineOfNative(config, walls, {
    ...{ addon: "/a/llama.node", weights: "/w.gguf", contextTokens },
    bytes: weights * MiB,
  }));
const local = (weights: number, contextTokens: number): number =>
  dataOf(lineOfLocal(config, walls, { bytes: weights * MiB, contextTokens }));

Deno.test("a native model has room for its weights twice and for keys and values of its context", () => {
  assert.equal(native(100, 4_096), 1_024 + 200 + 512);
  assert.equal(native(2_000, 4_096), 1_024 + 4_000 + 2_000);
  assert.equal(native(2_000, 32_768) - native(2_000, 4_096), 7 * 2_000);
});

Deno.test("a model in WASM has room by its context, and one without a context for itself alone", () => {
  assert.equal(local(1_000, 4_096), 1_792 + 2_000 + 1_000);
  assert.equal(local(1_000, 8_192) - local(1_000, 4_096), 1_000);
  assert.equal(local(10, 0), 1_792 + 20);
});

Deno.test("an engine runs at the kernel's priority; what else is started yields to both", () => {
  const nice = { ...config, programs: { ...config.programs, nice: "/nice" } };
  const yielding = { ...walls, nice: true };
  const bytes = 100 * MiB;
  const lines = [
    lineOfLocal(nice, yielding, { bytes, contextTokens: 512 }),
    lineOfNative(nice, yielding, { addon: "/a/x", weights: "/w", contextTokens: 512, bytes }),
    lineOfRemote(nice, yielding, undefined),
  ];
  assert.deepEqual(lines.map(({ program }) => program === "/nice"), [false, false, true]);
});

const onCard = (gpu?: Gpu): readonly string[] =>
  lineOfNative(config, walls, {
    ...{ addon: "/a/llama.node", weights: "/w.gguf", contextTokens: 4_096, bytes: 100 * MiB },
    ...(gpu === undefined ? {} : { gpu }),
  }).args;

/** What a line has that another has not, in order. Each argument counts. */
function moreThan(line: readonly string[], other: readonly string[]): readonly string[] {
  const left = [...other];
  return line.filter((arg) => {
    const at = left.indexOf(arg);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}
const twice = (flag: string, paths: readonly string[]): readonly string[] =>
  paths.flatMap((path) => [flag, path, path]);
const NVIDIA = [
  ...["/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset"],
  ...["/dev/nvidia-caps", ...Array.from({ length: 16 }, (_, n) => `/dev/nvidia${n}`)],
];
const SYSTEM = ["/sys/dev/char", "/sys/devices", "/sys/bus/pci"];

Deno.test("an engine for a card is bound its nodes and its driver's files, and nothing else is added", () => {
  const cuda = [
    ...["/usr/local/cuda/lib64", "/usr/local/cuda-13/lib64", "/usr/local/cuda-12/lib64"],
    ...["/opt/cuda/lib64", "/run/opengl-driver/lib", "/usr/lib/wsl/lib"],
  ];
  const added: Readonly<Record<Gpu, readonly string[]>> = {
    vulkan: [
      ...[`--data=${(1_024 + 2_048 + 200 + 512) * MiB}`, `--fsize=${(1_024 + 2_048 + 712) * MiB}`],
      ...twice("--dev-bind-try", ["/dev/dri", ...NVIDIA]),
      ...twice("--ro-bind-try", ["/usr/share/vulkan", "/etc/vulkan", ...SYSTEM]),
    ],
    cuda: [
      `--data=${(1_024 + 2_048 + 200 + 512) * MiB}`,
      ...twice("--dev-bind-try", [...NVIDIA, "/dev/dxg"]),
      ...twice("--ro-bind-try", [...cuda, ...SYSTEM]),
      ...["--setenv", "LD_LIBRARY_PATH", cuda.join(":")],
    ],
    npu: [
      `--data=${(1_024 + 2_048 + 200 + 512) * MiB}`,
      ...twice("--dev-bind-try", ["/dev/accel"]),
      ...twice("--ro-bind-try", SYSTEM),
    ],
  };
  for (const gpu of ["vulkan", "cuda", "npu"] as const) {
    assert.deepEqual(moreThan(onCard(gpu), onCard()), added[gpu]);
    const taken = moreThan(onCard(), onCard(gpu)).map((arg) => arg.replace(/\d+$/, ""));
    assert.deepEqual(taken, gpu === "vulkan" ? ["--data=", "--fsize="] : ["--data="]);
  }
});

Deno.test("a card widens no permission of Deno's: its driver's files are opened by native code alone", () => {
  const rights = (gpu?: Gpu): readonly string[] =>
    onCard(gpu).filter((arg) => /^--(allow|deny|ignore)/.test(arg));
  assert.deepEqual(rights().slice(0, 3), [
    ...["--ignore-env", "--allow-ffi=/a", "--allow-read=/a,/weights.gguf"],
  ]);
  assert.deepEqual(rights("cuda"), rights());
  assert.deepEqual(rights("vulkan"), rights());
  for (const gpu of ["cuda", "vulkan", "npu"] as const) {
    assert.ok(onCard(gpu).includes("--unshare-all") && !onCard(gpu).includes("--share-net"));
    assert.ok(!onCard(gpu).some((arg) => arg === "/dev" || arg === "/sys" || arg === "/etc"));
  }
});

Deno.test("what runs in WASM, the built-in embedder too, has no right and no network", () => {
  const { args } = lineOfLocal(config, walls, { bytes: 10 * MiB, contextTokens: 0 });
  assert.deepEqual(args.filter((arg) => arg.startsWith("--allow")), []);
  for (const right of ["read", "write", "net", "env", "run", "sys", "ffi"]) {
    assert.ok(args.includes(`--deny-${right}`), right);
  }
});
