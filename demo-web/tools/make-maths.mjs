// docs/math.md as a page, in the style of the reports. usage: make-maths.mjs MATH.md STYLE.css OUT.html
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const [, , source, style, out] = process.argv;

const slug = (text) =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
const safe = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
const inline = (text) =>
  safe(text)
    .replace(/\\\|/g, '|')
    .replace(/\*\*eq\. (\d+)\*\*/g, '<b id="eq-$1">eq. $1</b>')
    .replace(/\*\*(.+?)\*\*/g, '<b>$1</b>')
    .replace(/`(.+?)`/g, '<code>$1</code>')
    .replace(
      /(?<![A-Za-z_])([A-Za-z\u0370-\u03ff]²?)_(?:\{([^}]+)\}|([A-Za-z0-9]+))/g,
      (_, base, braced, plain) => `${base}<sub>${braced ?? plain}</sub>`,
    )
    .replace(/\[(.+?)\]\((.+?)\)/g, (_, words, to) => (/^https:/.test(to) ? `<a href="${to}">${words}</a>` : words));

const cells = (line) =>
  line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => inline(cell.trim()));
const row = (tag, line) =>
  `<tr>${cells(line)
    .map((cell) => `<${tag}>${cell}</${tag}>`)
    .join('')}</tr>`;

function block(text) {
  const lines = text.split('\n');
  const heading = /^(#+) (.*)$/.exec(text);
  if (heading) {
    const [, signs, words] = heading;
    return `<h${signs.length} id="${slug(words)}">${inline(words)}</h${signs.length}>`;
  }
  if (lines.every((line) => line.startsWith('    '))) return `<pre>${safe(lines.map((line) => line.slice(4)).join('\n'))}</pre>`;
  if (lines.every((line) => line.startsWith('|'))) {
    const [head, , ...rest] = lines;
    return `<div class=scroll tabindex=0><table><thead>${row('th', head)}</thead><tbody>${rest.map((line) => row('td', line)).join('')}</tbody></table></div>`;
  }
  if (lines[0].startsWith('- ')) {
    const items = text.slice(2).split(/\n- /);
    return `<ul>${items.map((item) => `<li>${inline(item.replace(/\s+/g, ' '))}</li>`).join('')}</ul>`;
  }
  return `<p>${inline(text.replace(/\n/g, ' '))}</p>`;
}

const [title, ...blocks] = readFileSync(source, 'utf8').trim().split(/\n\n+/);
mkdirSync(dirname(out), { recursive: true });
writeFileSync(
  join(dirname(out), 'maths.css'),
  `${readFileSync(style, 'utf8')}
header,main{max-width:820px}main h2{margin:2rem 0 .6rem}main p{margin:0 0 .8rem;text-wrap:pretty}main ul{padding-left:1.2rem}main [id]{scroll-margin-top:5rem}sub{line-height:0;font-size:.72em}main>:target,main p:has(:target){background:var(--soft);box-shadow:0 0 0 8px var(--soft)}
`,
);
writeFileSync(
  out,
  `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>adapvae: ${inline(title.replace(/^# /, ''))}</title>
<link rel="stylesheet" href="./maths.css"></head><body>
<header><p class=made><a href="./index.html">← to the demo</a></p>${block(title)}</header>
<main>
${blocks.map(block).join('\n')}
</main></body></html>
`,
);
