/** Conditions of steps: words that a text holds, and comparisons of a gate. */
import type { Plain } from '@svc/api';
import type { Gate } from './contract.js';
import { parsed } from './placeholders.js';

/** Case-insensitive text; `!` negates, `&&` binds tighter than `||`; an empty condition is true. */
export const holds = (condition: string, input: string): boolean => {
  const text = input.toLowerCase();
  const groups = condition.split('||').map((group) =>
    group
      .split('&&')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  );
  const filled = groups.filter((group) => group.length > 0);
  if (filled.length === 0) return true;
  return filled.some((group) => group.every((part) => (part.startsWith('!') ? !text.includes(part.slice(1).trim().toLowerCase()) : text.includes(part.toLowerCase()))));
};

/** False where the field is missing or null. */
export const passes = ({ field, op, value }: Plain<typeof Gate>, input: string): boolean => {
  const found = field === undefined || field === '' ? (parsed(input) ?? input) : pointedAt(parsed(input), field);
  if (found === undefined || found === null) return false;
  if (op === 'contains') return Array.isArray(found) ? found.some((one) => same(one, value)) : String(found).toLowerCase().includes(String(value).toLowerCase());
  if (op === 'eq') return same(found, value);
  if (op === 'ne') return !same(found, value);
  const [left, right] = [Number(found), Number(value)];
  if (Number.isNaN(left) || Number.isNaN(right)) return false;
  return op === 'gt' ? left > right : op === 'lt' ? left < right : op === 'gte' ? left >= right : left <= right;
};

const same = (left: unknown, right: unknown): boolean => (typeof left === 'object' || typeof right === 'object' ? JSON.stringify(left) === JSON.stringify(right) : String(left) === String(right));

/** RFC 6901. */
const pointedAt = (root: unknown, pointer: string): unknown =>
  pointer
    .replace(/^\//, '')
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((at, key) => (typeof at === 'object' && at !== null && Object.hasOwn(at, key) ? (at as Record<string, unknown>)[key] : undefined), root);
