/** Texts that try to act in a browser. Each sets `hacked` on the root element if it succeeds. */

const RUN = "document.documentElement.setAttribute('hacked','1')";

/** Text that mallory writes into pages, titles, aliases and sources. Attacks call home at `evil.example`. */
export const HOSTILE: readonly string[] = [
  "<script>hacked=1</script>",
  "</script><script>hacked=1</script>",
  "</title><script>hacked=1</script>",
  "</style></pre></code></main>",
  "<img src=x onerror=hacked=1>",
  '"><svg onload=hacked=1>',
  "' onmouseover='hacked=1",
  "` onclick=`hacked=1",
  "<svg><script>hacked=1</script><use href='data:x'/></svg>",
  "<![CDATA[ ]]> ]]> -->",
  "<!-- <script>hacked=1</script> -->",
  "<iframe srcdoc='<script>hacked=1</script>'></iframe>",
  '<base href="https://evil.example/"><link rel=stylesheet href=https://evil.example/x.css>',
  '<meta http-equiv="refresh" content="0;url=https://evil.example/">',
  "[a](javascript:hacked=1) [b](JaVaScRiPt&#58;hacked=1) [c](java\tscript:hacked=1) [d](<javascript:hacked=1>)",
  "[e](data:text/html,<script>hacked=1</script>) [f](vbscript:x) [g](file:///etc/passwd) [h](//evil.example/x)",
  '[i](../../../../etc/passwd) [j](https://evil.example/" onclick="hacked=1) [k](blob:x) [l](\\\\evil\\share)',
  '![m](https://evil.example/pixel.png) ![n](data:image/svg+xml,<svg/onload=hacked=1>) ![o](x" onerror="hacked=1)',
  "[p](https://user:pw@evil.example/) [q](https://evil.example/?a=1&b=<c>'\")",
  '[[x"><script>hacked=1</script>]] [[a|<img src=x onerror=hacked=1>]]',
  '<https://evil.example/"><b> <javascript:hacked=1>',
  "\u202egnp.exe\u0000\u001b[2J\u2066 \u{e0041}",
  "# <script>hacked=1</script>",
  '| <script> | `|` |\n| --- | --- |\n| <img onerror=x> | [[a\\|b]] \\| " |',
  "```html\n<script>hacked=1</script>\n```",
  "> > > <b>**[x](y** z)_**",
  "1. a\n   - b\n      3. c\n- d\n      - e\n  1. f",
  "[^x]: <script>hacked=1</script> [z](javascript:hacked=1)",
  "&lt;script&gt; &amp;lt;script&amp;gt; &#60;script&#62;",
  "\ud800 \udfff",
].map((text) => text.replaceAll("hacked=1", RUN));
