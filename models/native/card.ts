/** Whether a graphics card works, and what to do where none does. @module */
import { Fault } from "../../contracts/fault.ts";
import type { Gpu } from "../../contracts/model_config.ts";
import type { Addon } from "./addon.ts";

/** What must be there, and what shows whether it is. */
const NEEDS: Readonly<Record<Gpu, string>> = {
  cuda:
    "it needs NVIDIA's driver (`nvidia-smi` lists the card, /dev/nvidia-uvm is there) and the " +
    "libraries libcudart and libcublas of CUDA 13 or 12",
  vulkan:
    "it needs libvulkan.so.1 and the card's Vulkan driver (`vulkaninfo --summary` lists it), and " +
    "your right to /dev/dri (groups video, render)",
};

/** Whether llama.cpp found a card that it gives work to. */
export function hasCard(addon: Pick<Addon, "getGpuDeviceInfo">): boolean {
  return addon.getGpuDeviceInfo().deviceNames.length > 0;
}

/** The fault `unavailable` for a build whose card or driver is not there. */
export function missingGpu(gpu: Gpu, why: string, options: ErrorOptions = {}): Fault {
  return new Fault(
    "unavailable",
    `Cannot start the accelerated engine for ${gpu}: ${why.slice(0, 300)}; ${
      NEEDS[gpu]
    }; or write ` +
      '"accelerated: cpu" for this model in remit.yaml',
    options,
  );
}
