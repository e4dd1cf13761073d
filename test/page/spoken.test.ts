/** What a screen reader is given of each main view: roles and names, as a tree, in the order in which they are read. */
import { bootTestKernel, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { clippedText, useBrowser } from './browser.js';

/** Roles that say nothing without a name. */
const NAMED = /^(?:button|link|textbox|searchbox|combobox|checkbox|switch|radio|slider|spinbutton|tab|tablist|menu|menuitem|region|navigation|complementary|dialog|log|img)\b/;

interface Line {
  readonly depth: number;
  /** `button "Send" [disabled]` */
  readonly says: string;
}

/** One line for each element that has a role; what stands below it has a greater depth. Addresses of links are left out. */
const linesOf = (snapshot: string): Line[] =>
  snapshot
    .split('\n')
    .map((line) => ({ depth: line.search(/\S/) / 2, says: line.trim().replace(/^- '?/, '').replace(/'?:?$/, '').replaceAll("''", "'") }))
    .filter(({ says }) => says !== '' && !says.startsWith('/url'));

const mainOf = async (page: Page): Promise<Line[]> => linesOf(await page.locator('main').ariaSnapshot());

/** What of the expected lines does not follow after those before it; others may stand in between. */
const missing = (lines: readonly Line[], expected: readonly string[]): string[] => {
  let at = 0;
  return expected.filter((wanted) => {
    const found = lines.findIndex(({ says }, index) => index >= at && says.startsWith(wanted));
    if (found === -1) return true;
    at = found + 1;
    return false;
  });
};

const nameless = (lines: readonly Line[]): string[] => lines.filter(({ says }) => NAMED.test(says) && !/^[a-z]+ ["/]/.test(says)).map(({ says }) => says);

/** Headings are an outline: one of the first rank, and none that leaves a rank out. */
const outlineFaults = (lines: readonly Line[]): string[] => {
  const ranks = lines.flatMap(({ says }) => /^heading .*\[level=(\d)\]/.exec(says)?.slice(1).map(Number) ?? []);
  const main = ranks.filter((rank) => rank === 1).length;
  // A list beside the content may come before its heading.
  const fromMain = ranks.slice(ranks.indexOf(1));
  return [...(main === 1 ? [] : [`${main} headings of rank 1`]), ...fromMain.flatMap((rank, index) => (rank - (fromMain[index - 1] ?? 0) > 1 ? [`rank ${rank} after ${fromMain[index - 1]}`] : []))];
};

interface Spoken {
  readonly view: string;
  readonly place: (agentId: string) => string;
  readonly says: readonly string[];
}

const VIEWS: readonly Spoken[] = [
  {
    view: 'a conversation',
    place: (id) => `chat/${id}`,
    says: [
      'complementary "Conversations"',
      'combobox "Agent"',
      'button "New conversation"',
      'searchbox "Search all conversations"',
      'region "Today"',
      'list "Conversations"',
      'link "write hello to notes.txt then read it',
      'button "Actions for write hello to notes.txt then read it"',
      'region "Chat with assistant"',
      'heading "write hello to notes.txt then read it" [level=1]',
      'log "Messages"',
      'article',
      'heading "You" [level=2]',
      'button "Copy"',
      'button "Edit"',
      'heading "assistant" [level=2]',
      'button "Try again"',
      'textbox "Message to assistant"',
      'button "Attach a file"',
      'button "Model: rehearsal"',
      'button "Send" [disabled]',
    ],
  },
  {
    view: 'the overview',
    place: () => 'overview',
    says: [
      'heading "Overview" [level=1]',
      'region "Health"',
      'status',
      'region "Now"',
      'link "Running 0',
      'group "Spent today"',
      'region "Activity"',
      'combobox "Period"',
      'group "Runs"',
      'region "Recent runs"',
      'table',
      'columnheader "Agent"',
      'region "Daemon"',
      'term: Version',
    ],
  },
  {
    view: 'usage',
    place: () => 'usage',
    says: [
      'heading "Usage" [level=1]',
      'button "Edit limits"',
      'group "Today"',
      'group "This month"',
      'region "Cost and tokens by day"',
      'region "Usage by model"',
      'columnheader "Cost"',
      'region "Cost by agent"',
    ],
  },
  {
    view: 'runs',
    place: () => 'runs',
    says: ['heading "Runs" [level=1]', 'combobox "Agent"', 'combobox "State"', 'combobox "Started"', 'region "Runs, newest first"', 'columnheader "Duration"', 'link "assistant"'],
  },
  { view: 'approvals', place: () => 'approvals', says: ['heading "Approvals" [level=1]', 'heading "Nothing to approve" [level=2]', 'region "Authenticator"', 'button "Set up"'] },
  {
    view: 'agents',
    place: () => 'agents',
    says: ['heading "Agents" [level=1]', 'link "New agent"', 'searchbox', 'combobox "State"', 'status: 1 of 1 agent', 'list "Agents"', 'link "assistant"', 'link "Chat with assistant"'],
  },
  {
    view: 'an agent',
    place: (id) => `agents/${id}`,
    says: [
      'link "All agents"',
      'heading "assistant" [level=1]',
      'link "Chat"',
      'tablist "Views of this agent"',
      'tab "Overview" [selected]',
      'tabpanel "Overview"',
      'group "Status"',
      'region "Permissions"',
      'list',
      'region "Details"',
      'term: ID',
    ],
  },
  {
    view: 'files',
    place: (id) => `files/${id}`,
    says: ['link "All agents"', 'heading "Files of assistant" [level=1]', 'button "New file"', 'button "Upload"', 'region "Files in /"', 'button "Name"', 'link "notes.txt"'],
  },
  {
    view: 'models',
    place: () => 'models',
    says: [
      'heading "Models" [level=1]',
      'tablist "Views"',
      'tab "Providers" [selected]',
      'region "Default model"',
      'searchbox "Search providers"',
      'button "Add an API key"',
      'region "Ready"',
      'region "Setup needed"',
    ],
  },
  { view: 'settings', place: () => 'config', says: ['heading "Settings" [level=1]', 'searchbox', 'navigation'] },
];

describe('what a screen reader is given', function () {
  this.timeout(120_000);
  const chromium = useBrowser();
  let kernel: TestKernel;
  let agentId: string;

  before(async () => {
    kernel = await bootTestKernel();
    agentId = (await kernel.http.expect(200, 'GET', '/api/agents')).body.items[0].id;
    await kernel.http.expect(200, 'POST', `/api/agents/${agentId}/message`, { message: 'write hello to notes.txt then read it' });
  });
  after(() => stopTestKernels());

  it('of each main view is what it shows, in its order, with a name for all that can be used and an outline of headings', async () => {
    const { page } = await chromium.open('about:blank');
    for (const { view, place, says } of VIEWS) {
      await page.goto(`${kernel.url}/#/${place(agentId)}`);
      await page.locator('main h1').filter({ visible: true }).waitFor();
      // What is loaded later stands there as soon as it came.
      let lines = await mainOf(page);
      for (let look = 0; look < 50 && missing(lines, says).length > 0; look++) {
        await page.waitForTimeout(100);
        lines = await mainOf(page);
      }
      expect(missing(lines, says), view).to.deep.equal([]);
      expect(nameless(lines), view).to.deep.equal([]);
      expect(outlineFaults(lines), view).to.deep.equal([]);
      // What is read out can be read as well.
      for (const width of [360, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        expect(await clippedText(page), `${view} at ${width} px`).to.deep.equal([]);
      }
    }
  });

  it('of the page around them is a link to the content, the navigation by areas, and its state', async () => {
    const { page } = await chromium.open(`${kernel.url}/#/agents`);
    await page.locator('main h1').waitFor();
    const lines = linesOf(await page.locator('body').ariaSnapshot());
    expect(
      missing(lines, [
        'link "Skip to the content"',
        'navigation "Navigation"',
        'list "Areas"',
        'link "Chat"',
        'link "Agents"',
        'link "System"',
        'status',
        'button "Theme"',
        'button "Language"',
        'main',
      ]),
    ).to.deep.equal([]);
    expect(nameless(lines)).to.deep.equal([]);
    expect(await page.getByRole('navigation', { name: 'Navigation' }).getByRole('link', { name: 'Agents', exact: true }).getAttribute('aria-current')).to.equal('page');
  });
});
