/** The page in a real browser, and what every view of it must be. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { useOnePort } from '@svc/testing/free-port';
import { expect } from 'chai';

/** The headless shell is the same engine without a browser's own interface: a page load costs half. Debian has it as chromium-headless-shell. */
const KNOWN = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
export const CHROMIUM = process.env.CHROMIUM ?? KNOWN.find((path) => existsSync(path)) ?? '/usr/bin/chromium';
/** What people have. Unlike its headless shell, it gives a frame without an origin a process of its own. */
export const WHOLE = process.env.CHROMIUM ?? '/usr/bin/chromium';
const NARROW = 360;
const USUAL = 1280;
/** Begins with what tests have anyway: each change lays out the page anew. */
const WIDTHS = [USUAL, 1920, 768, NARROW];
const HEIGHT = 800;

export interface Visit {
  readonly page: Page;
  /** What the console and the scripts complained of so far; refusals of the daemon that a test provokes stand there too. */
  readonly mistakes: string[];
}

/**
 * The first one: after a key, scripts and timers wait for the next frame, and a headless browser does not always draw one: one
 * key of some fifteen left the page standing still (https://issues.chromium.org/issues/350540984). The others are what Playwright
 * switches off for pages; Chromium takes the last of two such flags.
 */
const OFF = [
  'DeferRendererTasksAfterInput',
  'PaintHolding',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'ThirdPartyStoragePartitioning',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'DestroyProfileOnBrowserClose',
  'MediaRouter',
  'OptimizationHints',
];

/**
 * Nothing here is looked at on a screen: no graphics card is needed, nor a process that talks to one. The limit
 * keeps Chromium from starting a renderer in advance after each navigation.
 */
const FLAGS = ['--no-sandbox', '--disable-gpu', '--in-process-gpu', '--renderer-process-limit=1', `--disable-features=${OFF.join(',')}`];
export const LAUNCH = { executablePath: CHROMIUM, args: FLAGS };
const LIKE_A_READER = { viewport: { width: 1280, height: HEIGHT }, locale: 'en-GB', reducedMotion: 'reduce' } as const;
const RECEIVED = ['console', 'pageerror', 'request', 'response', 'dialog', 'download', 'websocket'] as const;

/** A page that one test after another uses: a new context costs a renderer of its own, and all scripts compiled anew. */
let lent: Page | undefined;
/** One for all suites that want the same. */
let browser: Browser | undefined;
let launched = '';
const launch = (path: string): Promise<Browser> => {
  launched = path;
  return chromium.launch({ ...LAUNCH, executablePath: path });
};
after(async () => {
  await browser?.close();
  browser = undefined;
  lent = undefined;
});

const visited = new Set<string>();

const remember = (page: Page): void => {
  page.on('framenavigated', (frame) => {
    if (frame.url().startsWith('http')) visited.add(new URL(frame.url()).origin);
  });
};

const listen = (page: Page): string[] => {
  const mistakes: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') mistakes.push(`${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => mistakes.push(error.message));
  return mistakes;
};

/** As if nobody had been there: no storage, no cookies, no second tab, nothing held up or made to look otherwise. */
const makeNew = async (page: Page): Promise<void> => {
  const context = page.context();
  for (const event of RECEIVED) page.removeAllListeners(event);
  await Promise.all([
    ...context
      .pages()
      .filter((other) => other !== page)
      .map((other) => other.close()),
    page.unrouteAll({ behavior: 'ignoreErrors' }),
  ]);
  await page.bringToFront();
  await page.evaluate(() => sessionStorage.clear()).catch(() => undefined); // a page without an origin has none
  await page.goto('about:blank');
  const debug = await context.newCDPSession(page);
  for (const origin of visited) await debug.send('Storage.clearDataForOrigin', { origin, storageTypes: 'local_storage,indexeddb,cache_storage,service_workers' });
  visited.clear();
  await debug.send('Page.resetNavigationHistory');
  await debug.detach();
  await Promise.all([context.clearCookies(), context.clearPermissions(), context.setOffline(false)]);
  await page.emulateMedia({ colorScheme: null, contrast: null, forcedColors: null, media: null, reducedMotion: LIKE_A_READER.reducedMotion });
  await page.setViewportSize(LIKE_A_READER.viewport);
};

/**
 * With PAGE_SLOW_MS=300-500 each request to the API waits so long, by chance; with PAGE_SLOW_CPU=6 the page has a sixth of the
 * processor: what a test takes for drawn already is not there yet then. Only for looking for such tests.
 */
