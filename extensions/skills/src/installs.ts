/** From a request to an installed skill. */
import type { Actor, ExtensionContext } from '@svc/api';
import type { Installed, InstallChoices, SkillPlan } from './contract.js';
import { skillErrors } from './errors.js';
import { type FetchedSkill, fetchSkill, ofDownload, type SourceContext } from './install/sources.js';
import type { Entry, Library } from './library.js';
import { filesOfSkill } from './install/pack.js';
import { secretName } from './run/script-tools.js';

export interface Wanted {
  readonly source?: string;
  readonly name?: string;
  readonly path?: string;
}

export interface HubDownload {
  readonly type: 'skillhub' | 'skillhub-cn';
  readonly slug: string;
  readonly version: string;
  readonly owner?: string;
  readonly name: string;
  readonly data: string;
}

export interface FolderFiles {
  readonly from: string;
  readonly folder: string;
  readonly files: ReadonlyArray<{ readonly path: string; readonly data: string }>;
}

type Credentials = Readonly<Record<string, string>> | undefined;

export interface Installs {
  plan(wanted: Wanted): Promise<SkillPlan>;
  install(actor: Actor, wanted: Wanted, choices: InstallChoices, credentials: Credentials): Promise<Installed>;
  put(actor: Actor, fetched: FetchedSkill, choices: InstallChoices, credentials: Credentials): Promise<Installed>;
  /** Files of a folder that somebody else has read. */
  ofFiles(folder: FolderFiles): FetchedSkill;
  ofHub(download: HubDownload): Promise<FetchedSkill>;
  /** Its stored values go with it. */
  uninstall(name: string): Promise<string>;
}

export const createInstalls = ({ ctx, library }: { readonly ctx: SourceContext & Pick<ExtensionContext, 'secrets'>; readonly library: Library }): Installs => {
  const fetched = ({ source, name, path }: Wanted): Promise<FetchedSkill> => {
    if ((source === undefined) === (name === undefined)) throw skillErrors.bad_source(source ?? '', source === undefined ? '`source` is missing' : '`source` and `name` cannot be used together');
    return fetchSkill(ctx, source ?? name ?? '', path);
  };
  const put: Installs['put'] = async (actor, skill, choices, credentials = {}) => {
    const entry = await library.install(actor, skill, choices);
    for (const [variable, value] of Object.entries(credentials)) await ctx.secrets.put(secretName(entry.name, variable), value);
    return installedAs(entry);
  };
  return {
    plan: async (wanted) => library.plan(await fetched(wanted)),
    install: async (actor, wanted, choices, credentials) => put(actor, await fetched(wanted), choices, credentials),
    put,
    ofFiles: ({ from, folder, files }) => {
      const found = filesOfSkill(
        files.map(({ path, data }) => ({ path, bytes: Buffer.from(data, 'base64'), isProgram: false })),
        undefined,
        from,
      );
      return { source: { type: 'local', from }, files: found.files, folder: found.folder || folder };
    },
    ofHub: ({ type, slug, version, owner, name, data }) => ofDownload({ type, slug, version, ...(owner === undefined ? {} : { owner }) }, Buffer.from(data, 'base64'), name),
    uninstall: async (name) => {
      const { name: own } = library.get(name);
      await library.uninstall(own);
      for (const secret of await ctx.secrets.list(secretName(own, ''))) await ctx.secrets.delete(secret);
      return own;
    },
  };
};

const installedAs = ({ name, skill, row, findings }: Entry): Installed => ({
  name,
  version: skill?.version ?? '',
  digest: row?.digest ?? '',
  hasPrograms: skill?.program !== undefined,
  file: skill?.file ?? '',
  warnings: [
    ...(skill?.warnings ?? []).map(({ line, message }) => `${skill?.file ?? ''}, line ${line}: ${message}.`),
    ...findings.map(({ rule, file, line, message }) => `${file}, line ${line}: ${message} (${rule})`),
  ],
});
