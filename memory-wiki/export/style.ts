/** How the site looks: one style for every page, light and dark, printed within each. @module */

/** CSS, without anything that loads. */
export const STYLE = `
:root{color-scheme:light dark;--back:#fbfaf7;--text:#1d1f21;--soft:#5b6166;--line:#dcd8cf;--link:#0b57a4;--mark:#fff1b8;
--card:#fff;--blue:#1f5fbf;--yellow:#8a6100;--red:#b3261e}
@media (prefers-color-scheme:dark){:root{--back:#16181a;--text:#e6e4df;--soft:#a2a8ad;--line:#34383c;--link:#8ab8ff;
--mark:#4a4016;--card:#1e2124;--blue:#8ab8ff;--yellow:#e3b341;--red:#ff8a80}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:62rem;padding:0 1.25rem 4rem;background:var(--back);color:var(--text);
font:1.05rem/1.6 Charter,Georgia,"Noto Serif",serif;overflow-wrap:anywhere}
nav,footer,.meta,.chip,aside,input,label{font-family:system-ui,"Segoe UI",Roboto,sans-serif;font-size:.9rem}
nav{display:flex;gap:1.25rem;padding:.9rem 0;border-bottom:1px solid var(--line);margin-bottom:1.5rem;flex-wrap:wrap}
nav b{margin-right:auto}
a{color:var(--link);text-decoration-thickness:.06em;text-underline-offset:.15em}
a.out::after{content:" \\2197";font-size:.8em}
h1,h2,h3,h4{line-height:1.25;margin:1.6em 0 .5em}h1{margin-top:.3em;font-size:2rem}
.meta{color:var(--soft);margin:0 0 1.5rem}
.chip{display:inline-block;padding:0 .55em;border:1px solid currentColor;border-radius:1em;font-size:.78rem;
line-height:1.55;margin-right:.35em;white-space:nowrap}
.chip.BLUE{color:var(--blue)}.chip.YELLOW{color:var(--yellow)}.chip.RED{color:var(--red)}
.warn{border-left:.3rem solid var(--red);padding:.4rem .9rem;background:var(--card)}
pre,code{font-family:ui-monospace,"Cascadia Mono",Menlo,Consolas,monospace;font-size:.88em}
pre{padding:.8rem 1rem;background:var(--card);border:1px solid var(--line);border-radius:.4rem;overflow-x:auto}
.raw{opacity:.65}
blockquote{margin:1em 0;padding-left:1rem;border-left:.25rem solid var(--line);color:var(--soft)}
.wide{overflow-x:auto}table{border-collapse:collapse}th,td{border:1px solid var(--line);padding:.3em .7em;text-align:left;
vertical-align:top}
sup{line-height:0}sup.lost{color:var(--red)}
aside,section.notes{border-top:1px solid var(--line);margin-top:2.5rem;padding-top:.5rem}
section.notes{font-size:.95rem}
ul.rows{list-style:none;padding:0}ul.rows li{padding:.35rem 0;border-bottom:1px solid var(--line)}
ul.rows small{color:var(--soft);display:block}
input[type=search]{width:100%;padding:.6em .8em;font-size:1rem;border:1px solid var(--line);border-radius:.4rem;
background:var(--card);color:inherit}
.lines{counter-reset:none;padding:.6rem 0;white-space:pre-wrap}
.lines span{display:block;padding:0 1rem 0 4.5rem;position:relative;min-height:1.5em}
.lines span>a{position:absolute;left:0;width:3.7rem;text-align:right;color:var(--soft);text-decoration:none;
user-select:none}
.lines .cited{background:var(--mark)}
.lines span:target,.lines .here{outline:2px solid var(--link);outline-offset:-2px}
.gap{color:var(--soft);padding:.3rem 1rem;font-style:italic}
footer{color:var(--soft);margin-top:3rem;border-top:1px solid var(--line);padding-top:.7rem}
`.trim();
