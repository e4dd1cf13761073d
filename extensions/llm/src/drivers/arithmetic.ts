/** Sums, by recursive descent: + - * / % ^, brackets, decimals. Nothing is evaluated as code. */

const MAX_CHARS = 200;
const MAX_DEPTH = 50;

interface Reader {
  readonly text: string;
  at: number;
  depth: number;
}

/** The value, or undefined when the text is not a sum. */
export const calculate = (text: string): number | undefined => {
  if (text.length > MAX_CHARS) return undefined;
  const reader: Reader = { text: text.replaceAll(/\s+/g, '').replaceAll('×', '*').replaceAll('÷', '/'), at: 0, depth: 0 };
  const value = sum(reader);
  return reader.at === reader.text.length && value !== undefined && Number.isFinite(value) ? tidy(value) : undefined;
};

/** 0.1 + 0.2 is 0.3 to a person. */
const tidy = (value: number): number => Number(value.toPrecision(12));

const sum = (reader: Reader): number | undefined => {
  let left = product(reader);
  for (let sign = reader.text[reader.at]; left !== undefined && (sign === '+' || sign === '-'); sign = reader.text[reader.at]) {
    reader.at++;
    const right = product(reader);
    if (right === undefined) return undefined;
    left = sign === '+' ? left + right : left - right;
  }
  return left;
};

const product = (reader: Reader): number | undefined => {
  let left = power(reader);
  for (let sign = reader.text[reader.at]; left !== undefined && (sign === '*' || sign === '/' || sign === '%'); sign = reader.text[reader.at]) {
    reader.at++;
    const right = power(reader);
    if (right === undefined) return undefined;
    left = sign === '*' ? left * right : sign === '/' ? left / right : left % right;
  }
  return left;
};

/** Binds to the right: 2^3^2 is 512. A sign before it applies to the whole power, as in -2^2 = -4. */
const power = (reader: Reader): number | undefined => {
  if (++reader.depth > MAX_DEPTH) return undefined;
  try {
    if (reader.text[reader.at] === '-') {
      reader.at++;
      const negated = power(reader);
      return negated === undefined ? undefined : -negated;
    }
    const base = atom(reader);
    if (base === undefined || reader.text[reader.at] !== '^') return base;
    reader.at++;
    const exponent = power(reader);
    return exponent === undefined ? undefined : base ** exponent;
  } finally {
    reader.depth--;
  }
};

const atom = (reader: Reader): number | undefined => {
  if (reader.text[reader.at] === '(') {
    reader.at++;
    const inner = sum(reader);
    if (reader.text[reader.at] !== ')') return undefined;
    reader.at++;
    return inner;
  }
  const digits = /^(\d+\.?\d*|\.\d+)/.exec(reader.text.slice(reader.at))?.[0];
  if (digits === undefined) return undefined;
  reader.at += digits.length;
  return Number(digits);
};
