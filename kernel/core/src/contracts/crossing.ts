/**
 * What crosses to or from code of another build crosses as a copy: nobody changes afterwards what somebody else has
 * validated, keeps or shows to others. What one build made shares its data, as the compiler has seen both sides.
 *
 * X1  A copy holds plain data only: no function, class instance, accessor or trap gets through.
 * X2  A frozen object of scalars is the same for all, and stays itself: sealed writes and actors are known by identity.
 */
import { SvcError } from '@svc/api';

const MAX_DEPTH = 100;

/** Throws `contract_mismatch` for what is no plain data. */
export const plainCopy = (value: unknown, where: string, depth = 0): unknown => {
  if (typeof value === 'function' || typeof value === 'symbol') throw notPlain(where, `a ${typeof value}`);
  if (typeof value !== 'object' || value === null || isFixed(value)) return value;
  if (depth > MAX_DEPTH) throw notPlain(where, `data ${MAX_DEPTH} levels deep`);
  if (value instanceof Uint8Array) return Uint8Array.from(value);
  if (Array.isArray(value)) return Array.from(value, (item) => plainCopy(item, where, depth + 1));
  const prototype: unknown = Object.getPrototypeOf(value);
  // Objects of another realm (a worker's, a test's) are plain, too, when nothing stands above their prototype.
  if (typeof prototype === 'object' && prototype !== null && Object.getPrototypeOf(prototype) !== null) throw notPlain(where, 'an instance of a class');
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plainCopy(inner, where, depth + 1)]));
};

/** Nothing in it can change, by whatever means. */
const isFixed = (value: object): boolean =>
  Object.isFrozen(value) &&
  !Array.isArray(value) &&
  Object.values(Object.getOwnPropertyDescriptors(value)).every((one) => 'value' in one && typeof one.value !== 'object' && typeof one.value !== 'function');

const notPlain = (where: string, what: string): SvcError =>
  new SvcError('contract_mismatch', `${where} is not plain data: it contains ${what}.`, { status: 500, hint: 'What crosses between areas is plain data: texts, numbers, lists and objects of them.' });
