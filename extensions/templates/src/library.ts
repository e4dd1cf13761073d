/**
 * Where templates come from.
 *
 * B1  A file of the home folder stands before the shipped template of its name, also when it is broken: nobody gets another agent than the one they wrote.
 * B2  A file that cannot be used keeps none of the others from being listed, and is named.
 * B3  A file that has not changed is not read again; at most 200 are looked at.
 */
import { type Dir, type DirEntry, isSvcError } from '@svc/api';
import type { Template } from '@svc/ext-agents/contract';
import { templateErrors } from './errors.js';
import { SHIPPED } from './shipped.js';

export const MAX_FILES = 200;
const MAX_BYTES = 1024 * 1024;
const MAX_KEPT = 500;
const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const ENDING = '.toml';

export interface Skipped {
  /** From the home folder. */
  readonly file: string;
  readonly error: string;
}

/** What the manifest of a template says. */
export interface Described<M> {
  readonly template: Template;
  readonly manifest: M;
}

export interface Library<M> {
  find(name: string): Promise<Template | undefined>;
  /** Throws `templates_unusable`, and what `find` throws. */
  described(name: string): Promise<Described<M> | undefined>;
  list(): Promise<{ readonly found: ReadonlyArray<Described<M>>; readonly skipped: readonly Skipped[] }>;
}

/** `read` validates a manifest; what it throws for people is why a template is unusable. */
export const createLibrary = <M>(home: Dir, read: (text: string) => Promise<M>): Library<M> => {
  const kept = new Map<string, { readonly stamp: string; readonly described: Described<M> }>();

  const validated = async (stamp: string, name: string, load: () => Template | Promise<Template>): Promise<Described<M>> => {
    const known = kept.get(name);
    if (known?.stamp === stamp) return known.described;
    const template = await load();
    const described = { template, manifest: await manifestOf(template, read) };
    if (kept.size >= MAX_KEPT) kept.clear();
    kept.set(name, { stamp, described });
    return described;
  };

  const describedBy = async (name: string, entry: DirEntry | undefined): Promise<Described<M> | undefined> => {
    if (entry) return validated(`${entry.modifiedAt} ${entry.sizeBytes}`, name, () => fileTemplate(home, name, entry));
    const text = SHIPPED.get(name);
    return text === undefined ? undefined : validated('shipped', name, () => shipped(name, text));
  };

  return {
    find: async (name) => {
      if (!NAME.test(name)) return undefined;
      const entry = await fileOf(home, name);
      if (entry) return fileTemplate(home, name, entry);
      const text = SHIPPED.get(name);
      return text === undefined ? undefined : shipped(name, text);
    },
    described: async (name) => (NAME.test(name) ? describedBy(name, await fileOf(home, name)) : undefined),
    list: async () => {
      const { files, skipped } = await filesIn(home);
      const found: Array<Described<M>> = [];
      for (const name of [...new Set([...SHIPPED.keys(), ...files.keys()])].sort()) {
        try {
          const one = await describedBy(name, files.get(name));
          if (one) found.push(one);
        } catch (error) {
          if (!isSvcError(error)) throw error;
          skipped.push({ file: pathOf(name), error: error.message });
        }
      }
      return { found, skipped };
    },
  };
};

/** From the home folder. */
export const pathOf = (name: string): string => `templates/${name}${ENDING}`;

const shipped = (name: string, manifestToml: string): Template => ({ name, source: 'shipped', manifestToml });

const manifestOf = async <M>({ name, manifestToml }: Template, read: (text: string) => Promise<M>): Promise<M> => {
  try {
    return await read(manifestToml);
  } catch (error) {
    if (!isSvcError(error) || error.status >= 500) throw error;
    throw templateErrors.unusable(name, error.message).with({ cause: error, details: error.details });
  }
};

const fileOf = async (home: Dir, name: string): Promise<DirEntry | undefined> => {
  const entry = await home.stat(`${name}${ENDING}`);
  return entry?.kind === 'file' ? entry : undefined;
};

const fileTemplate = async (home: Dir, name: string, { sizeBytes }: DirEntry): Promise<Template> => {
  if (sizeBytes > MAX_BYTES) throw templateErrors.too_large(name, sizeBytes, MAX_BYTES);
  const data = await home.read(`${name}${ENDING}`, { maxBytes: MAX_BYTES });
  try {
    return { name, source: 'home', manifestToml: new TextDecoder('utf-8', { fatal: true }).decode(data) };
  } catch (error) {
    throw templateErrors.unreadable(name).with({ cause: error });
  }
};

/** The files there by the names of their templates, and what cannot be one. */
const filesIn = async (home: Dir): Promise<{ files: Map<string, DirEntry>; skipped: Skipped[] }> => {
  const skipped: Skipped[] = [];
  const files = new Map<string, DirEntry>();
  for (const entry of await home.list()) {
    if (entry.kind !== 'file' || !entry.name.endsWith(ENDING)) continue;
    const name = entry.name.slice(0, -ENDING.length);
    if (!NAME.test(name)) skipped.push({ file: `templates/${entry.name}`, error: 'The name of a template has 1 to 64 letters, digits, - and _.' });
    else if (files.size >= MAX_FILES) skipped.push({ file: `templates/${entry.name}`, error: `At most ${MAX_FILES} templates are looked at.` });
    else files.set(name, entry);
  }
  return { files, skipped };
};
