/**
 * The page that does least: a field to type in, a long list to scroll, and text that is put at an end once a frame, as it was
 * written. The floor of what a browser needs on this machine.
 *
 *   node bare-page.mjs <lines> <tokens a second> <tokens>     prints its port
 */
import { createServer } from 'node:http';
import { tokensFrom } from './answer-tokens.mjs';
import { writePaced } from './paced.mjs';

const [lines, rate, count] = process.argv.slice(2).map(Number);
const list = Array.from({ length: lines }, (_, index) => `<p>line ${index}</p>`).join('');
const page = `<!doctype html><meta charset="utf-8"><title>bare</title><link rel="icon" href="data:,"><div id="list" tabindex="0" style="height:600px;overflow:auto;white-space:pre-wrap">${list}</div><textarea aria-label="Message"></textarea><script>
const PARAGRAPH = 2000;
let text = '', paragraph;
const draw = () => {
  if (text !== '') {
    if (!paragraph || paragraph.textContent.length > PARAGRAPH) paragraph = list.appendChild(document.createElement('p'));
    paragraph.append(text);
    text = '';
    list.scrollTop = list.scrollHeight;
  }
  requestAnimationFrame(draw);
};
requestAnimationFrame(draw);
const run = async () => {
  document.title = 'bare';
  const reader = (await fetch('/tokens')).body.getReader();
  const decoder = new TextDecoder();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value);
  }
  document.title = 'over';
};
</script>`;

const server = createServer((request, response) => {
  if (request.url !== '/tokens') return response.writeHead(200, { 'content-type': 'text/html' }).end(page);
  writePaced(response, { rate, count, write: (from, until) => response.write(tokensFrom(from, until - from).join('')), end: () => response.end() });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.once('SIGTERM', () => process.exit());
