/** Finds or starts the kernel for one run: with exactly its rules, its model's program built, its keys lent. @module */
import { type Command, wishOf } from "../command.ts";
import type { Basic } from "../powers.ts";
import type { KernelLink } from "../../launch/kernel/kernels.ts";
import { lendMcp } from "../../bridges/mcp/registry/handover.ts";
import { lendKeys, provideModelPrograms } from "../model/ready.ts";
import type { RunSetting } from "./run_setting.ts";
import { registryOf } from "../mcp/work.ts";

/** Finds or starts the kernel. Throws `conflict` when a busy kernel has other rules. */
export async function kernelFor(
  command: Command<Basic | "mcpStore" | "models">,
  setting:
    & Pick<RunSetting, "config" | "mounts" | "resolved">
    & Partial<Pick<RunSetting, "mcp" | "foreign">>,
  /** False where another kernel of a fleet may take the task, under rules of its own. */
  exact = true,
): Promise<KernelLink> {
  const { config, mounts, resolved, mcp = [], foreign } = setting;
  await provideModelPrograms(command, resolved);
  if (mcp.length > 0) await command.powers.mcpStore.ready();
  const link = await command.powers.kernels(command.places).provide(
    wishOf(config, { mounts: mounts.map((mount) => mount.dir), exact, foreign }),
  );
  try {
    await lendKeys(link, resolved);
    await lendMcp(registryOf(command), link, mcp);
  } catch (error) {
    link.close();
    throw error;
  }
  return link;
}
