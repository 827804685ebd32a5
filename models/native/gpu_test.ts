import assert from "node:assert/strict";
import { Fault } from "../../contracts/base/fault.ts";
import type { InferenceRequest } from "../../contracts/model/model.ts";
import { faultOf, requestOf, said, tool } from "../_fixture/contract_suite.ts";
import { makeTinyGguf } from "../_fixture/tiny_gguf.ts";
import { type Addon, hasCard, missingGpu } from "./addon.ts";
import { startNative } from "./engine.ts";
import { cardlessAddon, openAsKernel } from "./_fixture/kernel_models.ts";
import { hasVulkanDriver } from "./_fixture/vulkan_driver.ts";

const eager = makeTinyGguf({ seed: 11, eager: true });
const never = new AbortController().signal;
const driver = hasVulkanDriver();
if (!driver) {
  const line = "no Vulkan driver on this machine: that one computes is not claimed here\n";
  Deno.stdout.writeSync(new TextEncoder().encode(line));
}

Deno.test("a build for a graphics card that finds none is refused with what to do, by the kernel's own way", async () => {
  const addon = await cardlessAddon();
  for (
    const [accelerated, says] of [
      ["vulkan", /libvulkan\.so\.1.*vulkaninfo --summary.*\/dev\/dri.*"accelerated: cpu"/],
      ["npu", /a build of the engine for this NPU.*\/dev\/accel.*"accelerated: cpu"/],
      ["cuda", /nvidia-smi.*\/dev\/nvidia-uvm.*CUDA 13 or 12.*"accelerated: cpu"/],
    ] as const
  ) {
    const fault = await faultOf(openAsKernel(eager, { accelerated }, { addon }));
    assert.equal(fault.code, "unavailable", fault.message);
    const begin = `Cannot start the accelerated engine for ${accelerated}: no card is found; `;
    assert.ok(fault.message.startsWith(begin), fault.message);
    assert.match(fault.message, says);
  }
  // The same files serve where no card is asked for.
  await using plain = await openAsKernel(eager, { accelerated: "cpu" }, { addon });
  assert.equal(plain.open.info.backend, "gguf-native");
});

Deno.test("a card is one that llama.cpp names, and a fault keeps the first of a long reason", () => {
  const addon = (deviceNames: string[]): Pick<Addon, "getGpuDeviceInfo"> => ({
    getGpuDeviceInfo: () => ({ deviceNames }),
  });
  assert.ok(hasCard(addon(["a card"])));
  assert.ok(hasCard(addon(["NPU 0"])));
  assert.ok(!hasCard(addon([])));
  const fault = missingGpu("cuda", "x".repeat(5_000));
  assert.ok(fault instanceof Fault && fault.message.length < 800);
});

/** Starts on a card whose memory llama.cpp says this about. */
function startFull(gpuLayers: number, complaint: string): Promise<unknown> {
  class AddonModel {
    init(): Promise<boolean> {
      return Promise.resolve(false);
    }
  }
  const addon = { AddonModel } as unknown as Addon;
  return faultOf(startNative(addon, {
    ...{ weights: "/weights.gguf", template: "", sequences: 1, contextTokens: 512, gpuLayers },
    ...{ thoughts: false, embedding: false, complaint: () => complaint },
  }));
}

Deno.test("a card whose memory is too small says which settings make the model smaller", async () => {
  const why = "unable to allocate Vulkan0 buffer";
  const hint = '; fewer "gpuLayers" or fewer "contextTokens" for this model in remit.yaml may fit';
  const said = async (layers: number, complaint: string): Promise<string> =>
    (await startFull(layers, complaint) as Fault).message;
  assert.equal(await said(9_999, why), `Cannot load the model: ${why}${hint}`);
  assert.equal(await said(0, why), `Cannot load the model: ${why}`);
  assert.equal(
    await said(9, "unknown architecture"),
    "Cannot load the model: unknown architecture",
  );
});

if (driver) {
  Deno.test("a Vulkan device computes in the namespace: the same for the same seed, every call valid", async () => {
    // A driver that computes on the processor is only used when it is named.
    const env = { GGML_VK_VISIBLE_DEVICES: "0" };
    await using model = await openAsKernel(eager, { accelerated: "vulkan" }, { env });
    const { open } = model;
    assert.equal(open.info.backend, "gguf-vulkan");
    const tools = ["file_read", "file_write"].map(tool);
    const ask = (seed: number): InferenceRequest =>
      requestOf([said(`Task ${seed}`)], { tools, maxTokens: 80, temperature: 1, seed });
    const hear = async (seed: number) =>
      (await open.infer(ask(seed), { signal: never, onChunk: () => undefined })).message;
    const messages = [await hear(0), await hear(1)];
    let calls = 0;
    for (const message of messages) {
      for (const { name, arguments: text } of message.toolCalls ?? []) {
        assert.ok(tools.some((each) => each.name === name), text);
        assert.ok([...JSON.parse(text).path].length <= 40, text);
        calls++;
      }
    }
    assert.ok(calls > 0, "it made no call at all");
    assert.deepEqual(await hear(1), messages[1]);
  });
}
