/** `model unload [NAME]`: ends processes of models that no task uses. @module */
import { EXIT } from "../../../contracts/base/mod.ts";
import { displayText } from "../../../text/mod.ts";
import { basename } from "node:path";
import * as z from "zod";
import { type Command, printJson, printLines } from "../../command.ts";
import { loadConfig } from "../../../config/files.ts";
import { followAliases } from "../alias.ts";
import { parseModelName } from "../name.ts";

const Refs = z.array(z.string().max(1_024)).max(1_000);
const Unloaded = z.object({ ended: Refs, used: Refs });

/** `model unload`. Weights stay in the store; the next task with the model loads them again. Exits with 1 where one is in use. */
export async function modelUnload(command: Command): Promise<number> {
  const { powers, places, parsed } = command;
  const [name] = parsed.args;
  const { models } = loadConfig(powers.disk, places, {
    folder: powers.environment.cwd,
    mounts: [],
  });
  const ref = name === undefined ? undefined : refOf(followAliases(name, models).ref);
  const link = await powers.kernels(places).find();
  let answer: z.infer<typeof Unloaded> = { ended: [], used: [] };
  if (link !== undefined) {
    try {
      answer = Unloaded.parse(await link.ask("modelUnload", ref === undefined ? {} : { ref }));
    } finally {
      link.close();
    }
  }
  if (command.json) printJson(command, answer);
  else {
    const lines = [
      ...answer.ended.map((each) => `unloaded ${displayText(each, { max: 200 })}`),
      ...answer.used.map((each) => `in use   ${displayText(each, { max: 200 })}`),
    ];
    const none = name === undefined
      ? "no model is loaded"
      : `${displayText(name, { max: 200 })} is not loaded`;
    printLines(command, lines.length === 0 ? [none] : lines);
  }
  return answer.used.length === 0 ? EXIT.success : EXIT.failure;
}

/** The kernel's reference of a model: weights by their name in the store. */
function refOf(text: string): string {
  const name = parseModelName(text);
  if (name.kind === "stored") return `gguf:${name.name}`;
  return name.kind === "gguf" ? `gguf:${basename(name.what).replace(/\.gguf$/, "")}` : text;
}
