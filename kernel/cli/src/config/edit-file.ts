/** `svc config edit`: a copy in an editor, validated as the daemon validates it, then put in the place of the file. */
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { resolveHome } from '@svc/platform/config/home';
import type { Cli, Outcome } from '../cli.js';
import { EXIT } from '../exit-codes.js';
import { Failure } from '../failure.js';
import { validateLocally, type LocalConfig } from '../local-config.js';
import { confirm } from '../terminal/asking.js';
import { runEditor } from '../terminal/editor.js';
import { refusedAsFailure } from './settings-source.js';

export const edit = async (cli: Cli, report: (local: LocalConfig) => void): Outcome => {
  const { openForEdit, replaceText } = await import('@svc/platform/config/file/replace-file');
  const { FIRST_TEXT } = await import('@svc/platform/config/settings/first-config');
  const { configFile, home } = cli.settings;
  const file = await refusedAsFailure(() => openForEdit(configFile));
  await mkdir(home, { recursive: true, mode: 0o700 });
  // Beside the file: what is in it is for the same eyes.
  const folder = await mkdtemp(path.join(home, '.edit-'));
  const copy = path.join(folder, 'config.toml');
  const before = file.exists ? file.text : FIRST_TEXT;
  try {
    await writeFile(copy, before, { mode: 0o600 });
    const text = await edited(cli, copy, report);
    if (text === before) {
      if (cli.json) cli.out.json({ status: 'unchanged', file: configFile });
      else cli.out.line('Nothing was changed.');
      return EXIT.ok;
    }
    await refusedAsFailure(() => replaceText(file, text)).catch((error: unknown) => refuse(error, copy, configFile));
    if (cli.json) cli.out.json({ status: 'written', file: configFile });
    else cli.out.line(`${cli.out.green('✓')} ${configFile} is written${cli.settings.daemonFile() === undefined ? '' : '; the daemon reads it now'}`);
    return EXIT.ok;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** What the person leaves in the copy once it holds. Throws when they give up. */
const edited = async (cli: Cli, copy: string, report: (local: LocalConfig) => void): Promise<string> => {
  for (;;) {
    await runEditor(cli, copy, 'svc config edit');
    const text = (await readFile(copy, 'utf8')).replace(/^\uFEFF/, '');
    const local = await validateLocally(cli.settings, cli.distDir, { text, unreadable: undefined });
    const refusal = local.problems.some(({ severity }) => severity === 'error') ? 'Your changes are invalid.' : await startRefused(cli, local);
    if (refusal === undefined) {
      if (local.problems.length > 0 && !cli.json) report(local);
      return text;
    }
    if (!cli.json) report(local);
    const isAgain = cli.out.canAsk && !cli.json && !cli.yes && (await confirm(cli, `${refusal} Back to the editor?`));
    if (isAgain) continue;
    const said = cli.json ? ` ${local.problems.map(({ message }) => message).join('; ')}` : '';
    return refuse(new Failure(refusal + said, { code: 'cli_config_invalid' }), copy, cli.settings.configFile);
  }
};

const startRefused = async (cli: Cli, { claims, values }: LocalConfig): Promise<string | undefined> => {
  const { startRefusal } = await import('@svc/platform/config/open-network');
  return startRefusal(cli.settings.env, () => claims, resolveHome(cli.settings.env))((section) => values.get(section));
};

/** The file stays; the work of the person is kept beside it. */
const refuse = async (error: unknown, copy: string, configFile: string): Promise<never> => {
  if (!(error instanceof Failure)) throw error;
  const kept = `${configFile}.rejected`;
  await copyFile(copy, kept);
  throw new Failure(error.message, { code: error.code, why: `${configFile} is as it was; your text is in ${kept}`, fix: error.fix ?? `svc config edit   or correct ${kept} and put it in place` });
};
