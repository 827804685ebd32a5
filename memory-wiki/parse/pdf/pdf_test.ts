import assert from "node:assert/strict";
import { deflateSync } from "node:zlib";
import { documentOf, parts } from "../_fixture/parts.ts";
import { makePdf, pdfOf, shown } from "../_fixture/pdf.ts";
import { readPdf } from "./read_pdf.ts";

const read = async (bytes: Uint8Array) => await readPdf(documentOf(bytes), parts);

Deno.test("alice's pages are lines under the page's number, paragraphs apart, broken words whole", async () => {
  const { text, title, notes } = await read(pdfOf([
    shown(["Leases"], 20) +
    shown(["A lease has one owner and an exam-", "ple of it ends."], 11, 50, 720) +
    shown(["Another paragraph."], 11, 50, 600),
    shown(["Second page."]),
  ], { trailer: "/Info<</Title(On leases)>>" }));
  assert.equal(
    text,
    `## Page 1

### Leases

A lease has one owner and an example
of it ends.

Another paragraph.

## Page 2

Second page.`,
  );
  assert.equal(title, "On leases");
  assert.deepEqual(notes, []);
});

Deno.test("two columns are read one behind the other, and pieces that lie about by their place", async () => {
  const columns = await read(pdfOf([
    shown(["left one", "left two"]) + shown(["right one", "right two"], 11, 320),
  ]));
  assert.match(columns.text, /left one\nleft two\n\nright one\nright two/);
  const order = [5, 1, 7, 3, 0, 6, 2, 8, 4, 9];
  const scattered = await read(pdfOf([
    order.map((at) => shown([`row ${at}`], 11, 50, 780 - at * 14)).join(""),
  ]));
  assert.match(
    scattered.text,
    /row 0\nrow 1\nrow 2\nrow 3\nrow 4\nrow 5\nrow 6\nrow 7\nrow 8\nrow 9/,
  );
});

Deno.test("scripts, launches, forms and embedded files of mallory's are neither run nor read", async () => {
  const bytes = pdfOf([shown(["plain words"])], {
    catalog: "/OpenAction 6 0 R/AA<</WC 6 0 R>>/Names<</JavaScript<</Names[(a) 6 0 R]>>" +
      "/EmbeddedFiles<</Names[(evil.exe) 8 0 R]>>>>/AcroForm<</XFA 9 0 R/Fields[]>>",
    page: "/AA<</O 7 0 R>>/Annots[<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/A 7 0 R>>]",
    objects: [
      "<</S/JavaScript/JS(globalThis.pwned = 1; app.launchURL\\('https://evil.example'\\))>>",
      "<</S/Launch/F(/bin/sh)/Next<</S/URI/URI(https://evil.example)>>>>",
      "<</Type/Filespec/F(evil.exe)/EF<</F 9 0 R>>>>",
      { dictionary: "/Type/EmbeddedFile", stream: new TextEncoder().encode("embedded words") },
    ],
  });
  const { text } = await read(bytes);
  assert.equal(text, "## Page 1\n\nplain words");
  assert.ok(!("pwned" in globalThis));
});

const at = (text: string, y: number, before = "", size = 11): string =>
  `q ${before} ${shown([text], size, 50, y)} Q\n`;
const DARK = "0 0 0.1 rg 40 395 400 20 re f";

