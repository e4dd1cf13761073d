/** Names a call by what it asks: the same tool with the same arguments has the same digest, in whatever order the keys came. */
import { createHash } from 'node:crypto';

export const callDigest = (tool: string, args: unknown): string =>
  createHash('sha256')
    .update(`${tool}|${canonicalJson(args)}`)
    .digest('hex');

/** JSON with the keys of every object sorted. Arguments come from JSON: they hold no cycle, function or undefined. */
export const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return `{${entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`)
    .join(',')}}`;
};
