/**
 * `deno task picture`: plays the demo in a tmux window, answers its question, and writes the screen
 * to docs/demo.svg.
 *
 * @module
 */
import { join } from "node:path";
import { openTmux } from "../../tests/fake/tmux.ts";
import { ROOT } from "../process.ts";

const COLUMNS = 100;
const ROWS = 46;
const [LINE, CHARACTER, SIZE, MARGIN] = [17, 8.4, 14, 16];
const PAPER = "#16181d";
const INK = "#d5d8de";
/** SGR foreground colours from 30. */
const COLOURS = [
  "#444",
  "#f0716c",
  "#7fc97f",
  "#e5c07b",
  "#6fa8dc",
  "#c792ea",
  "#67c6c6",
  "#d5d8de",
];

/** A run of text with one style. */
interface Span {
  readonly text: string;
  readonly column: number;
  readonly style: string;
}

/** Splits a line with SGR sequences into spans. */
function spansOf(line: string): readonly Span[] {
  const spans: Span[] = [];
  let [column, fill, bold, dim] = [0, INK, false, false];
  // deno-lint-ignore no-control-regex -- what a terminal draws with
  for (const [, codes, text = ""] of line.matchAll(/(?:\x1b\[([\d;]*)m)|([^\x1b]+)/g)) {
    for (const code of codes === undefined ? [] : codes.split(";").map(Number)) {
      if (code === 0) [fill, bold, dim] = [INK, false, false];
      else if (code === 1) bold = true;
      else if (code === 2) dim = true;
      else if (code === 22) [bold, dim] = [false, false];
      else if (code === 39) fill = INK;
      else if (code >= 30 && code <= 37) fill = COLOURS[code - 30] ?? INK;
      else if (code >= 90 && code <= 97) fill = COLOURS[code - 90] ?? INK;
    }
    if (text === "") continue;
    const style = `fill="${fill}"${bold ? ' font-weight="bold"' : ""}${
      dim ? ' opacity="0.6"' : ""
    }`;
    spans.push({ text, column, style });
    column += [...text].length;
  }
  return spans;
}

const escaped = (text: string): string =>
  // No-break spaces: XML would collapse plain ones.
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll(
    " ",
    "\u00a0",
  );

/** Draws a screen as SVG. */
function pictureOf(lines: readonly string[]): string {
  const width = Math.ceil(COLUMNS * CHARACTER + 2 * MARGIN);
  const height = lines.length * LINE + 2 * MARGIN;
  const texts = lines.flatMap((line, row) =>
    spansOf(line).filter(({ text }) => text.trim() !== "").map(({ text, column, style }) => {
      const [x, y] = [MARGIN + column * CHARACTER, MARGIN + row * LINE + SIZE];
      const length = [...text].length * CHARACTER;
      return `<text x="${x.toFixed(1)}" y="${y}" textLength="${length.toFixed(1)}" ${style}>${
        escaped(text)
      }</text>`;
    })
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="${SIZE}" xml:space="preserve">`,
    `<rect width="${width}" height="${height}" rx="8" fill="${PAPER}"/>`,
    ...texts,
    "</svg>",
    "",
  ].join("\n");
}

if (import.meta.main) {
  const home = await Deno.makeTempDir({ prefix: "remit-picture-" });
  const path = `${Deno.execPath().replace(/\/[^/]+$/, "")}:${Deno.env.get("PATH")}`;
  const env = { PATH: path, HOME: home, USER: "alice" };
  // A first run builds what is built once per version, so that the picture does not show it.
  await new Deno.Command(join(ROOT, "bin/remit"), {
    ...{ args: ["run", "--json"], clearEnv: true, env, cwd: home },
    ...{ stdin: "null", stdout: "null", stderr: "null" },
  }).output();
  const screen = await openTmux([join(ROOT, "bin/remit"), "run"], {
    ...{ env, cwd: home, columns: COLUMNS, rows: ROWS },
  });
  try {
    await screen.shows("your answer");
    await screen.type("y");
    await screen.press("Enter");
    await screen.shows("ENDED 0");
    const lines = (await screen.painted()).replaceAll(home, "~").replaceAll(ROOT, "").replaceAll(
      /\/tmp\/remit-demo-[0-9a-f]+/g,
      (path) => "/tmp/remit-demo".padEnd(path.length),
    ).split("\n");
    const from = lines.findIndex((line) => line.includes("The Remit demo"));
    const to = lines.findIndex((line) => line.includes("ENDED"));
    await Deno.writeTextFile(
      join(ROOT, "docs/demo.svg"),
      pictureOf(
        lines.slice(Math.max(0, from), to).filter((line) =>
          !/Remit runs as root|an account of its own/.test(line)
        ),
      ),
    );
  } finally {
    await screen.close();
    await Deno.remove(home, { recursive: true });
  }
}
