/** A manifest as a person wrote it, and what the daemon says is wrong with it. */
import { Failure, TomlProblem, loadToml, readStdin } from '@svc/cli/area';
import { readFile } from 'node:fs/promises';
import { isTable } from '@svc/api';

export type Table = Readonly<Record<string, unknown>>;

/** `-` is stdin. */
export const readManifest = async (file: string): Promise<string> => {
  if (file === '-') return readStdin();
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new Failure(`The manifest ${file} cannot be read.`, { code: 'cli_manifest_unreadable', why: error instanceof Error ? error.message : String(error), fix: 'give the path of an agent.toml' });
  }
};

/** Throws a failure that names the line. */
export const parsedManifest = async (text: string, file: string): Promise<Table> => {
  try {
    return (await loadToml())(text);
  } catch (error) {
    if (!(error instanceof TomlProblem)) throw error;
    const problem = { line: error.line, key: '', message: `it is not TOML: ${error.message.replace(/\.$/, '')}` };
    throw new Failure(`${file} is not a manifest${problem.line === null ? '' : ` (line ${problem.line})`}: ${problem.message}.`, { code: 'cli_manifest_invalid', details: { problems: [problem] } });
  }
};

interface Problem {
  readonly line: number | null;
  readonly message: string;
}

const isProblem = (value: unknown): value is Problem => isTable(value) && typeof value.message === 'string' && (value.line === null || typeof value.line === 'number');

/** What was wrong with the manifest, one line each; undefined where the failure is another. */
export const problemsOf = ({ details }: Failure): string[] | undefined => {
  const { problems } = isTable(details) ? details : {};
  if (!Array.isArray(problems)) return undefined;
  const found: readonly unknown[] = problems;
  const known = found.filter(isProblem);
  return known.length === 0 ? undefined : known.map(({ line, message }) => `${line === null ? '' : `line ${line}: `}${message}`);
};
