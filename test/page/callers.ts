/** People with roles, and how one of them comes into the page. */
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OPEN_RATE, type TestKernel } from '@svc/testing';
import type { Page } from 'playwright-core';

export const keyOf = (name: string): string => `the-key-of-${name}-0001`;

/** For config.toml; behind what belongs to the top level. */
export const person = (name: string, role: 'owner' | 'admin' | 'user' | 'viewer'): string =>
  `[[users]]\nname = "${name}"\nrole = "${role}"\napi_key_hash = "sha256:${createHash('sha256').update(keyOf(name)).digest('hex')}"\n`;

/** Gives a running daemon other settings; people in them are asked who they are from then on. */
export const configure = async ({ home, daemon }: TestKernel, config = OPEN_RATE): Promise<void> => {
  await writeFile(join(home, 'config.toml'), config);
  await daemon.reloadConfig('test');
};

/** Answers what the page asks of somebody it does not know. */
export const logInAs = async (page: Page, name: string): Promise<void> => {
  await page.getByLabel('API key').fill(keyOf(name));
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('navigation', { name: 'Navigation' }).waitFor();
};
