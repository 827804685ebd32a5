/** The tools of this repository, as models see them. @module */
import { httpFetchBinding } from "../../../net/http_fetch.ts";
import { descriptorOf } from "../../../tools-wasm/binding/mod.ts";
import { parseToolYaml } from "../../../tools-wasm/build/mod.ts";
import { WORKSPACE_TOOLS } from "../../../workspace/descriptors.ts";
import { Digest } from "../../../contracts/authority/ids.ts";
import type { ToolDescriptor } from "../../../contracts/tool/tool.ts";

const HOME = new URL("../../../", import.meta.url).pathname;

/** Reads every manifest. */
export function ownTools(): readonly ToolDescriptor[] {
  const plugins = [...Deno.readDirSync(`${HOME}tools-wasm`)].flatMap(({ name }) => {
    const file = `${HOME}tools-wasm/${name}/tool.yaml`;
    let text: string;
    try {
      text = Deno.readTextFileSync(file);
    } catch (error) {
      // A folder that is no plugin.
      if (error instanceof Deno.errors.NotFound) return [];
      throw error;
    }
    const manifest = { ...parseToolYaml(text, name), sha256: Digest.parse("0".repeat(64)) };
    return manifest.tools.map((tool) => descriptorOf(manifest, tool));
  });
  const fetching = httpFetchBinding();
  return [...WORKSPACE_TOOLS.map(({ descriptor }) => descriptor), fetching.descriptor, ...plugins];
}
