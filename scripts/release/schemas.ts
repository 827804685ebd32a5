/**
 * `deno task schemas`: writes schema/remit.json and schema/tool.json, by which editors complete and
 * check remit.yaml and tool.yaml. They derive from the schemas that Remit itself uses, so that both
 * agree. Checks that JSON Schema cannot express are missing: marks of two lines that contradict
 * each other, paths, names of tools.
 *
 * @module
 */
import * as z from "zod";
import { RemitConfig } from "../../contracts/policy/mod.ts";
import { ToolYaml } from "../../tools-wasm/build/tool_yaml.ts";
import { print, ROOT } from "../process.ts";

const FILES = {
  remit: {
    schema: RemitConfig,
    says: "Configuration of Remit: models, mounts, rules, limits, agents, the service",
  },
  tool: {
    schema: ToolYaml,
    says: "A plugin of Remit: its tools, what each reads and writes, and its limits",
  },
} as const;

/** Returns path and text of each schema file, in draft 7, which editors' schema catalogues use. */
export function schemaFiles(): readonly { readonly path: string; readonly text: string }[] {
  return Object.entries(FILES).map(([name, { schema, says }]) => {
    const { $schema, ...rest } = z.toJSONSchema(schema, { io: "input", target: "draft-7" });
    const id = `https://www.schemastore.org/remit-${name}.json`;
    const whole = { $schema, $id: id, title: `${name}.yaml`, description: says, ...rest };
    return { path: `schema/${name}.json`, text: `${JSON.stringify(whole, null, 2)}\n` };
  });
}

if (import.meta.main) {
  for (const { path, text } of schemaFiles()) {
    await Deno.mkdir(`${ROOT}/schema`, { recursive: true });
    await Deno.writeTextFile(`${ROOT}/${path}`, text);
    print(`${path}\n`);
  }
}
