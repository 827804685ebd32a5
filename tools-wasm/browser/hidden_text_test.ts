import { equal, match, ok } from "node:assert/strict";
import { linesOf, makeBrowser } from "./_fixture/browser.ts";

const WORD = "INJECTED";

Deno.test("mallory's text that people cannot see does not reach the model", async () => {
  const styles = [
    "display:none",
    "DISPLAY : NONE !important",
    "display:/**/none",
    "display:n\\6fne",
    "visibility:hidden",
    "visibility:collapse",
    "opacity:0",
    "opacity:.01",
    "font-size:0",
    "font-size:1px",
    "font:0/0 a",
    "font-size:1%",
    "color:white",
    "color:#fff;background:#fff",
    "color:#fefefe",
    "color:rgb(255, 255, 255)",
    "color:rgba(0,0,0,0)",
    "color:transparent",
    "background:black;color:#000",
    "position:absolute;left:-9999px",
    "position:fixed;top:-100em",
    "text-indent:-9999px",
    "margin-left:-5000px",
    "width:0;overflow:hidden",
    "width:1px;height:1px;overflow:hidden",
    "max-height:0;overflow:hidden",
    "clip:rect(0,0,0,0);position:absolute",
    "clip:rect(1px 1px 1px 1px);position:absolute",
    "clip-path:inset(50%)",
    "clip-path:circle(0)",
    "transform:scale(0)",
    "transform:translateX(-9999px)",
    "content-visibility:hidden",
    "filter:opacity(0)",
  ];
  const shapes = [
    ...styles.map((style) => `<p style="${style}">${WORD}</p>`),
    ...styles.map((style) => `<style>.x{${style}}</style><div class="a x"><b>${WORD}</b></div>`),
    `<p hidden>${WORD}</p>`,
    `<p aria-hidden=true>${WORD}</p>`,
    `<!-- ${WORD} --><!${WORD}><?${WORD}?>`,
    `<script>${WORD}</script><style>${WORD}</style><noscript>${WORD}</noscript><template>${WORD}</template>`,
    `<svg><text>${WORD}</text></svg><dialog>${WORD}</dialog><datalist><option>${WORD}</datalist>`,
    `<font color=white>${WORD}</font>`,
    `<table bgcolor=black><tr><td><font color=black>${WORD}</font><td>x</table>`,
    `<div style="color:white"><p><b>${WORD}</b></p></div>`,
    `<body text=white><p>${WORD}</p>`,
    `<style>body{visibility:hidden} main{visibility:visible}</style><body><p>${WORD}</p></body>`,
    `<div style="visibility:hidden"><p>${WORD}</p></div>`,
    `<h1><span style="display:none">${WORD}</span></h1>`,
    `<a href=/x>x<span style="display:none">${WORD}</span></a>`,
    `<pre>x<span style="color:white">${WORD}</span></pre>`,
    `<table><tr><td>a<td style="display:none">${WORD}<tr hidden><td>${WORD}<td>b</table>`,
    `<h1><span hidden><a href=/x>${WORD}</a></span></h1>`,
    `<label hidden>${WORD}<input></label>`,
    `<div style="display:none"><form action=/${WORD}><input name=${WORD}></form></div>`,
    `<style>@media screen{p{display:none}}</style><p>${WORD}</p>`,
    `<style>#a > p.b, nothing{display:none}</style><div id=a><p class=b>${WORD}</div>`,
    `<style>p{display:block} p.b{display:none} p{color:red}</style><p class=b>${WORD}`,
    `<style>[data-x="1"]{display:none}</style><p data-x=1>${WORD}`,
  ];
  for (const shape of shapes) {
    const lines = await linesOf(`<main>before</main>${shape}`);
    ok(!lines.includes(WORD), `${shape}\n${lines}`);
    ok(lines.startsWith("main\n  text: before"), `${shape}\n${lines}`);
  }
});

Deno.test("what people can see stays", async () => {
  const shapes = [
    `<p style="color:white;background:black">${WORD}</p>`,
    `<div style="background:#222"><p style="color:#fff">${WORD}</p></div>`,
    `<div style="background:url(x.png)"><p style="color:#fff">${WORD}</p></div>`,
    `<div style="visibility:hidden"><p style="visibility:visible">${WORD}</p></div>`,
    `<div style="font-size:0"><p style="font-size:16px">${WORD}</p></div>`,
    `<div style="color:white"><p style="color:black">${WORD}</p></div>`,
    `<p style="position:relative;left:-10px;opacity:.9;height:0;text-indent:1em">${WORD}</p>`,
    `<p style="overflow:hidden;max-height:300px;color:var(--x)">${WORD}</p>`,
    `<style>@media print{p{display:none}} p:hover{display:none} .x p{display:none}</style><p>${WORD}`,
    `<style>p{display:none} p.b{display:block}</style><p class=b>${WORD}`,
    `<style>p{display:none !important} </style><div>${WORD}</div>`,
    `<style>html{display:none} body{opacity:0}</style><html><body><p>${WORD}`,
    `<p aria-hidden=false>${WORD}</p><dialog open>x</dialog>`,
  ];
  for (const shape of shapes) ok((await linesOf(shape)).includes(WORD), shape);
});

Deno.test("what was left out is counted", async () => {
  const tags = String.fromCodePoint(0xe0049, 0xe0047);
  const html =
    `<p hidden>a</p><p style="color:white">b</p><!--c--><link rel=stylesheet href=x><script>d</script>e${tags}\u200b\u202e`;
  const { call } = makeBrowser({ "https://a.example/": html });
  const shown = await call("browser_open", { url: "https://a.example/" });
  match(
    shown,
    /\nnote: 1 style sheets were not loaded: what they hide may be shown\nnote: left out: 2 hidden pieces that people would not see, 4 characters that cannot be seen, 1 comments, 1 scripts\n/,
  );
  equal(shown.split("\n").at(-1), "text: e");
});

Deno.test("joiners that scripts need stay, and runs of them that carry a message do not", async () => {
  equal(await linesOf("می\u200cخواهم 👩\u200d👧"), "text: می\u200cخواهم 👩\u200d👧");
  equal(await linesOf("a\u200c\u200d\u200d\u200cb"), "text: a\u200cb");
});
