/** The site's only script: search in the catalogue, and marking of the lines that a footnote leads to. @module */

/** JavaScript that makes no markup of texts and asks nothing of any network. */
export const SCRIPT = `
"use strict";
(() => {
  const lines = () => {
    const found = /^#L(\\d{1,9})(?:-L(\\d{1,9}))?$/.exec(location.hash);
    for (const old of document.querySelectorAll(".here")) old.classList.remove("here");
    if (!found) return;
    const first = Number(found[1]), last = Math.min(Number(found[2] || first), first + 2000);
    for (let n = first; n <= last; n += 1) {
      const line = document.getElementById("L" + n);
      if (line) line.classList.add("here");
    }
    const top = document.getElementById("L" + first);
    if (top) top.scrollIntoView({ block: "center" });
  };
  addEventListener("hashchange", lines);
  lines();

  const held = document.getElementById("remit-index");
  const field = document.getElementById("remit-search");
  const list = document.getElementById("remit-found");
  if (!held || !field || !list) return;
  const rows = JSON.parse(held.textContent);
  const plain = (text) => text.normalize("NFKC").toLowerCase();
  const texts = rows.map((row) => [plain(row.t), plain(row.w)]);
  const wordsOf = (text) =>
    plain(text).match(/[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}]|[\\p{L}\\p{N}]+/gu) || [];
  const search = () => {
    const words = wordsOf(field.value);
    list.replaceChildren();
    if (words.length === 0) return;
    const found = [];
    texts.forEach(([title, text], at) => {
      let score = 0;
      for (const word of words) {
        const inTitle = title.includes(word), inText = (" " + text).includes(" " + word) || text.includes(word);
        if (!inTitle && !inText) return;
        score += (inTitle ? 3 : 0) + (inText ? 1 : 0) + (title === word ? 5 : 0);
      }
      found.push([score, at]);
    });
    found.sort((a, b) => b[0] - a[0] || a[1] - b[1]);
    for (const [, at] of found.slice(0, 50)) {
      const row = rows[at], item = document.createElement("li"), link = document.createElement("a");
      link.setAttribute("href", row.u);
      link.textContent = row.t;
      const about = document.createElement("small");
      about.textContent = row.k + ", " + row.c + ", " + row.l + (row.x ? ": " + row.x : "");
      item.append(link, about);
      list.append(item);
    }
    if (found.length === 0) {
      const item = document.createElement("li");
      item.textContent = "Nothing here holds all of these words.";
      list.append(item);
    }
  };
  field.addEventListener("input", search);
  const asked = () => {
    // index.html#q=lease is a search to send.
    if (!location.hash.startsWith("#q=")) return;
    try { field.value = decodeURIComponent(location.hash.slice(3)); } catch { return; }
    search();
  };
  addEventListener("hashchange", asked);
  asked();
})();
`.trim();