const slowDown = async (context: BrowserContext): Promise<void> => {
  const [shortest = 0, longest = shortest] = (process.env.PAGE_SLOW_MS ?? '').split('-').map(Number);
  if (longest > 0)
    await context.route(/\/api\//, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, shortest + Math.random() * (longest - shortest)));
      await route.continue().catch(() => undefined); // the page was left meanwhile
    });
  const rate = Number(process.env.PAGE_SLOW_CPU ?? 1);
  if (rate > 1) context.on('page', async (page) => (await context.newCDPSession(page)).send('Emulation.setCPUThrottlingRate', { rate }));
};

/** Skips this test from within it, or from a `beforeEach` before it, and says why. */
const skip = (test: Mocha.Runnable | undefined, reason: string): never => {
  if (!test) throw new Error(reason);
  Object.assign(test, { skipReason: reason, pending: true });
  // What runs now: the test or its hook.
  return (test.ctx?.test ?? test).skip();
};

/**
 * A browser for the tests of one suite. Without one, the tests that open a page are skipped and say so; the others run. Call it
 * in `describe`, before other hooks, and open pages in tests and in `beforeEach` alone.
 */
export const useBrowser = (path = CHROMIUM): { open(url: string, options?: BrowserContextOptions | undefined): Promise<Visit>; browser(): Browser } => {
  let isLent = false;
  let current: Mocha.Runnable | undefined;
  const isMissing = !existsSync(path);
  beforeEach(function () {
    current = this.currentTest;
  });
  before(async function () {
    this.timeout(60_000);
    if (isMissing) return;
    if (browser && launched !== path) {
      await browser.close();
      browser = undefined;
      lent = undefined;
    }
    browser ??= await launch(path);
    useOnePort(true);
  });
  after(() => useOnePort(false));
  afterEach(async function () {
    isLent = false;
    if (isMissing) return;
    // What a failure left is not cleared up but thrown away.
    const kept = this.currentTest?.isPassed() && !lent?.isClosed() ? lent : undefined;
    lent = kept;
    await Promise.all((browser?.contexts() ?? []).filter((context) => context !== kept?.context()).map((context) => context.close()));
    if (kept) await makeNew(kept);
  });
  const running = (): Browser => {
    if (isMissing) return skip(current, `no Chromium at ${path}; install it, or set CHROMIUM=/path`);
    if (!browser) throw new Error('the browser is started before the tests, not before that');
    return browser;
  };
  const newPage = async (options?: BrowserContextOptions): Promise<Page> => {
    const context = await running().newContext({ ...LIKE_A_READER, ...options });
    await slowDown(context);
    return context.newPage();
  };
  const lend = async (): Promise<Page> => {
    isLent = true;
    if (lent) return lent;
    const page = await newPage();
    page.context().on('page', remember);
    remember(page);
    lent = page;
    return page;
  };
  return {
    browser: running,
    /** The first one of a test is a page that was used before and knows nothing of that; those with options, and further ones, are by themselves. */
    open: async (url, options) => {
      running();
      const visit = async (): Promise<Visit> => {
        const page = isLent || options !== undefined ? await newPage(options) : await lend();
        const mistakes = listen(page);
        await page.goto(url);
        return { page, mistakes };
      };
      try {
        return await visit();
      } catch (error) {
        // A browser that the system ended between two tests says nothing of the page.
        if (browser?.isConnected() && !lent?.isClosed()) throw error;
        if (!browser?.isConnected()) browser = await launch(path);
        lent = undefined;
        isLent = false;
        return visit();
      }
    },
  };
};

/** Text and controls that reach beyond the window, where nothing scrolls them in. */
export const cutOff = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const scrolls = (element: Element | null): boolean => {
      for (let at = element; at && at !== document.body; at = at.parentElement) {
        const { overflowX, position } = getComputedStyle(at);
        if (/(auto|scroll|hidden|clip)/.test(overflowX) && at !== element) return true;
        if (position === 'fixed') return false;
      }
      return false;
    };
    const found = document.documentElement.scrollWidth > innerWidth ? [`the page is ${document.documentElement.scrollWidth} wide in a window of ${innerWidth}`] : [];
    const content = document.querySelector('main');
    if (content && content.scrollWidth > content.clientWidth) found.push(`the content is ${content.scrollWidth} wide in a place of ${content.clientWidth}`);
    for (const element of document.querySelectorAll('button, a, input, select, textarea, h1, h2, h3, p, td, th, label, summary, dt, dd')) {
      if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
      const { left, right, width, height } = element.getBoundingClientRect();
      if (width < 2 || height < 2 || (left >= -1 && right <= innerWidth + 1) || scrolls(element)) continue;
      found.push(`<${element.tagName.toLowerCase()} class="${element.className}"> from ${Math.round(left)} to ${Math.round(right)}: ${(element.textContent ?? '').slice(0, 60)}`);
    }
    return found;
  });

