/** What an extension says of itself before it runs, and the refusal of what it did not say. */
import type { Manifest } from '@svc/api/internal';
import { daemonErrors } from '../errors.js';

/** Throws `daemon_not_declared`, naming the field of extension.json and what to add there. */
export const requireDeclared = (manifest: Manifest, field: string, names: readonly string[], name: string): void => {
  if (names.some((one) => one === name || (one.endsWith(':*') && name.startsWith(one.slice(0, -1))))) return;
  throw daemonErrors.not_declared(manifest.id, name, field);
};

/** A declaration as it is read once: one that reads otherwise the second time would be validated by one name and used by another. */
export const still = <D extends object>(decl: D): D => Object.freeze({ ...decl });

export const keysOfRecord = (record: Readonly<Record<string, unknown>> | undefined): string[] => Object.keys(record ?? {});
