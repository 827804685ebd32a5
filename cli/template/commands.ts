/** `remit templates`: shows the typed forms that a model fills in at fixed steps. @module */
import { EXIT } from "../../contracts/base/mod.ts";
import {
  type Template,
  templateOf,
  TEMPLATES,
  titleOf,
} from "../../contracts/task/templates/templates.ts";
import { type Command, printJson, printLines } from "../command.ts";
import { tableLines } from "../terminal/table.ts";

/** `templates list`. */
export function templatesList(command: Command): Promise<number> {
  const all = [...TEMPLATES.values()];
  if (command.json) {
    printJson(command, all.map(({ name, version, about }) => ({ name, version, about })));
  } else {
    const rows = all.map((each) => [titleOf(each), each.about]);
    printLines(command, tableLines(["TEMPLATE", "WHAT"], rows, command.powers.screen.width));
  }
  return Promise.resolve(EXIT.success);
}

/** `templates show NAME`: the instructions to the model, the schema, and an example. */
export function templatesShow(command: Command): Promise<number> {
  const found = templateOf(command.parsed.args[0] ?? "");
  if (command.json) printJson(command, documentOf(found));
  else {
    const pretty = (text: unknown): string[] => JSON.stringify(text, null, 2).split("\n");
    printLines(command, [
      `${titleOf(found)}: ${found.about}`,
      "",
      "A model is told:",
      `  ${found.ask}`,
      "",
      "Its answer fits this JSON Schema:",
      ...pretty(JSON.parse(found.schema)).map((line) => `  ${line}`),
      "",
      "For example:",
      ...pretty(found.example).map((line) => `  ${line}`),
    ]);
  }
  return Promise.resolve(EXIT.success);
}

function documentOf(template: Template): Record<string, unknown> {
  const { name, version, about, ask, example } = template;
  return { name, version, about, ask, schema: JSON.parse(template.schema), example };
}