/** Text that its own box hides, where no ellipsis says so: a line that is too long, a box that is too low for its line. */
export const clippedText = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const hides = (element: Element): boolean => {
      const { overflowX, overflowY, textOverflow, webkitLineClamp } = getComputedStyle(element);
      if (textOverflow === 'ellipsis' || webkitLineClamp !== 'none') return false;
      const { scrollWidth, clientWidth, scrollHeight, clientHeight } = element;
      return (/(hidden|clip)/.test(overflowX) && scrollWidth > clientWidth + 1) || (/(hidden|clip)/.test(overflowY) && scrollHeight > clientHeight + 1);
    };
    /** A control is as wide as what it says. */
    const bursts = (control: Element, text: Node): boolean => {
      const range = document.createRange();
      range.selectNodeContents(text);
      const [inside, box] = [range.getBoundingClientRect(), control.getBoundingClientRect()];
      return inside.width > 0 && (inside.left < box.left - 1 || inside.right > box.right + 1 || inside.top < box.top - 1 || inside.bottom > box.bottom + 1);
    };
    const found: string[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const seen = new Set<Element>();
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const element = node.parentElement;
      if (!element || seen.has(element) || !/\S/.test(node.nodeValue ?? '') || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
      seen.add(element);
      // Said to screen readers alone.
      if (getComputedStyle(element).clipPath !== 'none') continue;
      const control = element.closest('button, .button, .badge');
      if (hides(element) || (control && bursts(control, node))) found.push(`<${element.tagName.toLowerCase()} class="${element.className}">: ${(element.textContent ?? '').slice(0, 60)}`);
    }
    return found;
  });

const axeSource = (): string => readFileSync(createRequire(`${process.cwd()}/test/package.json`).resolve('axe-core/axe.min.js'), 'utf8');

/** The part of the page around each view: shell.test.ts checks it, open and closed, in both themes. */
const FRAME = '#navigation';
/** What depends on the theme and the width of the window; the rest is the same document in each. */
const BY_LOOKS = ['color-contrast', 'link-in-text-block', 'scrollable-region-focusable'];

/** The dialog that covers the view. */
const DIALOG = 'dialog:modal';

/** Marks text for axe, one of each kind: of two with the same colours on the same backgrounds, the contrast is the same. */
const markKindsOfText = (page: Page, isWhole: boolean): Promise<void> =>
  page.evaluate(
    ([within, frame]) => {
      const chains = new Map<Element, string>();
      const chainOf = (element: Element): string => {
        const known = chains.get(element);
        if (known !== undefined) return known;
        const { backgroundColor, backgroundImage, color, filter, mixBlendMode, opacity, position, textDecorationLine } = getComputedStyle(element);
        const own = [backgroundColor, backgroundImage, color, filter, mixBlendMode, opacity, position, textDecorationLine].join();
        const above = element.parentElement ? chainOf(element.parentElement) : '';
        // One that is like the element around it, and draws nothing, changes nothing.
        const isPlain = backgroundColor === 'rgba(0, 0, 0, 0)' && backgroundImage === 'none' && opacity === '1';
        const chain = isPlain && above.endsWith(`/${own}`) ? above : `${above}/${own}`;
        chains.set(element, chain);
        return chain;
      };
      for (const marked of document.querySelectorAll('[data-contrast]')) marked.removeAttribute('data-contrast');
      const found = new Set<string>();
      const mark = (element: Element): void => {
        if ((frame && element.closest(frame)) || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return;
        const { fontSize, fontWeight, textShadow } = getComputedStyle(element);
        const isOff = element.closest(':disabled, [aria-disabled="true"]') !== null;
        // Of what is scrolled away axe may not be able to tell.
        const { top, bottom } = element.getBoundingClientRect();
        const isInSight = top >= 0 && bottom <= innerHeight;
        const kind = [element.tagName, element.getAttribute('role'), isOff, isInSight, fontSize, fontWeight, textShadow, chainOf(element)].join();
        if (found.has(kind)) return;
        found.add(kind);
        element.setAttribute('data-contrast', '');
      };
      const root = (within && [...document.querySelectorAll(within)].at(-1)) || document.body;
      const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) if (node.parentElement && /\S/.test(node.nodeValue ?? '')) mark(node.parentElement);
      for (const field of root.querySelectorAll('input, select, textarea')) mark(field);
    },
    isWhole ? [] : [DIALOG, FRAME],
  );

interface Axe {
  configure(spec: { rules: ReadonlyArray<{ id: string; selector: string }> }): void;
  run(context: object, options: object): Promise<{ violations: Array<{ id: string; help: string; nodes: Array<{ html: string; failureSummary: string }> }> }>;
}