/** Drawings of a word, and whether a person sees it. */
const DRAWINGS: readonly (readonly [what: string, drawing: string, seen: boolean])[] = [
  ["in black", at("word", 400), true],
  ["in render mode 3", at("word", 400, "3 Tr"), false],
  ["white on white", at("word", 400, "1 1 1 rg"), false],
  ["nearly white on white", at("word", 400, "0.97 g"), false],
  ["white on dark", DARK + at("word", 400, "1 g"), true],
  ["dark on dark", DARK + at("word", 400, "0 0 0.1 rg"), false],
  ["of half a point", at("word", 400, "", 0.5), false],
  ["made small by its matrix", at("word", 400, "0.05 0 0 0.05 0 0 cm"), false],
  ["outside of the page", at("word", 2_000), false],
  ["outside of a clip", at("word", 400, "0 0 20 20 re W n"), false],
  ["within a clip", at("word", 400, "0 380 500 40 re W n"), true],
  ["without opacity", at("word", 400, "/G1 gs"), false],
  ["on a layer that is off", at("word", 400, "/OC /L1 BDC") + "EMC\n", false],
  ["on a layer that is on", at("word", 400, "/OC /L2 BDC") + "EMC\n", true],
  ["under a white area", `${at("word", 400)} 1 g 0 390 600 30 re f`, false],
  ["under a picture", `${at("word", 400)} q 600 0 0 60 0 390 cm /I1 Do Q`, false],
  ["over a picture", `q 600 0 0 60 0 390 cm /I1 Do Q ${at("word", 400)}`, true],
  ["marked with a colour that mixes", `${at("word", 400)} /G2 gs 1 1 0 rg 0 390 600 30 re f`, true],
  ["as a clip that nothing is painted through", at("word", 400, "7 Tr"), false],
  [
    "as a clip that is painted through",
    `q 7 Tr ${shown(["word"], 11, 50, 400)} 0 390 600 30 re f Q`,
    true,
  ],
  ["in outline", at("word", 400, "1 Tr 1 g"), true],
];
for (const [what, drawing, seen] of DRAWINGS) {
  Deno.test(`a word ${what} is ${seen ? "kept" : "left out, and said"}`, async () => {
    const { text, notes } = await read(pdfOf([shown(["before"], 11, 50, 700) + drawing], {
      catalog: "/OCProperties<</OCGs[6 0 R 7 0 R]/D<</OFF[6 0 R]>>>>",
      page: "/Resources<</Font<</F1 3 0 R>>/Properties<</L1 6 0 R/L2 7 0 R>>" +
        "/ExtGState<</G1<</ca 0>>/G2<</BM/Multiply>>>>/XObject<</I1 8 0 R>>>>",
      objects: [
        ...["<</Type/OCG/Name(off)>>", "<</Type/OCG/Name(on)>>"],
        {
          dictionary:
            "/Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray",
          stream: Uint8Array.of(200),
        },
      ],
    }));
    assert.equal(text, `## Page 1\n\nbefore${seen ? "\n\nword" : ""}`);
    assert.deepEqual(
      notes.map((note) => note.replace(/ \(.*/, "")),
      seen ? [] : ["4 characters of text that nobody sees were left out"],
    );
  });
}

Deno.test("letters that only /ToUnicode names are read, and comments on a page are counted", async () => {
  const table = `1 beginbfchar <01> <FB01> <02> <00660066> endbfchar`;
  const { text, notes } = await read(
    pdfOf(["BT /F2 11 Tf 50 700 Td (a \u0001le of sta\u0002) Tj ET"], {
      page: "/Resources<</Font<</F2 6 0 R>>>>" +
        "/Annots[<</Type/Annot/Subtype/Text/Rect[0 0 9 9]/Contents(obey)>>]",
      objects: [
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 7 0 R>>",
        {
          dictionary: "",
          stream: new TextEncoder().encode(
            `begincmap 1 begincodespacerange <00> <FF> endcodespacerange ${table} ` +
              "1 beginbfrange <20> <7E> <0020> endbfrange endcmap",
          ),
        },
      ],
    }),
  );
  assert.equal(text, "## Page 1\n\na file of staff");
  assert.deepEqual(notes, ["1 comments and filled-in fields on its pages were not read."]);
});

Deno.test("a million pages that are not there are not looked for one by one", async () => {
  const { text } = await read(pdfOf([shown(["only one"])], { count: 1_000_000 }));
  assert.equal(text, "## Page 1\n\nonly one");
});

Deno.test("pages without text are counted, and those between them read", async () => {
  const broken = { dictionary: "/Filter/NoSuchFilter", stream: new Uint8Array(9) };
  const { text, notes } = await read(pdfOf([shown(["one"]), broken, shown(["three"])]));
  assert.match(text, /## Page 1\n\none\n\n## Page 2\n\n## Page 3\n\nthree$/);
  assert.deepEqual(notes, ["1 of its pages hold no text: pictures are not read."]);
});

Deno.test("references in circles end: pages, cross references, object streams, forms", async () => {
  const encoder = new TextEncoder();
  const circles: readonly (readonly [string, Uint8Array])[] = [
    [
      "pages that are their own children",
      makePdf(["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 9/Kids[2 0 R 2 0 R]>>"]),
    ],
    ["a table that is before itself", pdfOf([shown(["x"])], { trailer: "/Prev 9" })],
    [
      "an object stream in itself",
      pdfOf([shown(["x"])], {
        objects: [{
          dictionary: "/Type/ObjStm/N 1/First 4/Extends 6 0 R",
          stream: encoder.encode("6 0 <<>>"),
        }],
      }),
    ],
    [
      "a form that draws itself",
      pdfOf([`${shown(["x"])}/X Do`], {
        page: "/Resources<</Font<</F1 3 0 R>>/XObject<</X 6 0 R>>>>",
        objects: [{
          dictionary: "/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 6 0 R>>>>",
          stream: encoder.encode("/X Do /X Do"),
        }],
      }),
    ],
  ];
  for (const [name, bytes] of circles) {
    const said = await read(bytes).then(({ text }) => text, (error: Error) => error.message);
    assert.ok(said.length < 1_000, name);
  }
});

Deno.test("arrays in arrays a hundred thousand deep end in a page, a note or a fault", async () => {
  for (const deep of ["[".repeat(100_000), "<<".repeat(100_000), `[${"<</A[".repeat(50_000)}`]) {
    const said = await read(pdfOf([`${deep} ${shown(["words"])}`]))
      .then(({ text, notes }) => text + notes.join(), (error: Error) => error.message);
    assert.ok(said.length < 1_000);
    const inObject = await read(pdfOf([shown(["words"])], { objects: [deep], page: "/Q 6 0 R" }))
      .then(({ text }) => text, (error: Error) => error.message);
    assert.ok(inObject.length < 1_000);
  }
});

Deno.test("a page of a million pieces of text is read in part", async () => {
  const pieces = Array.from(
    { length: 400_000 },
    (_, at) => `1 0 0 1 ${(at * 37) % 600} ${(at * 53) % 780} Tm (a) Tj`,
  );
  const many = `BT /F1 9 Tf ${pieces.join("\n")} ET`;
  const stream = deflateSync(new TextEncoder().encode(many));
  const { text } = await read(pdfOf([{ dictionary: "/Filter/FlateDecode", stream }]));
  assert.ok(text.length > 1_000 && text.length < 2_000_000, `${text.length} characters`);
});

Deno.test("what is no PDF is none, whatever is behind its first bytes", async () => {
  for (const bytes of ["", "%PDF-1.7", "%PDF-1.7\n1 0 obj\n<<", "<html>"]) {
    await assert.rejects(async () => await readPdf(documentOf(bytes), parts), Error, bytes);
  }
});
