/** `remit wiki ingest` and `remit wiki query` as whole processes over 2,572 files, against bare FTS5 on disk. @module */
import { median } from "./quantile.ts";
import { atMost, type Row } from "./row.ts";
import { makeQuestions, makeText } from "./wiki/texts.ts";

const REMIT = new URL("../bin/remit", import.meta.url).pathname;
const FILES = 2_572;
const SECTIONS = 12;
const ROUNDS = 5;

/** Makes the table of `folder`'s files, or asks it. Both are what a program of a few lines costs. */
const BARE = `
import { DatabaseSync } from "node:sqlite";
const [file, folder, question] = Deno.args;
const db = new DatabaseSync(file);
if (question === undefined) {
  db.exec("CREATE VIRTUAL TABLE t USING fts5(name, body)");
  const put = db.prepare("INSERT INTO t(name, body) VALUES (?, ?)");
  db.exec("BEGIN");
  for (const { name } of Deno.readDirSync(folder)) {
    put.run(name, Deno.readTextFileSync(folder + "/" + name));
  }
  db.exec("COMMIT");
} else {
  const ask = "SELECT name FROM t WHERE t MATCH ? ORDER BY rank LIMIT 5";
  console.log(db.prepare(ask).all(question.split(" ").join(" OR ")));
}
`;

/** Milliseconds from a program's start to its end. */
async function wallTime(
  argv: readonly [string, ...string[]],
  env: Record<string, string>,
): Promise<number> {
  const [program, ...args] = argv;
  const from = performance.now();
  const { success, stderr } = await new Deno.Command(program, {
    ...{ args, env, stdin: "null", stdout: "null" },
  }).output();
  const took = performance.now() - from;
  if (success) return took;
  throw new Error(`Cannot time ${args.join(" ")}: ${new TextDecoder().decode(stderr).slice(-500)}`);
}

/** Gives how long one ingest and one question take, each as a process of its own. */
export async function wikiCommandBench(): Promise<Row[]> {
  const home = await Deno.makeTempDir({ prefix: "remit-bench-" });
  try {
    const [docs, bare, table] = [`${home}/docs`, `${home}/bare.ts`, `${home}/bare.db`];
    await Deno.mkdir(docs);
    for (let n = 0; n < FILES; n++) {
      await Deno.writeTextFile(`${docs}/p${n}.md`, makeText(n, SECTIONS).text);
    }
    await Deno.writeTextFile(bare, BARE);
    const env = { XDG_STATE_HOME: `${home}/state` };
    const remit = (...args: string[]): Promise<number> => wallTime([REMIT, "wiki", ...args], env);
    const fts = (...args: string[]): Promise<number> =>
      wallTime([Deno.execPath(), "run", "-A", "--quiet", bare, table, docs, ...args], env);
    await remit("init", `${home}/memory`);
    const [theirs, ours] = [await fts(), await remit("ingest", docs)];
    const asked: number[] = [], bareAsked: number[] = [];
    // In turns, so that a busy machine is as busy for both. The first round writes what is kept for the next.
    for (const [round, question] of makeQuestions(ROUNDS + 1).entries()) {
      const took = [await remit("query", question), await fts(question)] as const;
      if (round === 0) continue;
      asked.push(took[0]);
      bareAsked.push(took[1]);
    }
    return [
      atMost(
        {
          name: `remit wiki ingest of ${FILES} files, start to end`,
          ...{ value: ours, unit: "ms", baseline: theirs },
        },
        ...[21, "bare FTS5"] as const,
      ),
      atMost(
        {
          name: `remit wiki query over ${FILES} files, start to end`,
          ...{ value: median(asked), unit: "ms", baseline: median(bareAsked) },
        },
        ...[15, "bare FTS5"] as const,
      ),
    ];
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}
