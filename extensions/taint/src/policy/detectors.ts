/**
 * Secrets and personal details in what is about to leave, by the rule ids of the interface.
 *
 * D1  A finding names the rule. The value is never part of it.
 */
import { KEY_BEGINNING, type TaintLabel } from '@svc/api';
import type { Leaf } from './arguments.js';
import { decodedForms, readable } from './normal-text.js';

export interface Detected {
  readonly rule: string;
  readonly label: Extract<TaintLabel, 'Secret' | 'Pii'>;
  /** For a comparison with what the person wrote; never shown. */
  readonly value: string;
}

interface Detector {
  readonly rule: string;
  readonly label: Detected['label'];
  readonly pattern: RegExp;
  readonly holds?: (match: string) => boolean;
}

const SECRET_NAME =
  '(?:api[_-]?key|apikey|access[_-]?key|secret(?:[_-]?key)?|client[_-]?secret|access[_-]?token|auth[_-]?token|refresh[_-]?token|bearer|token|password|passwd|pwd|private[_-]?key|session[_-]?id)';

const DETECTORS: readonly Detector[] = [
  { rule: 'authorization_literal', label: 'Secret', pattern: /\bauthorization\s*:\s*\S{4,}/gi },
  { rule: 'key_value_secret', label: 'Secret', pattern: new RegExp(`(?<![a-z])${SECRET_NAME}["']?\\s*[=:]\\s*["']?[^\\s"'&]{6,}`, 'gi') },
  { rule: 'well_known_prefix', label: 'Secret', pattern: new RegExp(String.raw`(?<![\w-])${KEY_BEGINNING}[\w-]{10,}`, 'g'), holds: isNoName },
  { rule: 'opaque_token', label: 'Secret', pattern: /(?<![\w/+.-])[\w+=.~-]{32,512}(?![\w/+.-])/g, holds: isOpaque },
  { rule: 'pii_email', label: 'Pii', pattern: /[a-z0-9][a-z0-9._%+-]{0,63}@(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}\b/gi },
  { rule: 'pii_ssn', label: 'Pii', pattern: /(?<![\d-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])/g },
  { rule: 'pii_credit_card', label: 'Pii', pattern: /(?<!\d)\d(?:[ -]?\d){12,18}(?!\d)/g, holds: isCardNumber },
  { rule: 'pii_phone', label: 'Pii', pattern: /(?<![\w.])(?:\+\d{1,3}[ .-]?(?:\(?\d{1,4}\)?[ .-]?){2,5}\d{2,4}|\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4})(?!\w)/g },
];

const SENSITIVE_KEY = new RegExp(`^(?:authorization|proxy-authorization|cookie|set-cookie|x-api-key|${SECRET_NAME})$`, 'i');

/** What of these labels stands in the values. Parts that are encoded are looked at decoded, too. */
export const detect = (leaves: readonly Leaf[], labels: ReadonlySet<TaintLabel>): Detected[] => {
  const found: Detected[] = [];
  for (const { key, text } of leaves) {
    if (labels.has('Secret') && SENSITIVE_KEY.test(key) && text.length >= 6) found.push({ rule: 'sensitive_key_name', label: 'Secret', value: text });
    for (const form of [readable(text), ...decodedForms(text)]) {
      for (const { rule, label, pattern, holds } of DETECTORS) {
        if (!labels.has(label)) continue;
        for (const [value] of form.matchAll(pattern)) if (holds?.(value) ?? true) found.push({ rule, label, value });
      }
    }
  }
  return found;
};

/** Letters of both cases with digits. Words with hyphens, hashes in hexadecimal and UUIDs are no tokens. */
function isOpaque(token: string): boolean {
  return /[a-z]/.test(token) && /[A-Z]/.test(token) && (token.match(/\d/g)?.length ?? 0) >= 3 && !/^[a-z]+(?:[-_.][a-z]+)+$/i.test(token);
}

/** `fw-` may begin a name as well: it counts with a digit or capitals within. */
function isNoName(token: string): boolean {
  return /\d|[a-z][A-Z]|^(?:sk|gh[opsur]|AKIA|AIza|xox)/.test(token);
}

/** Luhn's check digit, and the first digit of a card network. */
function isCardNumber(text: string): boolean {
  const digits = text.replace(/\D/g, '');
  if (!/^[2-6]/.test(digits) || /^(\d)\1+$/.test(digits)) return false;
  let sum = 0;
  for (let at = 0; at < digits.length; at += 1) {
    const digit = Number(digits[digits.length - 1 - at]);
    sum += at % 2 === 1 ? (digit > 4 ? digit * 2 - 9 : digit * 2) : digit;
  }
  return sum % 10 === 0;
}
