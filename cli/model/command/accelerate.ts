/** `model accelerate [--gpu cuda|vulkan]`: fetches a build of the native engine. @module */
import { EXIT, Fault } from "../../../contracts/base/mod.ts";
import { Gpu, type NativeBuild } from "../../../contracts/model/mod.ts";
import { displayText } from "../../../text/mod.ts";
import { type Command, printJson, printLines } from "../../command.ts";
import { asked } from "./weights.ts";
import { flag } from "../../arguments/parse_arguments.ts";
import { bytesText } from "../../../models/weights/mod.ts";
import type { Basic } from "../../powers.ts";

function buildOf({ parsed }: Command): NativeBuild {
  const text = flag(parsed, "gpu");
  if (text === undefined) return "cpu";
  const gpu = Gpu.safeParse(text);
  if (gpu.success) return gpu.data;
  throw new Fault(
    "invalidInput",
    `Cannot fetch a native engine for "${displayText(text, { max: 60 })}": --gpu is ${
      Gpu.options.join(" or ")
    }, and without it the engine is for the processor alone`,
  );
}

/** `model accelerate`. */
export async function modelAccelerate(
  command: Command<Basic | "keyboard" | "models">,
): Promise<number> {
  const { powers } = command;
  const build = buildOf(command);
  const engine = powers.models.engine(build);
  const there = engine.found();
  const named = build === "cpu" ? "The native engine" : `The native engine for ${build}`;
  if (there !== undefined) {
    if (command.json) printJson(command, { folder: there, build, fetched: false });
    else printLines(command, [`${named} is there: ${displayText(there, { max: 500 })}`]);
    return EXIT.success;
  }
  if (engine.offer !== undefined) {
    const { say } = powers.screen;
    say(`${named}: npm package ${engine.offer.package}`);
    say(`  ${engine.offer.about}; its integrity is pinned by this version`);
    say(
      `  native code: it runs in a namespace that sees its own folder${
        build === "cpu" ? "" : ", the card with its driver"
      } and one file of weights`,
    );
    await asked(command, "fetch the native engine", "fetch it?");
  }
  const { folder, bytes, files } = await engine.fetch();
  if (command.json) printJson(command, { folder, build, bytes, files, fetched: true });
  else {
    const value = build === "cpu" ? "true" : build;
    printLines(command, [
      `fetched and checked: ${files} files, ${bytesText(bytes)}, in ${
        displayText(folder, { max: 500 })
      }`,
      `  for a model: "accelerated: ${value}" in its entry of remit.yaml's models`,
    ]);
  }
  return EXIT.success;
}
