/** `model list`: backends, configured models, weights in the store, and the catalogue. @module */
import { EXIT } from "../../../contracts/base/mod.ts";
import { displayText } from "../../../text/mod.ts";
import { readCatalogue } from "../../../models/weights/pull/mod.ts";
import { type Command, printJson, printLines } from "../../command.ts";
import { loadConfig } from "../../../config/files.ts";
import { backendStates, configuredStates, type ModelState } from "../status.ts";
import { tableLines } from "../../terminal/table.ts";
import { bytesText, checkWeights, listWeights } from "../../../models/weights/mod.ts";
import type { Basic } from "../../powers.ts";

const safe = (text: string, max = 300): string => displayText(text, { max });

/** `model list`. */
export async function modelList(command: Command<Basic | "models">): Promise<number> {
  const { powers, places } = command;
  const config = loadConfig(powers.disk, places, { folder: powers.environment.cwd, mounts: [] });
  const [backends, configured] = await Promise.all([
    backendStates(command, config),
    configuredStates(command, config),
  ]);
  const store = listWeights(powers.disk, places).map((entry) => ({
    ...entry,
    signed: checkWeights(entry, config.modelKeys),
  }));
  const names = new Set(store.map(({ name }) => name));
  const catalogue = readCatalogue(powers.disk, powers.environment.home)
    .filter(({ name }) => !names.has(name));
  if (command.json) {
    printJson(command, { model: config.model ?? null, backends, configured, store, catalogue });
    return EXIT.success;
  }
  const { paint, outWidth } = powers.screen;
  const width = outWidth ?? 2_000;
  const mark = ({ ok }: ModelState): string => ok ? paint.green("✓") : paint.yellow("–");
  const title = (text: string): string[] => ["", paint.bold(text)];
  const states = (rows: readonly ModelState[]): string[] => {
    const columns = Math.max(0, ...rows.map(({ name }) => safe(name).length));
    const refs = Math.max(0, ...rows.map(({ ref }) => safe(ref ?? "").length));
    return rows.map((row) =>
      `${mark(row)} ${safe(row.name).padEnd(columns)}  ${safe(row.ref ?? "").padEnd(refs)}  ${
        safe(row.says, 600)
      }`.trimEnd()
    );
  };
  printLines(command, [
    paint.bold("Backends"),
    ...states(backends),
    ...title("Configured in remit.yaml"),
    ...(configured.length === 0
      ? ['  none; "remit model use NAME" chooses one']
      : states(configured.map((row) => ({
        ...row,
        name: row.name === config.model ? `${row.name} (chosen)` : row.name,
      })))),
    ...title("In the store"),
    ...(store.length === 0
      ? ['  nothing; "remit model pull NAME" gets what is listed below']
      : tableLines(
        ["NAME", "SIZE", "SIGNED", "PINNED", "LICENCE"],
        store.map((entry) => [
          entry.name,
          bytesText(entry.bytes),
          entry.signed === "none" ? "no" : entry.signed === "known" ? "yes" : entry.signed,
          `${safe(entry.pinned.by, 40)} ${entry.pinned.at.slice(0, 10)}`,
          safe(entry.licence, 80),
        ]),
        width,
      )),
    ...(catalogue.length === 0 ? [] : [
      ...title("Available to download"),
      ...tableLines(
        ["NAME", "SIZE", "DIGEST", "LICENCE", "WHY"],
        catalogue.map((entry) => [
          entry.name,
          bytesText(entry.bytes ?? entry.about),
          entry.sha256?.slice(0, 12) ?? "unpinned",
          safe(entry.licence, 40),
          safe(entry.why, 400),
        ]),
        width,
      ),
    ]),
  ]);
  return EXIT.success;
}
