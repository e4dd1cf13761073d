/** The page in a real Chromium: what the first load brings, when one can type, and how smoothly it writes and scrolls. */
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { call, makeAgents, makeHome, say, startDaemon, startServer } from '../../daemon.mjs';
import { fillConversation } from '../../fill.mjs';
import { median, milliseconds, round } from '../../figures.mjs';

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const TOKENS_PER_SECOND = 200;
const AGENTS = 500;
const MESSAGES = 10_000;
const SLOWER = 4;
const LOAD_LIMIT_KB = 90;
const READY_LIMIT_MS = 1_500;
const FRAME_LIMIT_MS = 50;

/** Work that kept a frame waiting: the longest animation frame, as the browser itself reports those above 50 ms, and the longest gap between two frames. */
const watchFrames = (page) =>
  page.evaluate(() => {
    window.frames_ = { gaps: [], long: [] };
    new PerformanceObserver((list) => window.frames_.long.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'long-animation-frame' });
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
  return { longest: Math.max(0, ...long), count: long.length, gap: sorted.at(-1) ?? 0, p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0, frames: gaps.length };
};

const visit = async (browser, { slower = 1, viewport = { width: 1280, height: 800 } } = {}) => {
  const context = await browser.newContext({ viewport });
  const page = await context.newPage();
  if (slower > 1) await (await context.newCDPSession(page)).send('Emulation.setCPUThrottlingRate', { rate: slower });
  return page;
};

