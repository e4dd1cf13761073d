/** A new extension: a folder with sources that build, and that pass the contract suite as they come. */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Manifest } from '@svc/api/internal';
import { authorErrors } from './errors.js';
import { channelTemplate } from './templates/channel.js';
import { commonFiles } from './templates/common-files.js';
import { hookTemplate } from './templates/hook.js';
import { panelTemplate } from './templates/panel.js';
import { providerTemplate } from './templates/provider.js';
import { routeTemplate } from './templates/route.js';
import { namesFrom, type Template } from './templates/template.js';
import { toolTemplate } from './templates/tool.js';

const TEMPLATES: Readonly<Record<string, Template>> = { route: routeTemplate, tool: toolTemplate, panel: panelTemplate, hook: hookTemplate, provider: providerTemplate, channel: channelTemplate };

export const TEMPLATE_NAMES: readonly string[] = Object.keys(TEMPLATES);

export interface Creation {
  readonly dir: string;
  readonly id: string;
  readonly template: string;
  /** Of @svc/api, which the new extension is written for. */
  readonly apiVersion: string;
  /** What npm installs by name, where it is not a version on a registry: `file:/opt/svc/…`. Asked for when nothing else is wrong. */
  packages?(): Promise<Readonly<Record<string, string>> | undefined>;
}

/** Resolves with the files it wrote. Rejects with `author_template`, `author_id` and `author_not_empty`, and writes nothing then. */
export const createExtension = async ({ dir, id, template, apiVersion, packages }: Creation): Promise<readonly string[]> => {
  const make = Object.hasOwn(TEMPLATES, template) ? TEMPLATES[template] : undefined;
  if (make === undefined) throw authorErrors.template(template);
  if (!isThirdPartiesId(id)) throw authorErrors.id(id);
  const before = await readdir(dir).catch(() => []);
  if (before.length > 0) throw authorErrors.not_empty(dir);
  const names = namesFrom(id);
  const parts = make(names);
  const files = { ...commonFiles(names, parts, apiVersion, await packages?.()), ...parts.files };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), text);
  }
  return Object.keys(files).sort();
};

/** Two words at least: the first is its publisher's. */
export const isThirdPartiesId = (id: string): boolean => id.includes('-') && id.length <= (maxLength ?? 0) && new RegExp(pattern ?? '$^').test(id);

const { pattern, maxLength } = Manifest.properties.id;
