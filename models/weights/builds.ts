/** Which builds of llama.cpp's native engine there are: npm packages with their pinned integrity. @module */
import { join } from "node:path";
import type { NativeBuild } from "../../contracts/model/mod.ts";

/** The version of every package. */
export const ENGINE_VERSION = "3.22.1";

/** One npm package: prebuilt files, no install script of which is run. */
export interface EnginePackage {
  readonly name: string;
  /** The folder in it whose files are taken, and those of its folder `fallback`. */
  readonly folder: string;
  readonly integrity: string;
}

/** A build: what it is, and the packages whose files make it up together. */
export interface EngineBuild {
  readonly about: string;
  /** The first holds the addon. */
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

/** The build for a machine, as Deno names its system and processor; undefined where there is none. */
export function engineBuild(
  { os, arch }: { readonly os: string; readonly arch: string },
  build: NativeBuild,
): EngineBuild | undefined {
  return os === "linux" ? BUILDS[arch]?.[build] : undefined;
}

/** All kinds of builds, the one that needs no card first. */
export const NATIVE_BUILDS: readonly NativeBuild[] = ["cpu", "cuda", "vulkan"];

/** What `remit model accelerate` is called with for a build. */
export function accelerateCommand(build: NativeBuild): string {
  return `remit model accelerate${build === "cpu" ? "" : ` --gpu ${build}`}`;
}

/** Where llama.cpp's native addon lies once `remit model accelerate` has fetched it. */
export function nativeAddon(cache: string): string {
  return join(cache, "native", "llama-addon.node");
}
