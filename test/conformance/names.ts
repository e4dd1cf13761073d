/** The names that clients, dashboards and audit trails keep: they are never given away or changed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RouteDecl } from '@svc/api';
import type { TestKernel } from '@svc/testing';
import { ROOT } from './operations.js';
import { walk } from './route-walk.js';

export const NAMES_FILE = join(ROOT, 'schemas', 'names.served.json');

export interface Names {
  /** `METHOD path` → operation id. */
  readonly operations: Readonly<Record<string, string>>;
  /** `METHOD path` → the event type of the audit entry that a success leaves. */
  readonly audit: Readonly<Record<string, string>>;
}

export const recordedNames = (): Names => JSON.parse(readFileSync(NAMES_FILE, 'utf8')) as Names;

export const servedNames = (kernel: TestKernel): Names => {
  const rows = walk(kernel).map(({ method, template, decl }): [string, RouteDecl | { id: string; audit?: string }] => [`${method} ${template}`, decl]);
  const sorted = (pairs: ReadonlyArray<readonly [string, string]>): Record<string, string> => Object.fromEntries([...pairs].sort(([a], [b]) => (a < b ? -1 : 1)));
  return { operations: sorted(rows.map(([place, { id }]) => [place, id])), audit: sorted(rows.flatMap(([place, { audit }]) => (audit === undefined ? [] : [[place, audit] as const]))) };
};
