/** An archive's XML part as events, without ever being whole in memory. @module */
import { makeXmlReader, type XmlHandler } from "../xml.ts";
import type { Archive } from "./archive.ts";

/** How much of a part was read. `missing`: it is not there, encrypted or damaged. */
export type XmlRead = "whole" | "cut" | "missing";

/** Reads a part until `full` says that it is enough. */
export async function readXmlPart(
  archive: Archive,
  name: string,
  handler: XmlHandler,
  full: () => boolean = () => false,
): Promise<XmlRead> {
  const reader = makeXmlReader(handler);
  let given = false;
  const whole = await archive.read(name, (part) => {
    given = true;
    return reader.write(part) && !full();
  });
  const { tooDeep } = reader.end();
  if (whole === undefined) return given ? "cut" : "missing";
  return whole && !tooDeep ? "whole" : "cut";
}
