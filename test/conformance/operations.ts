/** The interface as a list of operations, and what of it a daemon has mounted. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KernelView } from '@svc/api';
import { releaseFile } from '@svc/testing';

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly area: string;
  /** The step of the roadmap that brings it. */
  readonly step: number;
}

/** The root of the checkout: the release index stands in its dist folder. */
export const ROOT = join(releaseFile(), '..', '..');
export const SERVED_FILE = join(ROOT, 'schemas', 'routes.served.json');

export const specOperations = (): Operation[] => JSON.parse(readFileSync(join(ROOT, 'schemas', 'routes.spec.json'), 'utf8')) as Operation[];
export const recordedOperations = (): string[] => JSON.parse(readFileSync(SERVED_FILE, 'utf8')) as string[];

/** `GET /api/agents/{}`: what two spellings of one operation have in common, whatever they call their parameters. */
export const shapeOf = (operation: { method: string; path: string }): string => `${operation.method} ${operation.path.replace(/\{[^}]*\}/g, '{}')}`;

/** Operations of the interface that the daemon answers now, as the interface writes them. */
export const servedOperations = (kernel: Pick<KernelView, 'routes'>): string[] => {
  const mounted = new Set(kernel.routes().map(shapeOf));
  return specOperations()
    .filter((operation) => mounted.has(shapeOf(operation)))
    .map((operation) => `${operation.method} ${operation.path}`)
    .sort();
};
