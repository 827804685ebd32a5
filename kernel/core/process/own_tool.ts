/** Descriptors of Remit's own tools. @module */
import { ToolName } from "../../../contracts/authority/ids.ts";
import type { JsonObject } from "../../../contracts/base/json.ts";
import { ToolDescriptor } from "../../../contracts/tool/tool.ts";

/** The words of an own tool. */
export interface OwnTool
  extends Pick<ToolDescriptor, "description" | "interfaceId" | "methodName"> {
  readonly name: string;
  readonly properties: JsonObject;
  readonly required: readonly string[];
  readonly permission?: ToolDescriptor["permission"];
  readonly category?: ToolDescriptor["category"];
}

/** A descriptor with an object of `properties` as arguments. By default the tool reads and needs no consent. Frozen. */
export function ownTool({ name, properties, required, ...words }: OwnTool): ToolDescriptor {
  return Object.freeze(ToolDescriptor.parse({
    ...{ permission: "auto", category: "read", ...words, name: ToolName.parse(name) },
    paramSchema: JSON.stringify({
      ...{ type: "object", properties, required, additionalProperties: false },
    }),
  }));
}
