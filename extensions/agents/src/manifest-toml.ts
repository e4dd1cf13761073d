/** Reads the text of an agent.toml, and finds the line of a key again for messages. */
import { agentErrors } from './errors.js';
import { lineOfDeepKey } from './toml-depth.js';

export const MAX_MANIFEST_BYTES = 1024 * 1024;

/** Throws `manifest_too_large` and `agents_invalid_manifest` with the line, counted from one. */
export const parseManifestToml = async (text: string): Promise<Record<string, unknown>> => {
  checkManifestSize(text);
  const deep = lineOfDeepKey(text);
  if (deep !== undefined) throw agentErrors.agents_invalid_manifest('a key has more parts than any manifest needs', deep);
  const { default: toml } = await import('@iarna/toml');
  try {
    return toml.parse(text);
  } catch (error) {
    throw agentErrors.agents_invalid_manifest(`it is not TOML: ${reasonOf(error)}`, lineOfError(error)).with({ cause: error });
  }
};

export const checkManifestSize = (text: string): void => {
  const bytes = new TextEncoder().encode(text).length;
  if (bytes > MAX_MANIFEST_BYTES) throw agentErrors.manifest_too_large(bytes, MAX_MANIFEST_BYTES);
};

/** The parser appends an excerpt of the source and a place of its own; only the reason is kept. */
const reasonOf = (error: unknown): string => {
  const first = (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
  return first.replace(/ at row \d+, col \d+, pos \d+:?$/, '').replace(/[.:]$/, '');
};

/** The parser counts lines from zero in `line`. */
const lineOfError = (error: unknown): number | null => (typeof error === 'object' && error !== null && 'line' in error && typeof error.line === 'number' ? error.line + 1 : null);

/** The line of `path` such as ['model', 'temperature'], or of its section; null when it is written some other way. */
export const lineOfKey = (text: string, path: readonly string[]): number | null => {
  const key = path.at(-1) ?? '';
  const section = path.slice(0, -1).join('.');
  const assignment = new RegExp(`^\\s*"?${escaped(key)}"?\\s*[.=]`);
  let current = '';
  let sectionLine: number | null = null;
  for (const [index, line] of text.split('\n').entries()) {
    const header = /^\s*\[\[?([^[\]]+)\]/.exec(line)?.[1]?.trim();
    if (header) {
      current = header;
      if (current === path.join('.')) return index + 1;
      if (current === section) sectionLine = index + 1;
    } else if (current === section && assignment.test(line)) {
      return index + 1;
    }
  }
  return sectionLine;
};

const escaped = (text: string): string => text.replace(/[^\w]/g, '\\$&');
