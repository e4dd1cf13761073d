/**
 * Settings of a hand: what a person chose, and what holds.
 *
 * S1  A setting without a value has its default. What a person stored and the hand no longer knows is shown, and has no effect.
 * S2  Values are texts: true and false of a toggle, digits of a number.
 * S3  A setting that is an environment variable is neither stored nor put into a prompt: it may be a key.
 */
import { nearest } from '@svc/api';
import { handErrors } from './errors.js';
import type { Hand, Setting } from './hand-file.js';

export type Given = Readonly<Record<string, string | number | boolean | null>>;
export type Values = Readonly<Record<string, string>>;

const MAX_CHARS = 5_000;

/** `before` with what was given; null takes a value away. Throws `hands_unknown_setting`, `hands_bad_setting`, `hands_env_setting`. */
export const changedValues = (hand: Hand, before: Values, given: Given): Values => {
  const next = new Map(Object.entries(before));
  for (const [key, value] of Object.entries(given)) {
    const setting = hand.settings.find((one) => one.key === key);
    if (value === null) {
      if (!setting && !next.has(key)) throw unknown(hand, key);
      next.delete(key);
      continue;
    }
    if (!setting) throw unknown(hand, key);
    next.set(key, checkedValue(setting, value));
  }
  return Object.fromEntries(next);
};

const unknown = (hand: Hand, key: string) => {
  const [near] = nearest(
    key,
    hand.settings.map((one) => one.key),
    1,
  );
  return handErrors.unknown_setting(hand.id, key, near === undefined ? '' : ` Did you mean "${near}"?`);
};

const checkedValue = ({ key, setting_type: type, env_var: name, options = [] }: Setting, value: string | number | boolean): string => {
  if (name !== undefined) throw handErrors.env_setting(key, name);
  const text = String(value);
  if (text.length > MAX_CHARS) throw handErrors.bad_setting(key, `at most ${MAX_CHARS} characters long`);
  if (type === 'toggle' && text !== 'true' && text !== 'false') throw handErrors.bad_setting(key, 'true or false');
  if (type === 'number' && (text.trim() === '' || !Number.isFinite(Number(text)))) throw handErrors.bad_setting(key, 'a number');
  if (type === 'select' && !options.some((option) => option.value === text))
    throw handErrors.bad_setting(
      key,
      `one of ${options
        .slice(0, 20)
        .map((option) => `"${option.value}"`)
        .join(', ')}`,
    );
  return text;
};

const isUsable = (setting: Setting, value: string): boolean => setting.setting_type !== 'select' || (setting.options ?? []).some((option) => option.value === value);

const usualOf = ({ setting_type: type, default: usual, options = [] }: Setting): string => {
  const text = usual === undefined ? '' : String(usual);
  if (type === 'toggle') return text === 'true' ? 'true' : 'false';
  return type === 'select' && text === '' ? (options[0]?.value ?? '') : text;
};

/** What holds: each setting of the hand with a value. Those that are variables are left out. */
export const effectiveValues = (hand: Hand, values: Values): Values =>
  Object.fromEntries(
    hand.settings
      .filter(({ env_var: name }) => name === undefined)
      .map((setting) => {
        const chosen = values[setting.key];
        return [setting.key, chosen !== undefined && isUsable(setting, chosen) ? chosen : usualOf(setting)];
      }),
  );

export const unknownValues = (hand: Hand, values: Values): Values => Object.fromEntries(Object.entries(values).filter(([key]) => !hand.settings.some((one) => one.key === key)));
