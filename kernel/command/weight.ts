/** Looks now and then at what a running program writes: nothing else bounds it on a disk. @module */
import { Fault, type Powers } from "../../contracts/mod.ts";
import type { CopyService } from "./copies.ts";

/** Milliseconds between two looks, at least. */
const WEIGH_MS = 300;
/** Looking takes no more than this share of the time. */
const SHARE = 1 / 20;
/** Files and bytes that copies may grow to while a program runs. */
const MOST_FILES = 40_000;
const MOST_BYTES = 1024 * 1024 * 1024;

/** Watches until the returned function is called; `onTooMuch` is called at most once. */
export function watchWeight(
  { service, powers, name, most = { files: MOST_FILES, bytes: MOST_BYTES } }: {
    readonly service: Pick<CopyService, "weigh">;
    readonly powers: Pick<Powers, "now" | "after">;
    readonly name: string;
    /** What the copies may grow to. */
    readonly most?: Readonly<Record<"files" | "bytes", number>>;
  },
  onTooMuch: (fault: Fault) => void,
): () => void {
  let over = false;
  let cancel = (): void => {};
  const tell = (fault: Fault): void => {
    if (over) return;
    over = true;
    onTooMuch(fault);
  };
  const look = async (): Promise<void> => {
    const began = powers.now();
    try {
      const { files, bytes } = await service.weigh();
      if (over) return;
      if (files > most.files || bytes > most.bytes) {
        tell(new Fault("tooLarge", `Cannot finish ${name}: it wrote too many files or bytes`));
      } else cancel = powers.after(Math.max(WEIGH_MS, (powers.now() - began) / SHARE), look);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      tell(error);
    }
  };
  cancel = powers.after(WEIGH_MS, look);
  return () => {
    over = true;
    cancel();
  };
}
