/** The TOML parser, loaded on first use, and made safe: plain numbers, ISO dates, tables without prototype. */
import { isTable } from '@svc/api';

export type ParseToml = (text: string) => Record<string, unknown>;

/** Says where and why a text is not TOML, without repeating the text: it may hold secrets. */
export class TomlProblem extends Error {
  override readonly name = 'TomlProblem';
  /** One-based. */
  readonly line: number | null;

  constructor(message: string, line: number | null) {
    super(message);
    this.line = line;
  }
}

export const loadToml = async (): Promise<ParseToml> => {
  const { default: toml } = await import('@iarna/toml');
  return (text) => {
    let tree: Record<string, unknown>;
    try {
      // The parser takes the first half of a Windows line end behind a comment for a control character.
      tree = toml.parse(text.replaceAll('\r\n', '\n'));
    } catch (error) {
      throw asProblem(error);
    }
    // A copy of a table is a table.
    return normal(tree, []) as Record<string, unknown>;
  };
};

const asProblem = (error: unknown): TomlProblem => {
  // The parser's message goes on with the row (its own counting) and an excerpt of the text.
  const reason = (error instanceof Error ? error.message : String(error)).split('\n')[0]?.replace(/ at row \d.*$/, '') ?? 'unreadable';
  const line = error instanceof Error && 'line' in error && typeof error.line === 'number' ? error.line + 1 : null;
  return new TomlProblem(reason, line);
};

const normal = (value: unknown, path: readonly string[]): unknown => {
  if (typeof value === 'bigint') throw new TomlProblem(`${path.join('.')} is an integer that is too large to be stored exactly`, null);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map((item, index) => normal(item, [...path, String(index)]));
  if (!isTable(value)) return value;
  const out: Record<string, unknown> = Object.create(null);
  for (const [key, inner] of Object.entries(value)) out[key] = normal(inner, [...path, key]);
  return out;
};
