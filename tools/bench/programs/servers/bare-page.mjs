/**
 * The page that does least: a field to type in, a long list to scroll, and text that is put at an end as it comes. The floor of what
 * a browser needs on this machine.
 *
 *   node bare-page.mjs <lines> <tokens a second> <tokens>     prints its port
 */
import { createServer } from 'node:http';

const [lines, rate, count] = process.argv.slice(2).map(Number);
const list = Array.from({ length: lines }, (_, index) => `<p>line ${index}</p>`).join('');
const page = `<!doctype html><meta charset="utf-8"><title>bare</title><link rel="icon" href="data:,"><div id="list" tabindex="0" style="height:600px;overflow:auto">${list}<pre id="text" style="white-space:pre-wrap"></pre></div><textarea aria-label="Message"></textarea><script>
const run = async () => { const reader = (await fetch('/tokens')).body.getReader(); const decoder = new TextDecoder(); for (;;) { const { done, value } = await reader.read(); if (done) break; text.append(decoder.decode(value)); list.scrollTop = list.scrollHeight; } document.title = 'over'; };
</script>`;

const server = createServer((request, response) => {
  if (request.url !== '/tokens') return response.writeHead(200, { 'content-type': 'text/html' }).end(page);
  const begun = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    const due = Math.min(count, Math.ceil(((performance.now() - begun) / 1_000) * rate));
    if (due > sent) response.write(' tok~en'.repeat(due - sent));
    sent = due;
    if (sent < count) return;
    clearInterval(timer);
    response.end();
  }, 1_000 / rate);
  response.once('close', () => clearInterval(timer));
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.once('SIGTERM', () => process.exit());
