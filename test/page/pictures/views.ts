/** The views that the README of extensions/webchat shows, and what is there when they are drawn. */
import type { Page } from 'playwright-core';
import type { Inhabited } from './inhabited.js';

export interface PicturedView {
  readonly name: string;
  /** What people see on it, for the README. */
  readonly title: string;
  /** Behind `#/`. */
  readonly place: (world: Inhabited) => string;
  /** Until it is drawn. */
  readonly drawn: (page: Page) => Promise<unknown>;
}

const charts = (page: Page, count: number): Promise<unknown> => page.waitForFunction((least) => document.querySelectorAll('.chart-plot canvas').length >= least, count);
const text = (page: Page, words: string | RegExp): Promise<void> => page.locator('main').getByText(words).first().waitFor();

export const VIEWS: readonly PicturedView[] = [
  {
    name: 'conversation',
    title: 'A conversation: a tool call, an answer with a table, a formula and code, and what it cost',
    place: ({ agents, sessionId }) => `chat/${agents['bookkeeper']}/${sessionId}`,
    drawn: async (page) => {
      await page.locator('.markdown math').first().waitFor();
      await page.locator('.hljs-keyword').first().waitFor();
      await page.locator('.answered .figures').last().waitFor();
    },
  },
  {
    name: 'overview',
    title: 'Overview: health, active runs, runs and cost over time',
    place: () => 'overview',
    drawn: async (page) => {
      await page.getByLabel('Period').selectOption('Last 7 days');
      await charts(page, 4);
      await page.locator('.chart-legend').first().getByText('Runs').waitFor();
    },
  },
  { name: 'usage', title: 'Usage: limits, cost and tokens by day, model and agent', place: () => 'usage', drawn: (page) => charts(page, 2) },
  { name: 'runs', title: 'Runs: who did what, when, for how long and at which cost', place: () => 'runs', drawn: (page) => text(page, 'gpt-5-mini') },
  { name: 'run', title: 'A run, step by step', place: ({ runId }) => `runs/${runId}`, drawn: (page) => page.locator('.runs-timeline .runs-bar').first().waitFor() },
  { name: 'approvals', title: 'Approvals: the change that a tool call would make', place: () => 'approvals', drawn: (page) => page.locator('main .diff').first().waitFor() },
  { name: 'agents', title: 'Agents', place: () => 'agents', drawn: (page) => text(page, 'bookkeeper') },
  { name: 'agent', title: 'An agent: its model, permissions, budget and conversations', place: ({ agents }) => `agents/${agents['reviewer']}`, drawn: (page) => text(page, 'reviewer') },
  { name: 'files', title: "Files of an agent's workspace", place: ({ agents }) => `files/${agents['gardener']}`, drawn: (page) => text(page, 'seeds.csv') },
  { name: 'models', title: 'Models and providers', place: () => 'models', drawn: (page) => text(page, 'Anthropic') },
];
