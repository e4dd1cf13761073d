/** The first visit of a person who never saw a terminal, from the first page to an edited answer, by whichever hand. */
import type { Page } from 'playwright-core';
import { expect } from 'chai';
import type { Hand } from './hands.js';

export const KEY = 'sk-first-visit-0123456789';

/** `seen` is called after each thing that the person did, with what it was. */
export const firstVisit = async (page: Page, hand: Hand, providerUrl: string, seen: (what: string) => Promise<void>): Promise<void> => {
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: typeof name === 'string' });
  const composer = page.getByRole('textbox', { name: /^Message to/ });
  const say = async (text: string): Promise<void> => {
    await hand.write(composer, text);
    await hand.send(composer);
  };

  // Nobody answers yet, and the page says what to do.
  const advice = page.getByRole('heading', { name: 'No model configured' });
  await advice.waitFor();
  expect((await advice.boundingBox())?.y, 'the first thing to read is in sight').to.be.greaterThan(40);
  await seen('the first page');
  await hand.press(page.getByRole('link', { name: "Add a provider's API key" }));
  const form = page.getByRole('dialog', { name: 'Add an API key' });
  await hand.choose(form.getByLabel('Provider', { exact: true }), 'OpenAI');
  await hand.write(form.getByRole('textbox', { name: 'API key' }), KEY);
  await hand.write(form.getByRole('textbox', { name: 'Address (optional)' }), `${providerUrl}/v1`);
  await seen('a provider and its key');
  await hand.press(form.getByRole('button', { name: 'Save and test' }));
  await form.getByText('OpenAI accepts the key.').waitFor();
  await seen('the key is accepted');

  // An answer.
  await hand.press(form.getByRole('link', { name: 'Start a conversation' }));
  await say('Who are you?');
  await page.getByText('Hello, I am a model.').waitFor();
  await seen('an answer');

  // An agent of their own.
  await hand.open('Agents');
  await hand.press(page.getByRole('link', { name: 'New agent' }).or(button('New agent')));
  await hand.press(page.getByRole('tab', { name: 'With a form' }));
  await hand.write(page.getByRole('textbox', { name: 'Name' }), 'shopper');
  await hand.write(page.getByRole('textbox', { name: 'Instructions' }), 'You keep lists.');
  await seen('an agent in the making');
  await hand.press(button('Create agent'));
  await page.getByRole('heading', { level: 1, name: 'shopper' }).waitFor();
  await seen('an agent of their own');

  // A file, with the message that it belongs to. Which file is asked by the system, not by the page.
  await hand.press(page.locator('main').getByRole('link', { name: /^Chat/ }).first());
  await composer.waitFor();
  const chooser = page.waitForEvent('filechooser');
  await hand.press(button('Attach a file'));
  await (await chooser).setFiles({ name: 'list.csv', mimeType: 'text/csv', buffer: Buffer.from('eggs,3.20\nmilk,1.10\n') });
  await page.locator('form').getByText('list.csv').waitFor();
  await say('Make a table of my list');
  await page.getByRole('cell', { name: '3.20' }).waitFor();
  await seen('a table of the file');

  // It is stopped while it writes.
  await say('Tell me a long story');
  await page.getByText('and then').first().waitFor();
  await seen('an answer that is being written');
  await hand.press(button('Stop'));
  await page.getByText('Stopped.', { exact: true }).waitFor();
  await seen('an answer that was stopped');

  // And asked in other words.
  const turn = page.getByRole('article').filter({ hasText: 'Tell me a long story' });
  await hand.press(turn.getByRole('button', { name: 'Edit' }));
  const edited = page.getByRole('form', { name: 'Edit message' }).getByRole('textbox');
  await hand.write(edited, 'Tell me a short story');
  await hand.send(edited);
  await page.getByText('Once upon a time. The end.').waitFor();
  await page.getByRole('group', { name: 'Versions of this message' }).getByText('2/2').waitFor();
  expect(await page.getByText('Stopped.', { exact: true }).count()).to.equal(0);
  await seen('another answer to the edited message');
};
