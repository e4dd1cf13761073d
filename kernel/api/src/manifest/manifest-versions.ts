/** Forms of extension.json: the newest, and the one before it, which is read as if it had been written in the newest. */
import { UNREAD_FIELDS } from './deprecations.js';
import { isTable } from '../schema/schema-walk.js';

/** `"manifest"` of the newest form. */
export const MANIFEST_VERSION = 1;

type Json = Readonly<Record<string, unknown>>;

/** From the form of the key to the next: none while there was one form only. */
const STEPS: Readonly<Record<number, (manifest: Json) => Json>> = {};

/**
 * The manifest in the newest form, without unused fields. Invalid values and unknown forms are returned unchanged, for the schema to refuse.
 * `steps` and `newest` are this build's.
 */
export const inNewestForm = (value: unknown, steps: typeof STEPS = STEPS, newest: number = MANIFEST_VERSION): unknown => {
  if (!isTable(value)) return value;
  const step = value.manifest === newest - 1 ? steps[newest - 1] : undefined;
  return withoutUnread(step ? { ...step(value), manifest: newest } : value);
};

const withoutUnread = (manifest: Json): Json => {
  const isUnread = (name: string): boolean => UNREAD_FIELDS.some((field) => field === name);
  return Object.keys(manifest).some(isUnread) ? Object.fromEntries(Object.entries(manifest).filter(([name]) => !isUnread(name))) : manifest;
};
