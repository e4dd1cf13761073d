/** The settings by their sections: one section at a time, or all that are like what is sought. */
import { address, addressOf, Button, CheckField, Empty, go, SearchField, Section, Select, setQuery, type ComponentChildren } from '@svc/kit';
import { NewEntry } from './new-entry.js';
import { type Schema, titled } from '@svc/kit/collection';
import { type Document, isTable, schemaAt, type SectionShown, type Setting } from './schema.js';
import { drafts } from './drafts.js';
import { SettingRow } from './setting-row.js';
import { tablesInFile } from './toml.js';
import { t } from './words.js';

/** In the address, for settings above all sections. */
const TOP = 'general';

interface Chapter {
  readonly id: string;
  readonly title: string;
  readonly owner: string;
  readonly settings: readonly Setting[];
}

const topOf = (path: string): string => path.split('.', 1)[0] ?? path;

const chaptersOf = (sections: readonly SectionShown[], settings: readonly Setting[]): Chapter[] => {
  const byTop = new Map<string, Setting[]>();
  for (const setting of settings) byTop.set(topOf(setting.path), [...(byTop.get(topOf(setting.path)) ?? []), setting]);
  const loose = sections.filter(({ root_level }) => root_level).flatMap(({ key }) => byTop.get(key) ?? []);
  const chapters = sections.filter(({ root_level }) => !root_level).map(({ key, owner }): Chapter => ({ id: key, title: titled(key), owner, settings: byTop.get(key) ?? [] }));
  return [{ id: TOP, title: t('top_level'), owner: '', settings: loose }, ...chapters].filter(({ settings: own }) => own.length > 0);
};

const isLike = (root: Schema, { path }: Setting, words: string): boolean => {
  const text = `${path} ${path.replaceAll(/[_.]/g, ' ')} ${schemaAt(root, path).description ?? ''}`.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
};

export const Sections = ({ root, settings, isWritable, section }: { root: Document; settings: readonly Setting[]; isWritable: boolean; section: string }) => {
  const { q = '', set } = address.value.query;
  const chapters = chaptersOf(root['x-sections'], settings);
  const isSought = q.trim() !== '' || set === '1';
  const found = settings.filter((one) => isLike(root, one, q.trim()) && (set !== '1' || one.source !== 'default' || drafts.value.has(one.path)));
  const open = chapters.find(({ id }) => id === section) ?? chapters[0];
  return (
    <>
      <div class="config-tools">
        <SearchField label={t('search')} value={q} onValue={(text) => setQuery({ q: text })} />
        <CheckField label={t('only_set')} value={set === '1'} onValue={(yes) => setQuery({ set: yes ? '1' : undefined })} />
      </div>
      {isSought ? (
        found.length === 0 ? (
          <Empty icon="search" title={t('none')}>
            <Button onPress={() => setQuery({ q: undefined, set: undefined })}>{t('clear')}</Button>
          </Empty>
        ) : (
          <Groups root={root} settings={found} isWritable={isWritable} isWhole={false} />
        )
      ) : (
        open && (
          <div class="config-sections">
            <Contents chapters={chapters} open={open.id} />
            <div class="stack config-groups">
              {open.owner !== '' && open.owner !== 'kernel' && <p class="muted small-text">{t('read_by', { owner: open.owner })}</p>}
              <Groups root={root} settings={open.settings} isWritable={isWritable} isWhole />
            </div>
          </div>
        )
      )}
    </>
  );
};

/** A list beside the form where there is room, a choice above it where there is not. */
const Contents = ({ chapters, open }: { chapters: readonly Chapter[]; open: string }) => {
  const changed = new Set([...drafts.value.keys()].map(topOf));
  const mark = ({ id, settings }: Chapter): ComponentChildren => (settings.some(({ path }) => changed.has(topOf(path))) || changed.has(id) ? <span class="config-dot" title={t('changed')} /> : null);
  return (
    <>
      <nav class="config-contents" aria-label={t('sections')}>
        <ul class="config-list">
          {chapters.map((chapter) => (
            <li key={chapter.id}>
              <a href={addressOf('config', [chapter.id])} aria-current={chapter.id === open ? 'page' : undefined}>
                {chapter.title}
                {mark(chapter)}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div class="config-choice">
        <Select label={t('section')} value={open} onValue={(id) => go('config', [id])} options={chapters.map(({ id, title }) => ({ value: id, label: title }))} />
      </div>
    </>
  );
};

/** The table of the file in which a setting stands; one with free names is its own. */
const tableOf = (root: Schema, path: string): string => {
  if (isTable(schemaAt(root, path))) return path;
  const above = path.split('.').slice(0, -1);
  while (above.length > 1 && isTable(schemaAt(root, above.slice(0, -1).join('.')))) above.pop();
  return above.join('.');
};

const Groups = ({ root, settings, isWritable, isWhole }: { root: Schema; settings: readonly Setting[]; isWritable: boolean; isWhole: boolean }) => {
  const tables = new Map<string, Setting[]>();
  for (const setting of settings) {
    const table = tableOf(root, setting.path);
    tables.set(table, [...(tables.get(table) ?? []), setting]);
  }
  return (
    <>
      {[...tables].map(([table, rows]) => (
        <Section key={table} title={table === '' ? t('top_level') : <span class="mono">[{table}]</span>} note={table === '' ? undefined : schemaAt(root, table).description}>
          <div class="card config-rows">
            {rows
              .filter(({ path }) => !isTable(schemaAt(root, path)))
              .map((setting) => (
                <SettingRow key={setting.path} setting={setting} schema={schemaAt(root, setting.path)} isWritable={isWritable} tables={tablesInFile(settings)} />
              ))}
            {isTable(schemaAt(root, table)) && isWhole && <NewEntry root={root} table={table} rows={rows} isWritable={isWritable} />}
          </div>
        </Section>
      ))}
    </>
  );
};