/** From the navigation to a field that takes what is typed, ms; and the bytes that came until then. */
const load = async (browser, url, field) => {
  const page = await visit(browser, { slower: SLOWER });
  await page.goto(url, { waitUntil: 'commit' });
  await page.locator(field).waitFor();
  await page.locator(field).pressSequentially('x');
  const seen = await page.evaluate(() => ({
    ms: performance.now(),
    bytes: [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource').filter(({ name }) => new URL(name).pathname.startsWith('/ui/'))].reduce(
      (sum, { encodedBodySize }) => sum + encodedBodySize,
      0,
    ),
  }));
  await page.context().close();
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

const frameRow = (what, product, floor, method) => ({
  what,
  value: product.longest === 0 ? 'none over 50 ms' : milliseconds(product.longest),
  floor: floor.longest === 0 ? 'none over 50 ms' : milliseconds(floor.longest),
  target: `≤ ${FRAME_LIMIT_MS} ms`,
  met: product.longest <= FRAME_LIMIT_MS,
  method: `longest animation frame; ${product.count} over 50 ms of ${product.frames} (floor ${floor.count}), gaps between frames p99 ${milliseconds(product.p99)} (floor ${milliseconds(floor.p99)}); ${method}`,
});

const stream = async (browser, { daemon, floor, agent, seconds }) => {
  const bare = await visit(browser);
  await bare.goto(floor.url);
  await watchFrames(bare);
  await bare.evaluate(() => void run());
  await bare.waitForFunction(() => document.title === 'over', undefined, { timeout: seconds * 3_000 });
  const floorFrames = await framesOf(bare);
  const page = await visit(browser);
  await page.goto(`${daemon.url}/#/chat/${agent}/new`);
  await page.locator('.composer textarea').fill('write at length');
  await page.keyboard.press('Enter');
  await page.locator('.markdown').first().waitFor();
  await watchFrames(page);
  await page.locator('.answered .figures').waitFor({ timeout: seconds * 3_000 });
  const frames = await framesOf(page);
  await Promise.all([bare.context().close(), page.context().close()]);
  return { product: frames, floor: floorFrames };
};

const scrolled = async (browser, { daemon, floor, agent, session, seconds }) => {
  const bare = await visit(browser);
  await bare.goto(floor.url);
  await bare.evaluate(() => {
    const list = document.getElementById('list');
    list.scrollTop = list.scrollHeight;
  });
  const floorFrames = await scroll(bare, '#list', seconds);
  const page = await visit(browser);
  await page.goto(`${daemon.url}/#/chat/${agent}/${session}`);
  await page.locator('.turn').first().waitFor();
  const conversation = await scroll(page, '.turns', seconds);
  const shown = await page.locator('.turn').count();
  await page.goto(`${daemon.url}/#/agents`);
  await page.getByText('bench-1', { exact: true }).first().waitFor();
  const agents = await scroll(page, '.content', seconds);
  await Promise.all([bare.context().close(), page.context().close()]);
  return { conversation, agents, shown, floor: floorFrames };
};

export const run = async ({ isQuick }) => {
  if (!existsSync(CHROMIUM)) throw new Error(`there is no Chromium at ${CHROMIUM}`);
  const plan = isQuick ? { loads: 3, seconds: 6 } : { loads: 9, seconds: 20 };
  const provider = await startServer('tools/bench/programs/servers/token-provider.mjs', [String(TOKENS_PER_SECOND), String(TOKENS_PER_SECOND * plan.seconds)]);
  const floor = await startServer('tools/bench/programs/servers/bare-page.mjs', [String(MESSAGES), String(TOKENS_PER_SECOND), String(TOKENS_PER_SECOND * plan.seconds)]);
  // Nothing to scroll and nothing to write: what a field to type in costs by itself.
  const light = await startServer('tools/bench/programs/servers/bare-page.mjs', ['0', String(TOKENS_PER_SECOND), '0']);
  const brief = await startServer('fixtures/providers/instant.mjs');
  const home = await makeHome(brief.url);
  let daemon = await startDaemon(home);
  const agents = await makeAgents(daemon.url, AGENTS);
  await say(daemon.url, agents[0], 'What is **bold**?');
  await daemon.stop();
  const session = await fillConversation(home.home, agents[0], MESSAGES / 2);
  daemon = await startDaemon(home);
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  try {
    const loads = { product: [], floor: [] };
    for (let index = 0; index < plan.loads; index += 1) {
      loads.floor.push(await load(browser, light.url, 'textarea'));
      loads.product.push(await load(browser, daemon.url, '.composer textarea'));
    }
    const smooth = await scrolled(browser, { daemon, floor, agent: agents[0], session, seconds: plan.seconds });
    await call(daemon.url, 'PUT', '/api/providers/openai/url', { base_url: `${provider.url}/v1` });
    const written = await stream(browser, { daemon, floor, agent: agents[1], seconds: plan.seconds });
    const bytes = median(loads.product.map((one) => one.bytes));
    const ready = median(loads.product.map(({ ms }) => ms));
    return {
      rows: [
        {
          what: 'first load of the page, compressed',
          value: `${round(bytes / 1_000, 1)} KB`,
          floor: '',
          target: `≤ ${LOAD_LIMIT_KB} KB`,
          met: bytes <= LOAD_LIMIT_KB * 1_000,
          method: 'page, style, kit, shell and the panel of conversations, until one can type',
        },
        {
          what: `ready to type, processor ${SLOWER} times slower`,
          value: milliseconds(ready),
          floor: milliseconds(median(loads.floor.map(({ ms }) => ms))),
          target: `≤ ${READY_LIMIT_MS / 1_000} s`,
          met: ready <= READY_LIMIT_MS,
          method: `median of ${plan.loads} loads in turn with a page that is a field and nothing else, each with an empty cache; ${AGENTS} agents`,
        },
        frameRow(`an answer of ${TOKENS_PER_SECOND * plan.seconds} tokens at ${TOKENS_PER_SECOND} a second`, written.product, written.floor, 'floor: text put at the end of a list'),
        frameRow(`scrolling ${MESSAGES.toLocaleString('en')} messages`, smooth.conversation, smooth.floor, `${smooth.shown} turns were drawn on the way; floor: as many lines in a bare page`),
        frameRow(`scrolling ${AGENTS} agents`, smooth.agents, smooth.floor, 'the panel of agents'),
      ],
      raw: { loads, written, smooth },
    };
  } finally {
    await browser.close();
    await Promise.all([daemon.stop(), provider.stop(), floor.stop(), light.stop(), brief.stop()]);
    await home.remove();
  }
};
