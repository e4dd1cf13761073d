/** How smoothly the page writes and scrolls: the longest frames of both, and of a bare page that does the same. */
import { median, milliseconds } from '../../figures.mjs';
import { visit } from './visit.mjs';

const LIMIT_MS = 50;

/** Work that kept a frame waiting: the animation frames above 50 ms, as the browser itself reports them, and the gaps between two frames. */
const watchFrames = (page) =>
  page.evaluate(() => {
    window.frames_ = { gaps: [], long: [] };
    new PerformanceObserver((list) =>
      window.frames_.long.push(
        ...list.getEntries().map(({ duration, scripts }) => ({ duration, scripts: scripts.map(({ duration: ms, invoker, sourceURL }) => `${Math.round(ms)} ms ${invoker} ${sourceURL}`) })),
      ),
    ).observe({ type: 'long-animation-frame' });
    let last = performance.now();
    const tick = () => {
      const now = performance.now();
      window.frames_.gaps.push(now - last);
      last = now;
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  });

const framesOf = async (page) => {
  const { gaps, long } = await page.evaluate(() => window.frames_);
  const sorted = [...gaps].sort((a, b) => a - b);
  return { longest: Math.max(0, ...long.map(({ duration }) => duration)), long, gap: sorted.at(-1) ?? 0, p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0, frames: gaps.length };
};

const streamBare = async (browser, { floor, seconds }) => {
  const { page, close } = await visit(browser);
  await page.goto(floor.url);
  await watchFrames(page);
  await page.evaluate(() => void run());
  await page.waitForFunction(() => document.title === 'over', undefined, { timeout: seconds * 5_000 });
  const frames = await framesOf(page);
  await close();
  return frames;
};

/** In a conversation of thousands of messages: from the first word until the answer is there with its figures. */
const streamIn = async (browser, { daemon, agent, session, seconds }) => {
  const { page, close } = await visit(browser);
  await page.goto(`${daemon.url}/#/chat/${agent}/${session}`);
  await page.locator('.turn').first().waitFor();
  const answered = page.locator('.answered .figures');
  const before = await answered.count();
  await page.locator('.composer textarea').fill('write at length');
  await page.keyboard.press('Enter');
  await page.locator('.turn:last-of-type .markdown').waitFor({ timeout: seconds * 5_000 });
  await watchFrames(page);
  await answered.nth(before).waitFor({ timeout: seconds * 5_000 });
  const frames = await framesOf(page);
  await close();
  return frames;
};

/** Answers of both in turn. */
export const measureStreams = async (browser, { rounds, ...plan }) => {
  const seen = { product: [], floor: [] };
  for (let round = 0; round < rounds; round += 1) {
    seen.floor.push(await streamBare(browser, plan));
    seen.product.push(await streamIn(browser, plan));
  }
  return seen;
};

const scroll = async (page, selector, seconds) => {
  await page.locator(selector).hover();
  await watchFrames(page);
  const end = Date.now() + seconds * 1_000;
  for (let step = 0; Date.now() < end; step += 1) {
    await page.mouse.wheel(0, step % 200 < 100 ? -400 : 400);
    await page.waitForTimeout(16);
  }
  return framesOf(page);
};

export const measureScrolling = async (browser, { daemon, floor, agent, session, seconds }) => {
  const bare = await visit(browser);
  await bare.page.goto(floor.url);
  await bare.page.evaluate(() => {
    const list = document.getElementById('list');
    list.scrollTop = list.scrollHeight;
  });
  const floorFrames = await scroll(bare.page, '#list', seconds);
  const { page, close } = await visit(browser);
  await page.goto(`${daemon.url}/#/chat/${agent}/${session}`);
  await page.locator('.turn').first().waitFor();
  const conversation = await scroll(page, '.turns', seconds);
  const shown = await page.locator('.turn').count();
  await page.goto(`${daemon.url}/#/agents`);
  await page.getByText('bench-1', { exact: true }).first().waitFor();
  const agents = await scroll(page, '.content', seconds);
  await Promise.all([bare.close(), close()]);
  return { conversation, agents, shown, floor: floorFrames };
};

const inWords = (ms) => (ms === 0 ? `none over ${LIMIT_MS} ms` : milliseconds(ms));
const longestOf = (runs) => median(runs.map(({ longest }) => longest));

/** `product` and `floor` are lists of runs; the medians of their longest frames count. */
export const frameRow = (what, product, floor, method) => ({
  what,
  value: inWords(longestOf(product)),
  floor: inWords(longestOf(floor)),
  target: `≤ ${LIMIT_MS} ms`,
  met: longestOf(product) <= LIMIT_MS,
  method: `longest animation frame, median of ${product.length}; over ${LIMIT_MS} ms: ${product.flatMap(({ long }) => long).length} of ${product.reduce((sum, { frames }) => sum + frames, 0)} (floor ${floor.flatMap(({ long }) => long).length}), gaps between frames p99 ${milliseconds(median(product.map(({ p99 }) => p99)))} (floor ${milliseconds(median(floor.map(({ p99 }) => p99)))}); ${method}`,
});
