/** Reads values of any shape, as answers of providers have them. */
import { isTable } from '@svc/api';
import { mediaErrors } from '../errors.js';
import type { MadeFile } from './driver.js';
import type { Json } from './driver.js';

export const textAt = (value: unknown, ...path: ReadonlyArray<string | number>): string | undefined => {
  const found = at(value, path);
  return typeof found === 'string' && found !== '' ? found : undefined;
};

export const numberAt = (value: unknown, ...path: ReadonlyArray<string | number>): number | undefined => {
  const found = at(value, path);
  const number = typeof found === 'string' && found !== '' ? Number(found) : found;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
};

export const listAt = (value: unknown, ...path: ReadonlyArray<string | number>): readonly unknown[] => {
  const found = at(value, path);
  return Array.isArray(found) ? found : [];
};

const at = (value: unknown, path: ReadonlyArray<string | number>): unknown => {
  let found = value;
  for (const name of path) {
    if (Array.isArray(found) && typeof name === 'number') found = found[name];
    else if (isTable(found)) found = found[name];
    else return undefined;
  }
  return found;
};

/** Throws where a provider answered without what was asked for. */
export const neededText = (provider: string, body: Json, ...path: ReadonlyArray<string | number>): string => {
  const found = textAt(body, ...path);
  if (found === undefined) throw mediaErrors.upstream_failed(provider, `its answer has no ${path.join('.')}`);
  return found;
};

export const base64File = (data: string, type?: string): MadeFile => ({ data: Buffer.from(data, 'base64'), type });
export const hexFile = (data: string, type?: string): MadeFile => ({ data: Buffer.from(data, 'hex'), type });

/** What is undefined is left out. */
export const given = (values: Readonly<Record<string, unknown>>): Record<string, unknown> => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

/** The one of these sizes whose form is nearest; of equal ones, the first. */
export const nearestSize = (sizes: readonly string[], width: number | undefined, height: number | undefined): string | undefined => {
  if (width === undefined && height === undefined) return undefined;
  const wanted = Math.log((width ?? height ?? 1) / (height ?? width ?? 1));
  const off = (size: string): number => {
    const [wide = 1, high = 1] = size.split('x').map(Number);
    return Math.abs(Math.log(wide / high) - wanted);
  };
  return sizes.toSorted((a, b) => off(a) - off(b))[0];
};

export const AUDIO_TYPES: Readonly<Record<string, string>> = { mp3: 'audio/mpeg', wav: 'audio/wav', opus: 'audio/ogg', flac: 'audio/flac' };
