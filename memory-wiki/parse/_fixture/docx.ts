/** Word documents for tests. @module */
import { makeZip, type ZipPart } from "./zip.ts";

const OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const SPACES =
  `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="${OFFICE}"`;

/** A relationship of the main part. */
export function relation(id: string, type: string, target: string, external = false): string {
  const mode = external ? ' TargetMode="External"' : "";
  return `<Relationship Id="${id}" Type="${OFFICE}/${type}" Target="${target}"${mode}/>`;
}

/** A run of text. */
export function run(text: string, properties = ""): string {
  return `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`;
}

/** A paragraph of runs. */
export function paragraph(runs: string, properties = ""): string {
  return `<w:p><w:pPr>${properties}</w:pPr>${runs}</w:p>`;
}

/** An item of a list. */
export function item(text: string, list: number, depth: number): string {
  const place = `<w:ilvl w:val="${depth}"/><w:numId w:val="${list}"/>`;
  return paragraph(run(text), `<w:numPr>${place}</w:numPr>`);
}

/** The whole main part around a body. */
export function mainPartOf(body: string): string {
  return `<?xml version="1.0"?><w:document ${SPACES}><w:body>${body}</w:body></w:document>`;
}

const STYLES = `<w:styles ${SPACES}>
<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/></w:style>
<w:style w:type="paragraph" w:styleId="Mine"><w:name w:val="Mine"/><w:basedOn w:val="H2"/></w:style>
<w:style w:type="paragraph" w:styleId="H2"><w:name w:val="heading 2"/><w:basedOn w:val="Mine"/></w:style>
</w:styles>`;

const NUMBERING = `<w:numbering ${SPACES}>
<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl></w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>
<w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num></w:numbering>`;

const NOTES = `<w:footnotes ${SPACES}><w:footnote w:id="0">${paragraph(run("separator"))}
</w:footnote><w:footnote w:id="2">${paragraph(run("Said so."))}</w:footnote></w:footnotes>`;

/** A document with this main part and more entries. */
export function makeDocx(
  main: Pick<ZipPart, "content" | "packed">,
  more: {
    readonly relations?: string;
    readonly styles?: string;
    readonly parts?: readonly ZipPart[];
  } = {},
): Uint8Array<ArrayBuffer> {
  const links = [
    relation("rId1", "styles", "styles.xml"),
    relation("rId2", "numbering", "numbering.xml"),
    relation("rId3", "footnotes", "footnotes.xml"),
    more.relations ?? "",
  ].join("");
  return makeZip([
    { name: "[Content_Types].xml", content: "<Types/>" },
    {
      name: "_rels/.rels",
      content: `<Relationships>${
        relation("a", "officeDocument", "word/document.xml")
      }</Relationships>`,
    },
    { name: "word/document.xml", ...main },
    {
      name: "word/_rels/document.xml.rels",
      content: `<Relationships>${links}</Relationships>`,
    },
    {
      name: "word/styles.xml",
      content: STYLES.replace("</w:styles>", `${more.styles ?? ""}</w:styles>`),
    },
    { name: "word/numbering.xml", content: NUMBERING },
    { name: "word/footnotes.xml", content: NOTES },
    ...(more.parts ?? []),
  ]);
}
