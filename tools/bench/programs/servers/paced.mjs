/** Writes `count` tokens at so many a second. `write(from, until)` writes those that are due by now: a late timer makes no slower model. */
export const writePaced = (response, { rate, count, write, end }) => {
  const begun = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    const due = Math.min(count, Math.ceil(((performance.now() - begun) / 1_000) * rate));
    if (due > sent) write(sent, due);
    sent = due;
    if (sent < count) return;
    clearInterval(timer);
    end();
  }, 1_000 / rate);
  response.once('close', () => clearInterval(timer));
};
