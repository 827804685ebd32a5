/** Texts with what does not tell two apart left out. @module */
import { titleKey } from "./link_names.ts";

/** What is left of a title when case, punctuation and spaces do not count. */
export function bareTitle(title: string): string {
  return titleKey(title).normalize("NFKC").replaceAll(/[^\p{L}\p{N}+#]+/gu, " ").trim();
}

/** The words of a text, in lower case, one space between two. */
export function bareWords(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, " ").trim();
}
