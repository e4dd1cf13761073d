/**
 * Values of a JSON document by path, and templates that name them.
 *
 * T1  One pass: text that comes in for a placeholder is never read as one. What is unknown stays as it is written.
 */
export type Lookup = (path: string) => string | undefined;

const PLACEHOLDER = /\{\{([^{}]{1,200})\}\}/g;

export const render = (template: string, lookup: Lookup): string => template.replaceAll(PLACEHOLDER, (whole, path: string) => lookup(path.trim()) ?? whole);

/** `a.b.0.c`, also written `$.a.b[0].c`. A text as it is, null as nothing, anything else as JSON. */
export const valueAt = (document: unknown, path: string): string | undefined => {
  const keys = path
    .replace(/^\$\.?/, '')
    .replaceAll(/\[(\d+)\]/g, '.$1')
    .split('.')
    .filter(Boolean);
  let value = document;
  for (const key of keys) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
};
