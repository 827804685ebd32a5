/** The builds of llama.cpp's native engine: npm packages with pinned integrity. @module */
import { join } from "node:path";
import type { NativeBuild } from "../../contracts/model/mod.ts";

/** Version of every package. */
export const ENGINE_VERSION = "3.22.1";

/** An npm package of prebuilt files. Its install scripts are never run. */
export interface EnginePackage {
  readonly name: string;
  /** The folder in the package to copy, with its subfolder `fallback`. */
  readonly folder: string;
  readonly integrity: string;
}

/** A build, and the packages that make it up. */
export interface EngineBuild {
  readonly about: string;
  /** The first package holds the addon. */
  readonly packages: readonly [EnginePackage, ...EnginePackage[]];
}

const CPU = "llama.cpp built for this processor (MIT), about 30 MB on the disk";

/** Builds by Deno's name of the processor. */
const BUILDS: Readonly<Record<string, Readonly<Partial<Record<NativeBuild, EngineBuild>>>>> = {
  x86_64: {
    cpu: {
      about: CPU,
      packages: [{
        name: "@node-llama-cpp/linux-x64",
        folder: "bins/linux-x64",
        integrity:
          "sha512-5uCCDNqWCNfaAm8aR/Uzxbo4HBpKgNF91kCHPepKhgMgV2OAmatoefbOlMihsqCiH2Od35E/eUHQCFbfRBJuOg==",
      }],
    },
    cuda: {
      about:
        "llama.cpp built for CUDA 13 and 12 (MIT), about 320 MB to fetch, 560 MB on the disk; " +
        "NVIDIA's driver and CUDA's libraries are this machine's own",
      packages: [{
        name: "@node-llama-cpp/linux-x64-cuda",
        folder: "bins/linux-x64-cuda",
        integrity:
          "sha512-8rQCjyNNLZJUFit+YpjwlC4hwkKgOMIkB2wuycKBf8NU2O3ySKbiWZQ8aw9ku2nUTXjSnUIrE6KB88itduTBuA==",
      }, {
        name: "@node-llama-cpp/linux-x64-cuda-ext",
        folder: "bins/linux-x64-cuda",
        integrity:
          "sha512-4e5ajkiM2aR2WAdB/N/ACk4weEhHvOAIrzxZPsIX0xDFW5+6hhShuy1/vs88SK9NGdgAco9IyE28eYS0H1efpA==",
      }],
    },
    vulkan: {
      about: "llama.cpp built for Vulkan (MIT), about 75 MB on the disk; the card's driver and " +
        "libvulkan.so.1 are this machine's own",
      packages: [{
        name: "@node-llama-cpp/linux-x64-vulkan",
        folder: "bins/linux-x64-vulkan",
        integrity:
          "sha512-bBxqU+JOcBu1nb5Qj2zcMci+JByT1E8EajHvYodyNfVIPkEhXh+/HMwR1/BT7xP08YK0hks+kM8fglER0P8JEg==",
      }],
    },
  },
  aarch64: {
    cpu: {
      about: CPU,
      packages: [{
        name: "@node-llama-cpp/linux-arm64",
        folder: "bins/linux-arm64",
        integrity:
          "sha512-W+7naKCXX9/eEjjFmRS8vvx91QyLXDbeFxexZc3bh/PtQABZgmRL3C0AtYYXn4YGTj/3Qor4lWZn2tpjZFPLdQ==",
      }],
    },
  },
};

/** The build for a machine, by Deno's names of system and processor; undefined for none. */
export function engineBuild(
  { os, arch }: { readonly os: string; readonly arch: string },
  build: NativeBuild,
): EngineBuild | undefined {
  return os === "linux" ? BUILDS[arch]?.[build] : undefined;
}

/** All kinds of builds, the one without a GPU first. */
export const NATIVE_BUILDS: readonly NativeBuild[] = ["cpu", "cuda", "vulkan"];

/** The command that fetches a build. */
export function accelerateCommand(build: NativeBuild): string {
  return `remit model accelerate${build === "cpu" ? "" : ` --gpu ${build}`}`;
}

/** Path of llama.cpp's native addon after `remit model accelerate`. */
export function nativeAddon(cache: string): string {
  return join(cache, "native", "llama-addon.node");
}
