/** What a server announces by itself: its log, and that its lists have changed. @module */
import type { Client } from "@modelcontextprotocol/client";
import type { Clock } from "./clock.ts";
import { cutText } from "./cut.ts";
import type { KernelSide } from "./kernel_side.ts";

/** What hearing takes. */
export interface AnnounceParts {
  readonly kernel: Pick<KernelSide, "log" | "changed" | "updated">;
  readonly clock: Pick<Clock, "after">;
}

/** After a change was told, those within so many milliseconds are told as one. */
const TOGETHER_MS = 100;
const LOG_UNITS = 2_000;
const LISTS = {
  tools: "notifications/tools/list_changed",
  resources: "notifications/resources/list_changed",
  prompts: "notifications/prompts/list_changed",
} as const;

/** Wires what the server announces into the SDK's client, before the handshake. The guard has counted it. */
export function hearAnnouncements(client: Client, { kernel, clock }: AnnounceParts): void {
  for (const what of ["tools", "resources", "prompts"] as const) {
    // The first is told at once: what changed is not called once more. Those that follow it are told together.
    let quiet = false, more = false;
    const tell = (): void => {
      kernel.changed(what);
      [quiet, more] = [true, false];
      clock.after(TOGETHER_MS, () => {
        quiet = false;
        if (more) tell();
      });
    };
    client.setNotificationHandler(LISTS[what], () => {
      if (quiet) more = true;
      else tell();
    });
  }
  client.setNotificationHandler("notifications/message", ({ params: { level, logger, data } }) => {
    const text = typeof data === "string" ? data : JSON.stringify(data) ?? "";
    const from = logger === undefined ? "" : `${cutText(logger, 64)}: `;
    kernel.log(level, cutText(`${from}${text}`, LOG_UNITS));
  });
  client.setNotificationHandler("notifications/resources/updated", ({ params: { uri } }) => {
    if (uri.length <= 4_096) kernel.updated(uri);
  });
  // Nothing follows from these: a person's visit is over, a task of ours went on.
  client.setNotificationHandler("notifications/elicitation/complete", () => {});
}
