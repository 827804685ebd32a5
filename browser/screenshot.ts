/** A picture of what of the page is in the window. @module */
import { Fault } from "../contracts/fault.ts";
import type { Json } from "../contracts/json.ts";
import type { Cdp } from "./cdp.ts";

/** Most characters of a picture in base64. */
const CHARACTERS = 1_000_000;
const WIDTH = 1_280;
const HEIGHT = 900;

/** Takes it: `{png, width, height}`, PNG in base64. @throws Fault `tooLarge` */
export async function takeScreenshot(cdp: Cdp): Promise<Json> {
  for (const scale of [1, 0.5, 0.25]) {
    const { data } = await cdp.send("Page.captureScreenshot", {
      format: "png",
      clip: { x: 0, y: 0, width: WIDTH, height: HEIGHT, scale },
    });
    if (data.length <= CHARACTERS) {
      return { png: data, width: WIDTH * scale, height: HEIGHT * scale };
    }
  }
  throw new Fault(
    "tooLarge",
    "Cannot take a picture: it is too large even when it is made smaller",
  );
}
