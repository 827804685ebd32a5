/** Books for tests. @module */
import { makeZip, type ZipPart } from "./zip.ts";

/** A book with these chapters, `cN.xhtml` in OEBPS, and more entries. */
export function makeEpub(
  chapters: readonly (string | Pick<ZipPart, "content" | "packed">)[],
  more: readonly ZipPart[] = [],
): Uint8Array<ArrayBuffer> {
  const items = chapters.map((_, at) =>
    `<item id="i${at}" href="c${at}.xhtml" media-type="application/xhtml+xml"/>`
  );
  const spine = chapters.map((_, at) => `<itemref idref="i${at}"/>`);
  return makeZip([
    { name: "mimetype", content: "application/epub+zip", stored: true },
    {
      name: "META-INF/container.xml",
      content: '<container><rootfiles><rootfile full-path="OEBPS/b.opf"/></rootfiles></container>',
    },
    {
      name: "OEBPS/b.opf",
      content: `<package><metadata><dc:title>A Book</dc:title><dc:creator>Alice</dc:creator>
        </metadata><manifest>${items.join("")}</manifest><spine>${
        spine.join("")
      }</spine></package>`,
    },
    ...chapters.map((chapter, at): ZipPart => ({
      name: `OEBPS/c${at}.xhtml`,
      ...(typeof chapter === "string" ? { content: chapter } : chapter),
    })),
    ...more,
  ]);
}
