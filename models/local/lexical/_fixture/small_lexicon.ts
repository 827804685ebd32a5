/** A lexicon of a few words in as many directions as it has subjects, for tests. @module */
import { writeLexicon } from "../lexicon_file.ts";

const DIMENSIONS = 16;
/** Each subject is a direction; its words lie close to it. */
const SUBJECTS = [
  "leak faucet tap drip plumber",
  "dividend share profit stock",
  "spring summer season",
  "kitchen sink pot cook",
  "dog puppy hound",
];

/** Its bytes. */
export function smallLexicon(): Uint8Array {
  const subjects = new Map(
    SUBJECTS.flatMap((line, subject) => line.split(" ").map((word) => [word, subject] as const)),
  );
  const words = [...subjects.keys()].sort();
  const vectors = new Int8Array(words.length * DIMENSIONS);
  words.forEach((word, n) => {
    vectors[n * DIMENSIONS + (subjects.get(word) ?? 0)] = 120;
    // What sets it apart from the others of its subject.
    vectors[n * DIMENSIONS + SUBJECTS.length + n % (DIMENSIONS - SUBJECTS.length)] = 40;
  });
  const steps = new Float32Array(words.length).fill(1 / 127);
  return writeLexicon({ words, dimensions: DIMENSIONS, steps, vectors, notice: "Free for all.\n" });
}
