/** config.toml validated here, with the daemon's own rules: what is wrong is known without a daemon, and without its key. */
import { errnoOf } from '@svc/platform/config/errno';
import { readFile } from 'node:fs/promises';
import type { JsonSchema } from '@svc/api';
import path from 'node:path';
import type { ConfigText } from '@svc/platform/config/file/config-file';
import type { ConfigProblem } from '@svc/platform/config/evaluate';
import type { SectionClaims } from '@svc/platform/config/kernel-sections';
import type { Settings } from './settings.js';

export interface LocalConfig {
  /** Null when there is no file, or none that can be read. */
  readonly text: string | null;
  readonly unreadable: string | undefined;
  /** False where it could not be read at all, or is no TOML. */
  readonly isRead: boolean;
  readonly problems: readonly ConfigProblem[];
  /** By section, `[api]` as `api`, a top-level key as `/api_key`. */
  readonly values: ReadonlyMap<string, unknown>;
  readonly claims: SectionClaims;
}

/** Evaluates the file as the daemon would, against the sections that the built extensions claim. */
export const readLocalConfig = async (settings: Settings, distDir: string): Promise<LocalConfig> => {
  const { readConfigFile } = await import('@svc/platform/config/file/config-file');
  return validateLocally(settings, distDir, await readConfigFile(settings.configFile));
};

/** The same of a text that is not in the file, or not yet. */
export const validateLocally = async (settings: Settings, distDir: string, { text, unreadable }: ConfigText): Promise<LocalConfig> => {
  const [{ evaluate }, { aliasesOf, allClaims }, { readEnvLayer }] = await Promise.all([
    import('@svc/platform/config/evaluate'),
    import('@svc/platform/config/claims'),
    import('@svc/platform/config/environment/env-layer'),
  ]);
  const claims: SectionClaims = allClaims(await extensionClaims(distDir));
  const { problems, values, isFileRead } = await evaluate({
    file: settings.configFile,
    text,
    unreadable,
    env: readEnvLayer(settings.env, aliasesOf(claims)),
    claims,
    ready: undefined,
    good: {},
    providers: {},
  });
  // As the file is read: from the top.
  return { text, unreadable, isRead: isFileRead, problems: [...problems].sort((a, b) => (a.line ?? 0) - (b.line ?? 0)), values, claims };
};

/** The sections of first-party extensions, as the build wrote them down. */
export const extensionClaims = async (distDir: string): Promise<SectionClaims> => {
  let text: string;
  try {
    text = await readFile(path.join(distDir, 'release.json'), 'utf8');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return {}; // not built yet: the kernel's own sections are validated
    throw error;
  }
  const release = JSON.parse(text) as { extensions?: ReadonlyArray<{ id: string; contributions?: { config?: Record<string, JsonSchema> } }> }; // written by tools/build.mjs
  const claims = (release.extensions ?? []).flatMap(({ id, contributions }) => Object.entries(contributions?.config ?? {}).map(([name, schema]) => [name, { schema, owner: id }] as const));
  return Object.fromEntries(claims);
};
