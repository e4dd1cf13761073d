/** What is drawn by hand of prompt versions: one alone, with what differs from another. */
import { daemon, DiffView, Empty, type OutputOf, Section, Select, Shown, useLoaded, useState } from '@svc/kit';
import type { CollectionSlots, Item } from '@svc/kit/collection';
import { t } from './prompts/words.js';

type Version = OutputOf<'getPromptVersion'>;

const MOST = 100;

const OneVersion = ({ item }: { item: Item }) => {
  const one = item as unknown as Version;
  const all = useLoaded(`prompt versions ${one.agent_id}`, (signal) => daemon.call('listPromptVersions', { agent_id: one.agent_id, limit: MOST }, { signal }));
  return (
    <Section title={t('prompt')}>
      <pre class="code">{one.system_prompt}</pre>
      <Shown of={all} lines={6}>
        {({ versions }) => <Difference one={one} others={versions.filter(({ id }) => id !== one.id)} />}
      </Shown>
    </Section>
  );
};

const Difference = ({ one, others }: { one: Version; others: readonly Version[] }) => {
  const before = others.filter(({ version }) => version < one.version).sort((a, b) => b.version - a.version)[0] ?? others[0];
  const [chosen, choose] = useState(before?.id ?? '');
  const other = others.find(({ id }) => id === chosen);
  if (!other)
    return (
      <Empty icon="list-tree" title={t('alone')}>
        <p>{t('alone_text')}</p>
      </Empty>
    );
  return (
    <>
      <Select
        label={t('compare_with')}
        value={chosen}
        onValue={choose}
        options={others.map(({ id, version, description }) => ({ value: id, label: description === '' ? t('version', { version }) : `${t('version', { version })}: ${description}` }))}
      />
      <DiffView before={other.system_prompt} after={one.system_prompt} label={t('difference', { version: other.version })} />
    </>
  );
};

export const slots: CollectionSlots = { detail: (item) => <OneVersion key={String(item.id)} item={item} /> };
