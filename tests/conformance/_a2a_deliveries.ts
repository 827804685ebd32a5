/** Deliveries of an exchange's changes for the kit, one try each: the product's own are made by `remit serve`. */
import { renderPush } from "../../bridges/a2a/serve/mod.ts";
import type { Exchange } from "../../contracts/exchange/exchange.ts";

/** Tells all who asked. */
export async function deliver(exchange: Exchange): Promise<void> {
  for (const { url, authentication } of exchange.pushes) {
    const { scheme = "", credentials = "" } = authentication ?? {};
    await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(scheme === "" ? {} : { authorization: `${scheme} ${credentials}` }),
      },
      body: renderPush(exchange, null),
    }).then((response) => response.body?.cancel(), () => undefined);
  }
}
