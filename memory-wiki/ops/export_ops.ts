/** The wiki as a site of static files. @module */
import * as z from "zod";
import { Label } from "../../contracts/mod.ts";
import { exportSite, reportOf } from "../export/mod.ts";
import { type Op, reading } from "./op.ts";

/** See the table in contracts/wire_wiki.ts. */
export const EXPORT_OPS: Readonly<Record<string, Op>> = {
  exportSite: reading({
    body: z.object({ clearance: Label, to: z.string().min(1).max(4_096) }).strict(),
    run: async ({ store, hands, readOnly }, { clearance, to }) => {
      let last = "";
      for (const file of exportSite(store, { clearance, now: hands.now(), record: !readOnly })) {
        hands.tell("file", { path: file.path, text: file.text });
        last = file.text;
        // Lets it out before the next one is made.
        await undefined;
      }
      const report = reportOf(last);
      if (!readOnly) {
        const text = `${report.pages} pages, ${report.sources} sources up to ${clearance} to ${to}`;
        store.log.append({ kind: "export", by: "operator", text });
      }
      return report;
    },
  }),
};
