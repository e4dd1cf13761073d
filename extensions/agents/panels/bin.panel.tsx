import { address, definePanel, PanelBody, PanelHead, setQuery, Tabs } from '@svc/kit';
import { BinList } from './bin/bin-list.js';
import { KINDS } from './bin/kinds.js';
import { t } from './bin/words.js';

/** `#/bin?of=agents`: what was deleted and can come back. */
const Bin = () => {
  const kind = KINDS.find(({ id }) => id === address.value.query.of) ?? KINDS[0];
  return (
    <>
      <PanelHead title={t('title')} note={t('note')} />
      <PanelBody>
        <Tabs label={t('kinds')} chosen={kind.id} onChoose={(id) => setQuery({ of: id })} tabs={KINDS.map(({ id }) => ({ id, label: t(id) }))}>
          <BinList key={kind.id} kind={kind} />
        </Tabs>
      </PanelBody>
    </>
  );
};

export const panel = definePanel({ view: Bin });
