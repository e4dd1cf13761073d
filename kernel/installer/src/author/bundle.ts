/** One CommonJS file from the sources of an extension: everything in it but @svc/api and the modules of Node. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BuildFailure, BuildOptions, BuildResult } from 'esbuild';
import { authorErrors } from './errors.js';

/** What of esbuild is used. */
export interface Bundler {
  build(options: BuildOptions): Promise<BuildResult>;
}

export const BUNDLE = 'dist/index.js';
const ENTRIES = ['src/index.ts', 'src/index.mts', 'src/index.js', 'src/index.mjs'];

/** The esbuild of the folder, of its @svc/testing, or of `beside`. Rejects with `author_no_bundler`. */
export const findBundler = async (dir: string, beside: string): Promise<Bundler> => {
  const own = createRequire(join(dir, 'package.json'));
  const places = [own, ...[placeOf(own, '@svc/testing/package.json')].flatMap((file) => (file === undefined ? [] : [createRequire(file)])), createRequire(beside)];
  const file = places.map((place) => placeOf(place, 'esbuild')).find((found) => found !== undefined);
  if (file === undefined) throw authorErrors.no_bundler(dir);
  const { default: bundler } = (await import(pathToFileURL(file).href)) as { default: Bundler };
  return bundler;
};

/** Undefined where it is not installed. */
export const placeOf = (from: NodeJS.Require, name: string): string | undefined => {
  try {
    return from.resolve(name);
  } catch {
    return undefined;
  }
};

/** Resolves with the source files that went in, relative to the folder. Rejects with `author_bundle`, and leaves the bundle as it was. */
export const bundle = async (dir: string, bundler: Bundler): Promise<readonly string[]> => {
  const entry = ENTRIES.find((file) => existsSync(join(dir, file)));
  if (entry === undefined) throw authorErrors.no_extension(dir, 'src/index.ts');
  try {
    const { metafile } = await bundler.build({
      absWorkingDir: dir,
      entryPoints: [entry],
      outfile: BUNDLE,
      bundle: true,
      platform: 'node',
      format: 'cjs',
      target: 'node20',
      // The daemon compiles the file and keeps what was compiled: code of that kind cannot import.
      supported: { 'dynamic-import': false },
      external: ['@svc/api'],
      charset: 'utf8',
      legalComments: 'inline',
      metafile: true,
      logLevel: 'silent',
    });
    return Object.keys(metafile?.inputs ?? {}).filter((file) => !file.includes('node_modules'));
  } catch (error) {
    throw explained(error);
  }
};

/** `author_bundle`, with the lines that the bundler names. */
export const explained = (error: unknown): Error =>
  authorErrors.bundle(isFailure(error) ? error.errors.map(({ location, text }) => (location ? `${location.file}:${location.line} ${text}` : text)) : [String(error)]);

const isFailure = (error: unknown): error is BuildFailure => error instanceof Error && 'errors' in error && Array.isArray(error.errors) && error.errors.length > 0;
