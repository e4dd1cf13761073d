/** The snippets of the README, and what the programs that are made of them find in their environment. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { releaseFile } from '@svc/testing';
import type { ModelKernel } from '@svc/test/clients/model-kernel';

export const ROOT = join(releaseFile(), '..', '..');
export const KEY = 'svc_key-of-the-readme';

export const snippets = async (): Promise<string[]> => [...(await readFile(join(ROOT, 'kernel/client/README.md'), 'utf8')).matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => code);
export const environment = ({ kernel }: ModelKernel) => ({ PATH: process.env.PATH, SVC_URL: kernel.url, SVC_API_KEY: KEY });
