/** Whether this machine has a Vulkan driver: a card's, or one that computes on the processor. @module */

const FOLDERS = ["/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d"];
const LOADERS = ["/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"];

function namesIn(folder: string): readonly string[] {
  try {
    return [...Deno.readDirSync(folder)].map(({ name }) => name);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** True where the loader and a driver's description exist. */
export function hasVulkanDriver(): boolean {
  return Deno.build.arch === "x86_64" &&
    LOADERS.some((folder) => namesIn(folder).includes("libvulkan.so.1")) &&
    FOLDERS.some((folder) => namesIn(folder).some((name) => name.endsWith(".json")));
}