/** What axe finds, as lines: the rule, how many places, and the first of them. `rules` are all if none is named; without `isWhole`, see expectWellMade. */
export const axeFindings = async (page: Page, { rules, isWhole = true }: { rules?: readonly string[]; isWhole?: boolean } = {}): Promise<string[]> => {
  // As a call of the debugger, which the page's own policy does not validate.
  if (!(await page.evaluate(() => 'axe' in window))) {
    await page.evaluate(axeSource());
    await page.evaluate(() => (window as unknown as { axe: Axe }).axe.configure({ rules: [{ id: 'color-contrast', selector: '[data-contrast]' }] })); // put there above
  }
  await markKindsOfText(page, isWhole);
  return page.evaluate(
    async ([only, within, frame]) => {
      const { axe } = window as unknown as { axe: Axe }; // put there above
      const context = within && frame ? ([...document.querySelectorAll(within)].at(-1) ?? { exclude: [frame] }) : document;
      const { violations } = await axe.run(context, { resultTypes: ['violations'], selectors: false, preload: false, ...(only ? { runOnly: { type: 'rule', values: only } } : {}) });
      return violations.map(({ id, help, nodes }) => `${id}: ${help} (${nodes.length}) ${nodes[0]?.html.slice(0, 200)} ${nodes[0]?.failureSummary}`);
    },
    [rules, ...(isWhole ? [] : [DIALOG, FRAME])] as const,
  );
};

/** With PAGE_PICTURES=folder, what a test has before it is kept there as a picture. */
export const picture = async (page: Page, name: string): Promise<void> => {
  const folder = process.env.PAGE_PICTURES;
  if (folder) await page.screenshot({ path: `${folder}/${name.replaceAll(/\W+/g, '-')}.png` });
};

/** Words that are broken over two lines, in what the selector finds: a reader takes them for two. */
export const brokenWords = (page: Page, selector: string): Promise<string[]> =>
  page.evaluate((within) => {
    const broken: string[] = [];
    for (const element of document.querySelectorAll(within)) {
      const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode())
        for (const { 0: word, index } of (node.textContent ?? '').matchAll(/[\p{L}\p{N}]{2,20}/gu)) {
          const range = document.createRange();
          range.setStart(node, index);
          range.setEnd(node, index + word.length);
          if (new Set([...range.getClientRects()].filter(({ width }) => width > 0).map(({ top }) => Math.round(top))).size > 1) broken.push(word);
        }
    }
    return broken;
  }, selector);

/** When what changes colour or place has come to its end; what turns without end is not waited for. */
export const settled = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    const ending = document.getAnimations().filter(({ effect }) => effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY);
    await Promise.all(ending.map(({ finished }) => finished.catch(() => undefined))); // one that was cancelled is over
  });

/** Until what the view shows has been loaded: grey lines in its place say nothing of it. */
const loaded = async (page: Page): Promise<void> => {
  await page.waitForFunction(() => document.querySelector('main') !== null && document.querySelector('main .loading, main div[aria-busy="true"]') === null);
};

/**
 * At four widths nothing is cut off; in both themes axe finds nothing. Without `isWhole` it looks at what a test is about: at the
 * dialog where one is open, else at the view without the navigation around it; on a phone at what depends on colours and widths.
 * Call it for a view once with its dialog closed, and whole where the view has parts for phones alone. Leaves the page as it was.
 */
export const expectWellMade = async (page: Page, what: string, { isWhole = false } = {}): Promise<void> => {
  await loaded(page);
  const before = page.viewportSize();
  const shots = process.env.PAGE_PICTURES;
  for (const width of WIDTHS) {
    if (width !== page.viewportSize()?.width) await page.setViewportSize({ width, height: HEIGHT });
    expect((await cutOff(page)).join('\n'), `${what} at ${width} px`).to.equal('');
    const theme = width === NARROW ? 'dark' : 'light';
    if (width === NARROW || width === USUAL) {
      if (theme === 'dark') await page.emulateMedia({ colorScheme: theme });
      // The contrast of a colour on its way to another one says nothing.
      await settled(page);
      const looked = theme === 'dark' && !isWhole ? { isWhole, rules: BY_LOOKS } : { isWhole };
      expect((await axeFindings(page, looked)).join('\n'), `${what} at ${width} px, ${theme}`).to.equal('');
    }
    if (shots) await page.screenshot({ path: `${shots}/${what.replaceAll(/\W+/g, '-')}-${width}-${theme}.png` });
  }
  await page.emulateMedia({ colorScheme: null });
  if (before) await page.setViewportSize(before);
};
